"""Leases: one keeper has one at a time, and none believes it longer than the database does."""

import asyncio
from collections.abc import Callable

from handraise.desk.shared import LeaseKeeper
from handraise.hub.shared import StoreRecords
from handraise.store.memory.store import MemoryDatabase, MemoryStore

SECONDS = 30.0
DEADLINE = 20.0


class Leasing(StoreRecords):
    """Real leases, until they are cut off; `held_back` delays the next answer."""

    is_away = False
    tried = 0

    async def lease(self, name: str, seconds: float) -> bool:
        self.tried += 1
        if self.is_away:
            raise OSError("away")
        return await super().lease(name, seconds)

    async def end_lease(self, name: str) -> None:
        if self.is_away:
            raise OSError("away")
        await super().end_lease(name)


class LeaseClock:
    """The database's and the machines' clock: it stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def a_keeper(leases: StoreRecords, clock: Callable[[], float]) -> LeaseKeeper:
    return LeaseKeeper(leases, "push", clock, seconds=SECONDS, every=0.01)


async def tries(leases: Leasing, times: int) -> None:
    wanted = leases.tried + times
    async with asyncio.timeout(DEADLINE):
        while leases.tried < wanted:
            await asyncio.sleep(0)


async def test_one_of_two_has_it_and_the_other_gets_it_when_the_first_leaves() -> None:
    clock = LeaseClock()
    database = MemoryDatabase(clock)
    async with MemoryStore("m_1", database) as first, MemoryStore("m_2", database) as second:
        one, two = Leasing(first), Leasing(second)
        async with asyncio.timeout(DEADLINE), a_keeper(two, clock) as other:
            await other.held()
            async with a_keeper(one, clock) as late:
                await tries(one, 5)
                assert not late.is_held
            async with a_keeper(one, clock) as next_one:
                await other.__aexit__(None, None, None)
                assert not other.is_held
                await next_one.held()


async def test_a_holder_that_is_cut_off_stops_before_another_can_have_it() -> None:
    clock = LeaseClock()
    database = MemoryDatabase(clock)
    async with MemoryStore("m_1", database) as first, MemoryStore("m_2", database) as second:
        one, two = Leasing(first), Leasing(second)
        async with asyncio.timeout(DEADLINE), a_keeper(one, clock) as cut, a_keeper(two, clock) as other:
            await cut.held()
            one.is_away = True
            for _ in range(3 * int(SECONDS)):
                clock.now += 0.5
                await tries(two, 2)
                assert not (cut.is_held and other.is_held)
            assert not cut.is_held
            await cut.lost()
            await other.held()
            one.is_away = False
            await tries(one, 3)
            assert not cut.is_held


async def test_a_machine_that_slept_does_not_believe_its_lease() -> None:
    clock = LeaseClock()
    async with MemoryStore("m_1", MemoryDatabase(clock)) as store:
        leases = Leasing(store)
        async with a_keeper(leases, clock) as keeper:
            await keeper.held()
            leases.is_away = True
            await tries(leases, 2)
            clock.now += SECONDS
            assert not keeper.is_held
            assert keeper.seconds_left <= 0


async def test_leaving_without_the_database_raises_nothing() -> None:
    clock = LeaseClock()
    async with MemoryStore("m_1", MemoryDatabase(clock)) as store:
        leases = Leasing(store)
        async with a_keeper(leases, clock) as keeper:
            await keeper.held()
            leases.is_away = True
        assert not keeper.is_held
