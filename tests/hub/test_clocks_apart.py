"""Machines whose clocks are wrong by minutes: what is stored has the database's time, and nothing ends too early."""

import asyncio
import itertools
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from handraise.auth import CODE_LIFE, Auth
from handraise.hub.hub import Hub
from handraise.hub.shared_clock import TOLERANCE, SharedClock
from handraise.model.actors import Person, TheHub
from handraise.model.asks import Expired
from handraise.model.projects import Options, Patience
from hub.fleet import DEADLINE, Fleet, next_ask, until, until_turns
from hub.test_many_machines import SQLITE, begin
from postgres.cluster import Cluster
from postgres.fixtures import READY

SLOW = timedelta(minutes=-17)
FAST = timedelta(minutes=9)
NEAR = timedelta(seconds=30)
"""How far a time may be from now in a test on a busy machine: much less than the clocks are wrong."""
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class WrongClock:
    """A clock that is wrong by this much, and can be set."""

    def __init__(self, ahead: timedelta) -> None:
        self.ahead = ahead

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


def now() -> datetime:
    return datetime.now(UTC)


async def test_what_two_machines_store_has_one_time_and_one_order(tmp_path: Path, database: str) -> None:
    async with Fleet(tmp_path, database) as fleet:
        laptop, server = fleet.site("laptop"), fleet.site("server")
        began = now()
        await laptop.open(clock=WrongClock(SLOW))
        await server.open(clock=WrongClock(FAST))
        for asking, answering in ((laptop, server), (server, laptop)):
            session = await begin(asking, "ask me")
            ask = await next_ask(answering.hub, session)
            await answering.hub.desk.answer(ask.id, SQLITE)
            await until_turns(answering.hub, session)
            settled = await answering.hub.desk.ask(ask.id)
            assert settled.settlement is not None
            assert settled.delivered_at is not None
            times = [began, settled.opened_at, settled.settlement.at, settled.delivered_at, now()]
            # A corrected clock is within a second, so a later step may look that much earlier.
            assert all(one - 2 * TOLERANCE < two for one, two in itertools.pairwise(times)), times
        items = await laptop.hub.desk.items()
        assert items == await server.hub.desk.items()
        assert [item.cursor for item in items] == list(range(1, len(items) + 1))
        assert all(began - NEAR < item.at < now() + NEAR for item in items)
        audit = await server.hub.desk.audit()
        assert all(began - NEAR < entry.at < now() + NEAR for entry in audit)
        machines = await laptop.hub.store.machines()
        assert [each.away_since for each in machines] == [None, None]
        assert all(began - NEAR < each.seen_at < now() + NEAR for each in machines)


async def test_deadlines_are_neither_missed_nor_early(tmp_path: Path, database: str) -> None:
    """Five minutes are over for a hub that is nine minutes fast. They must not be over for what it sees."""
    patient, hasty = (Options(sandbox="off", patience=Patience(question=seconds)) for seconds in (300, 1))
    async with Fleet(tmp_path, database) as fleet:
        laptop, server, other = (fleet.site(name) for name in ("laptop", "server", "other"))
        await laptop.open(clock=WrongClock(SLOW), options=patient)
        await server.open(clock=WrongClock(FAST))
        await other.open(clock=WrongClock(SLOW), options=hasty)
        long = await next_ask(server.hub, await begin(laptop, "ask me"))
        short = await next_ask(server.hub, await begin(other, "ask me"))
        assert long.expires_at is not None
        assert now() + timedelta(minutes=4) < long.expires_at < now() + timedelta(minutes=6)

        await expired(server.hub, short.id)
        # Its machine goes away, and the fast hub starts again: now it decides about the deadline.
        await laptop.stop()
        await server.stop()
        await server.open(clock=WrongClock(FAST))
        second = await next_ask(server.hub, await begin(other, "ask me"))
        await expired(server.hub, second.id)  # by then, every deadline that is over was found
        assert (await server.hub.desk.ask(long.id)).state == "open"


async def expired(hub: Hub, ask: str) -> None:
    async def holds() -> bool:
        return isinstance((await hub.desk.ask(ask)).settlement, Expired)

    await until(hub, holds)


async def test_a_deadline_passes_while_its_machine_with_a_slow_clock_is_away(tmp_path: Path, database: str) -> None:
    hasty = Options(sandbox="off", patience=Patience(question=3))
    async with Fleet(tmp_path, database) as fleet:
        laptop, server = fleet.site("laptop"), fleet.site("server")
        await laptop.open(clock=WrongClock(SLOW), options=hasty)
        await server.open(clock=WrongClock(FAST))
        session = await begin(laptop, "ask me")
        ask = await next_ask(server.hub, session)
        await laptop.stop()
        await expired(server.hub, ask.id)
        found = (await server.hub.desk.ask(ask.id)).settlement
        assert found is not None
        assert ask.opened_at + timedelta(seconds=3) - 2 * TOLERANCE < found.at < now() + NEAR


async def test_sign_in_holds_on_every_machine_and_ends_when_the_database_says_so(
    tmp_path: Path, own_cluster: Cluster
) -> None:
    name = own_cluster.create(READY)
    async with Fleet(tmp_path, own_cluster.url(name)) as fleet:
        laptop, server = fleet.site("laptop"), fleet.site("server")
        slow = await laptop.open(clock=WrongClock(SLOW))
        fast = await server.open(clock=WrongClock(FAST))
        there, here = (Auth(each.store, each.clock, os.urandom) for each in (slow, fast))
        for one, two in ((there, here), (here, there)):
            code = await one.make_code("ana", "admin", TheHub(), "start")
            signed_in = await two.login(code)
            assert signed_in is not None
            assert await one.admit(signed_in.secret) is not None
            assert await two.admit(signed_in.secret) is not None
            assert await two.login(code) is None
        hour = await there.make("ana", "admin", Person("ana"), "web", expires_at=now() + timedelta(hours=1))
        code = await there.make_code("ana", "admin", TheHub(), "start")
        assert await here.admit(hour.secret) is not None

        await shift(own_cluster, name, CODE_LIFE + NEAR, slow, fast)
        assert await here.login(code) is None
        assert await here.admit(hour.secret) is not None
        await shift(own_cluster, name, timedelta(hours=2), slow, fast)
        assert await here.admit(hour.secret) is None
        assert await there.admit(hour.secret) is None


async def shift(cluster: Cluster, database: str, ahead: timedelta, *hubs: Hub) -> None:
    """The time passes for the database, and the hubs hear of it with their next beat."""
    seconds = ahead.total_seconds()
    body = f"SELECT ((extract(epoch FROM clock_timestamp()) + {seconds}) * 1000000)::bigint"
    replacing = f"CREATE OR REPLACE FUNCTION handraise.clock() RETURNS bigint LANGUAGE sql VOLATILE AS $$ {body} $$"
    await asyncio.to_thread(cluster.run, replacing, database=database)
    async with asyncio.timeout(DEADLINE):
        while any(abs(hub.clock() - now() - ahead) > NEAR for hub in hubs):
            await asyncio.sleep(0.01)


async def test_a_clock_that_is_set_while_the_hub_runs_changes_nothing(tmp_path: Path, database: str) -> None:
    clock = WrongClock(timedelta())
    async with Fleet(tmp_path, database) as fleet:
        laptop = fleet.site("laptop")
        opened = await laptop.open(clock=clock)
        for ahead in (timedelta(hours=-3), timedelta(hours=5), timedelta()):
            clock.ahead = ahead
            async with asyncio.timeout(DEADLINE):
                while abs(opened.clock() - now()) > NEAR:
                    await asyncio.sleep(0.01)
        assert opened.trouble == ""


def told(*, own: Callable[[], datetime], time: datetime, since: datetime) -> SharedClock:
    clock = SharedClock(own)
    clock.learn(time, since)
    return clock


@pytest.mark.parametrize("seconds", [-1, -0.2, 0, 0.7, 1])
def test_a_small_difference_is_left_alone(seconds: float) -> None:
    assert told(own=lambda: NOON, time=NOON + timedelta(seconds=seconds), since=NOON)() == NOON


def test_a_slow_answer_is_no_difference() -> None:
    later = NOON + timedelta(minutes=3)
    for time in (NOON, NOON + timedelta(minutes=1), later):
        assert told(own=lambda: later, time=time, since=NOON).ahead == timedelta()


def test_a_difference_is_corrected_and_then_kept_steady() -> None:
    clock = told(own=lambda: NOON, time=NOON + timedelta(minutes=5), since=NOON)
    assert clock() == NOON + timedelta(minutes=5)
    clock.learn(NOON + timedelta(minutes=5, milliseconds=300), NOON)
    assert clock() == NOON + timedelta(minutes=5)
    clock.learn(NOON, NOON)
    assert clock.ahead == timedelta()
