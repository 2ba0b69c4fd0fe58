"""The primary dies and a streaming replica takes its place: hubs find it, and what was confirmed is there."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from handraise.hub.hub import Hub
from handraise.model.actors import Person
from handraise.model.audit import Entry
from handraise.store.changes import Record
from handraise.store.interface import StoreAway
from hub.fleet import DEADLINE, MachineSite, fleet_of, next_ask, until_phase, until_turns
from hub.test_fencing import let_go, until_trouble
from hub.test_many_machines import SQLITE, begin
from postgres.cluster import ROLE, Cluster, Standby
from postgres.fixtures import READY

ANA = Person("ana")
BEFORE = 30
"""How many entries are confirmed before the primary is killed, at each hub."""


@pytest.fixture
def standby(own_cluster: Cluster) -> Iterator[Standby]:
    with Standby(own_cluster, synchronous=True) as replica:
        yield replica


def both(primary: Cluster, replica: Cluster, database: str) -> str:
    """As docs/machines.md names two servers."""
    return f"postgresql://{ROLE}@127.0.0.1:{primary.port},127.0.0.1:{replica.port}/{database}"


class Diarist:
    """Stores numbered entries, several at a time, and remembers those that were confirmed."""

    def __init__(self, hub: Hub, name: str) -> None:
        self._hub = hub
        self._name = name
        self.begun = 0
        self.confirmed: list[str] = []
        self.ended = asyncio.Event()

    async def write(self) -> None:
        await asyncio.gather(*(self._write() for _ in range(8)))

    async def _write(self) -> None:
        while not self.ended.is_set():
            self.begun += 1
            word = f"{self._name} {self.begun}"
            entry = Entry(self._hub.clock(), "login", ANA, "web", detail={"word": word})
            with suppress(StoreAway):
                await self._hub.store.apply([Record(entry)])
                self.confirmed.append(word)
            await asyncio.sleep(0)


async def confirmed(diarists: list[Diarist], more: int) -> None:
    wanted = [len(each.confirmed) + more for each in diarists]
    async with asyncio.timeout(DEADLINE):
        while any(len(each.confirmed) < number for each, number in zip(diarists, wanted, strict=True)):
            await asyncio.sleep(0.01)


async def test_nothing_that_was_confirmed_is_lost_when_the_standby_takes_over(
    tmp_path: Path, own_cluster: Cluster, standby: Standby
) -> None:
    url = both(own_cluster, standby, own_cluster.create(READY))
    async with fleet_of(tmp_path, "laptop", "server", url=url) as (laptop, server):
        answered = await begin(laptop, "ask me")
        first = await next_ask(server.hub, answered)
        waiting = await begin(server, "ask me")
        second = await next_ask(laptop.hub, waiting)
        diarists = [Diarist(site.hub, site.name) for site in (laptop, server)]
        writing = [asyncio.create_task(each.write()) for each in diarists]
        await confirmed(diarists, BEFORE)
        await server.hub.desk.answer(first.id, SQLITE)

        await asyncio.to_thread(own_cluster.kill)
        await asyncio.to_thread(standby.promote)
        await confirmed(diarists, BEFORE)  # they find the new primary and go on by themselves
        for each in diarists:
            each.ended.set()
        await asyncio.gather(*writing)
        await until_trouble(laptop, "")
        await until_trouble(server, "")

        await laptop.hub.desk.answer(second.id, SQLITE)
        await until_turns(server.hub, answered)
        await until_turns(laptop.hub, waiting)
        assert (await server.hub.desk.ask(first.id)).state == "answered"
        assert len(laptop.received("control_response")) == len(server.received("control_response")) == 1
        await nothing_is_lost_or_twice(laptop, diarists)
        assert await laptop.hub.desk.items() == await server.hub.desk.items()


async def nothing_is_lost_or_twice(site: MachineSite, diarists: list[Diarist]) -> None:
    entries = await site.hub.store.audit(limit=1_000_000)
    stored = [str(entry.detail["word"]) for entry in entries if "word" in entry.detail]
    assert len(stored) == len(set(stored))
    assert {word for each in diarists for word in each.confirmed} <= set(stored)


async def test_hubs_that_know_more_than_a_stale_standby_say_so_and_continue_after_a_restart(
    tmp_path: Path, own_cluster: Cluster
) -> None:
    with Standby(own_cluster, synchronous=False) as standby:
        url = both(own_cluster, standby, own_cluster.create(READY))
        async with fleet_of(tmp_path, "laptop", "server", url=url) as (laptop, server):
            session = await begin(laptop, "ask me")
            ask = await next_ask(server.hub, session)
            await caught_up(own_cluster)
            await asyncio.to_thread(standby.stop_following)
            await server.hub.desk.answer(ask.id, SQLITE)
            await until_turns(server.hub, session)
            await asyncio.to_thread(own_cluster.kill)
            await asyncio.to_thread(standby.promote)

            for site in (laptop, server):
                await let_go(site)
                await until_trouble(site, "has lost changes that were already stored")
                await site.stop()
                await site.open()
                assert site.hub.trouble == ""
            # The journal is read again. As far as the database knows, nobody gave the answer that is in there: to be
            # safe, the session is stopped, and a person can resume it.
            ended = await until_phase(server.hub, session, "ended")
            assert ended.ended is not None
            assert (ended.ended.how, ended.ended.alarm) == ("failed", True)
            await laptop.hub.desk.resume(session, "go on")
            await until_phase(server.hub, session, "idle")
            assert await laptop.hub.desk.items() == await server.hub.desk.items()


async def caught_up(primary: Cluster) -> None:
    behind = "SELECT 1 FROM pg_stat_replication WHERE replay_lsn < pg_current_wal_lsn()"
    async with asyncio.timeout(DEADLINE):
        while await asyncio.to_thread(primary.run, behind):
            await asyncio.sleep(0.01)
