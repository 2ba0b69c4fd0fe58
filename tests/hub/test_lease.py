"""A machine on a database of its own: known by name, and nothing is written while nothing happens."""

from pathlib import Path

import pytest

from desk.hubs import quiet_hub
from handraise.hub.lease import Lease
from handraise.hub.shared_clock import SharedClock
from handraise.model.machines import Machine
from handraise.store.interface import StoreFenced
from handraise.store.memory.store import MemoryDatabase, MemoryStore
from inbox.waiting_room import NOON


async def test_a_hub_with_its_own_database_publishes_nothing_about_its_machine(tmp_path: Path) -> None:
    async with quiet_hub(tmp_path, machine_name="laptop") as opened:
        assert await opened.desk.newest() == 0
        (seen,) = await opened.desk.machines()
        assert (seen.machine.name, seen.machine.away_since, seen.here) == ("laptop", None, True)
        await opened.desk.rename_machine("laptop", "desk")
        first = opened.machine
    async with quiet_hub(tmp_path, machine_name="laptop") as opened:
        assert (opened.machine.id, opened.machine.name, opened.machine.epoch) == (first.id, "desk", first.epoch + 1)
        assert opened.trouble == ""


async def test_the_lease_is_released_at_the_end_and_a_stranger_is_not_told_that_we_left() -> None:
    database = MemoryDatabase()
    fenced: list[StoreFenced] = []

    def lease(store: MemoryStore) -> Lease:
        return Lease(
            store,
            Machine("m_1", "laptop", "0.1.0", 8, NOON, NOON),
            SharedClock(lambda: NOON),
            fenced.append,
            every=3600,
        )

    async with MemoryStore("m_1", database) as old, MemoryStore("m_1", database) as new, lease(old):
        async with lease(new):
            pass
        assert (await new.machines())[0].away_since == NOON
        async with lease(new):
            with pytest.raises(StoreFenced):
                await old.beat(NOON)
        async with lease(new):
            await old.release(NOON)  # it is not ours any more
            assert (await new.machines())[0].away_since is None
