"""Two hubs with one identity: the older one lets go and says why. And a database that goes away: everything waits."""

import asyncio
import json
import os
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from handraise.desk.interface import Refused
from handraise.hub.lease import MachineRunning
from handraise.hub.machine_file import MachineFile
from handraise.model.actors import Person
from handraise.model.asks import Answered
from handraise.model.items import MachineChanged
from handraise.model.machines import BEAT
from handraise.session import replies
from handraise.session.memory import Memory
from handraise.store.changes import Change
from handraise.store.interface import StoreAway, StoreFenced
from handraise.wire.connection import Connection
from hub.fleet import DEADLINE, Fleet, MachineSite, fleet_of, next_ask, until, until_phase, until_turns
from hub.test_many_machines import SQLITE, begin, with_project
from postgres.cluster import Cluster
from postgres.fixtures import READY


async def clone(site: MachineSite) -> MachineSite:
    """A second machine with the same identity: somebody copied the state folder."""
    twin = site.fleet.site("twin")
    twin.state.mkdir(parents=True, mode=0o700)
    shutil.copy(site.state / "machine.json", twin.state)
    return twin


async def let_go(site: MachineSite) -> None:
    async with asyncio.timeout(DEADLINE):
        while not site.hub.trouble:
            await asyncio.sleep(0.01)


async def test_a_hub_that_lost_its_machine_lets_its_sessions_go_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        session = await begin(laptop, "ask me")
        ask = await next_ask(server.hub, session)
        claude = laptop.hub.pool.runner(session)
        assert claude is not None
        store = (await clone(laptop)).config().store
        assert store is not None

        async with store(laptop.machine) as other:
            await other.claim(laptop.hub.machine)
            await let_go(laptop)

            assert "Another hub has taken over this machine" in laptop.hub.trouble
            assert laptop.hub.pool.runner(session) is None
            assert claude.identity.lives()
            assert laptop.hub.pool.has_raised(claude.identity.pid)
            await server.hub.desk.answer(ask.id, SQLITE)
            with pytest.raises(StoreFenced):
                await laptop.hub.desk.say(session, "hello")
            with pytest.raises(StoreFenced):
                await laptop.hub.desk.stop(session)
            assert (await laptop.hub.desk.ask(ask.id)).state == "answered"  # it still shows everything
            assert laptop.received("control_response") == []
            again = [item.read() for item in await server.hub.desk.items()]
            claims = [each for each in again if isinstance(each, MachineChanged)]
            assert [each.machine["id"] for each in claims] == [laptop.machine, server.machine, laptop.machine]
        await laptop.stop()
        await laptop.open()
        await until_turns(server.hub, session)
        assert len(laptop.received("control_response")) == 1


@pytest.mark.parametrize("is_taken_over", [True, False])
async def test_a_hub_that_was_replaced_without_noticing_kills_nothing(tmp_path: Path, is_taken_over: bool) -> None:
    """To it, whatever its successor allowed looks like a bypass."""
    async with fleet_of(tmp_path, "laptop", beat=3600) as (laptop,):
        session = await begin(laptop, "ask me")
        ask = await next_ask(laptop.hub, session)
        runner = laptop.hub.pool.runner(session)
        assert runner is not None
        noticing = asyncio.Event()

        async def unnoticed() -> None:
            if not noticing.is_set():  # the lease's own look comes first, and takes long
                noticing.set()
                await asyncio.Event().wait()

        async def slowly(_: Sequence[Change]) -> None:
            if runner.ending is not None:
                await asyncio.wait([runner.ending])

        store = (await clone(laptop)).config().store
        assert store is not None
        async with store(laptop.machine) as other:
            laptop.store.before = slowly
            if is_taken_over:
                laptop.store.before_beat = unnoticed
                await other.claim(laptop.hub.machine)
                await noticing.wait()
                assert not laptop.hub.trouble
            allowed = {"behavior": "allow", "updatedInput": {}}
            answer = {"subtype": "success", "request_id": f"r_{runner.identity.pid}_1", "response": allowed}
            with (laptop.state / "sessions" / session / "1" / "in").open("w") as stdin:
                stdin.write(json.dumps({"type": "control_response", "response": answer}) + "\n")

            if is_taken_over:
                await let_go(laptop)
                assert runner.identity.lives()
                stored = await other.ask(ask.id)
                assert stored is not None
                assert stored.state == "open"
            else:
                ended = (await until_phase(laptop.hub, session, "ended")).ended
                assert ended is not None
                assert ended.alarm


@pytest.mark.parametrize("is_decided", [True, False])
async def test_what_the_last_hub_wrote_is_ours_if_someone_decided_it(tmp_path: Path, is_decided: bool) -> None:
    """It heard of a decision, and wrote it, before it knew that it was replaced; the new hub hears of it later."""
    async with fleet_of(tmp_path, "laptop", "server", beat=3600) as (laptop, server):
        session = await begin(laptop, "ask me")
        ask = await next_ask(server.hub, session)
        runner = laptop.hub.pool.runner(session)
        assert runner is not None
        checkpoint = await laptop.store.checkpoint(session)
        assert checkpoint is not None
        memory = Memory.load(checkpoint.memory)
        wire = Connection(0, [ask.origin.reference], key=memory.key)
        decided = replace(ask, settlement=Answered(SQLITE, Person("ann"), "web", datetime.now(UTC)))
        line = replies.reply(wire, decided)
        assert line is not None
        laptop.store.is_deaf = True
        if is_decided:
            await server.hub.desk.answer(ask.id, SQLITE)

        with (laptop.state / "sessions" / session / "1" / "in").open("wb") as stdin:
            stdin.write(line)

        if is_decided:
            await until_turns(server.hub, session)
            assert (await server.hub.desk.ask(ask.id)).delivered_at is not None
            assert runner.identity.lives()
        else:
            ended = (await until_phase(server.hub, session, "ended")).ended
            assert ended is not None
            assert ended.alarm


async def test_a_runner_that_notices_first_lets_all_sessions_go(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", beat=3600) as (laptop,):
        first, second = await begin(laptop, "wait"), await begin(laptop, "wait")

        async def fenced(_: Sequence[Change]) -> None:
            raise StoreFenced("Another hub has taken over.")

        laptop.store.before = fenced
        with pytest.raises(Refused, match="Another hub has taken over"):
            await laptop.hub.desk.change_mode(first, "plan")
        await let_go(laptop)

        assert laptop.hub.pool.runner(first) is laptop.hub.pool.runner(second) is None
        laptop.store.before = None


async def test_a_hub_that_was_thawed_after_its_lease_ended_goes_on_if_nobody_took_over(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        session = await begin(laptop, "ask me")
        ask = await next_ask(server.hub, session)
        await server.store.apply([])
        await laptop.store.release(laptop.hub.machine.started_at)  # as others see it

        async def back() -> bool:
            return all(each.away_since is None for each in await server.store.machines())

        await until(server.hub, back)
        await server.hub.desk.answer(ask.id, SQLITE)
        await until_turns(server.hub, session)
        assert laptop.hub.trouble == ""


async def test_nothing_is_lost_while_the_database_is_away(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        await with_project(laptop)
        session = await begin(laptop, "ask me")
        ask = await next_ask(server.hub, session)
        waiting = await begin(laptop)
        laptop.store.is_away = True
        with pytest.raises(StoreAway):
            await laptop.hub.desk.answer(ask.id, SQLITE)
        await until_trouble(laptop, "can't be reached")

        # Meanwhile, at another hub that can reach it:
        await server.hub.desk.answer(ask.id, SQLITE)
        await server.hub.desk.say(waiting, "go on")
        started = await server.hub.desk.start("go", "app", machine="laptop")
        stopping = asyncio.create_task(server.hub.desk.rename(session, "Renamed"))
        laptop.store.is_away = False

        await until_turns(server.hub, session)
        await until_turns(server.hub, waiting, 2)
        await until_turns(server.hub, started.session.id)
        await stopping
        await until_trouble(laptop, "")
        assert len(laptop.received("control_response")) == 1
        messages = [line["uuid"] for line in laptop.received("user")]
        assert len(messages) == len(set(messages)) == 4


async def test_a_session_that_was_queued_as_the_database_went_away_starts_when_it_is_back(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop") as (laptop,):
        batches = 0

        async def away_after_the_first(_: Sequence[Change]) -> None:
            nonlocal batches
            batches += 1
            if batches in (2, 3):
                raise StoreAway("The database can't be reached.")

        laptop.store.before = away_after_the_first
        await laptop.hub.pool.start_queued()
        session = await start_stored(laptop)

        await until_turns(laptop.hub, session)
        assert len(laptop.received("user")) == 1


async def start_stored(site: MachineSite) -> str:
    """Starts a session whose first batch is stored; what follows fails for a moment."""
    try:
        return (await site.hub.desk.start("go", str(site.work))).session.id
    except StoreAway:  # the audit entry failed; the session itself is stored
        (found,) = await site.hub.desk.sessions()
        return found.session.id


async def until_trouble(site: MachineSite, text: str) -> None:
    async with asyncio.timeout(DEADLINE):
        while (text not in site.hub.trouble) if text else site.hub.trouble:
            await asyncio.sleep(0.01)


async def test_a_copy_of_a_state_folder_is_refused_while_its_first_hub_lives(tmp_path: Path, url: str | None) -> None:
    async with fleet_of(tmp_path, "laptop", url=url) as (laptop,):
        session = await begin(laptop, "ask me")
        ask = await next_ask(laptop.hub, session)
        twin = await clone(laptop)
        for _ in range(2):  # a second try doesn't make it less of a copy
            with pytest.raises(MachineRunning, match="handraise machines new-identity"):
                await twin.open(beat=BEAT)

        assert laptop.hub.trouble == ""
        assert laptop.hub.pool.runner(session) is not None
        await laptop.hub.desk.answer(ask.id, SQLITE)
        await until_turns(laptop.hub, session)
        MachineFile(twin.state, os.urandom).renew(os.urandom)
        await twin.open()
        assert {each.machine.id for each in await laptop.hub.desk.machines()} == {laptop.machine, twin.machine}
        assert laptop.machine != twin.machine
        assert laptop.hub.trouble == ""


async def test_a_folder_that_was_moved_after_its_hub_was_killed_runs_the_machine(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        await laptop.kill()
        moved = await clone(laptop)
        await moved.open()

        started = await moved.hub.desk.start("go", str(moved.work))
        await until_turns(server.hub, started.session.id)
        with pytest.raises(MachineRunning):  # the old folder is the copy now
            await laptop.open(beat=BEAT)
        assert moved.hub.trouble == ""
        await moved.stop()
        await laptop.open()
        assert laptop.hub.trouble == ""


async def test_the_newest_hub_on_a_copied_state_folder_is_the_one_that_counts(tmp_path: Path, url: str | None) -> None:
    """The first was silent, as one that sleeps or can't reach the database, and wakes up to find another hub."""
    async with Fleet(tmp_path, url) as fleet:
        laptop, server = fleet.site("laptop"), fleet.site("server")
        await laptop.open(beat=3600)
        await server.open()
        await begin(laptop)
        twin = await clone(laptop)
        await twin.open()
        await let_go(laptop)

        assert twin.hub.trouble == ""
        assert twin.machine == laptop.machine
        started = await twin.hub.desk.start("go", str(twin.work))
        await until_turns(server.hub, started.session.id)
        await until_phase(server.hub, started.session.id, "idle")
        assert laptop.hub.trouble  # it never takes the machine back by itself


async def test_a_server_that_loses_power_interrupts_nobody_for_good(tmp_path: Path, own_cluster: Cluster) -> None:
    url = own_cluster.url(own_cluster.create(READY))
    async with fleet_of(tmp_path, "laptop", "server", url=url) as (laptop, server):
        session = await begin(laptop, "ask me")
        ask = await next_ask(server.hub, session)
        idle = await begin(laptop)

        await asyncio.to_thread(own_cluster.kill)
        for site in (laptop, server):
            await until_trouble(site, "Can't reach the database")
        with pytest.raises(StoreAway):
            await server.hub.desk.answer(ask.id, SQLITE)
        await asyncio.to_thread(own_cluster.start)
        await until_trouble(laptop, "")
        await until_trouble(server, "")

        await server.hub.desk.answer(ask.id, SQLITE)
        await server.hub.desk.say(idle, "go on")
        await until_turns(server.hub, session)
        await until_turns(server.hub, idle, 2)
        assert len(laptop.received("control_response")) == 1
        assert laptop.hub.pool.runner(session) is not None
