"""Hubs on one database: each runs its own machine's sessions, and people reach all of them from any."""

import asyncio
from base64 import b64encode
from pathlib import Path

import pytest

from handraise.desk.interface import Conflict, NotFound, Refused
from handraise.model.actors import Person
from handraise.model.answers import Choice, Choices
from handraise.model.projects import Options
from hub.fleet import MachineSite, fleet_of, next_ask, until, until_phase, until_turns

SQLITE, POSTGRES = Choices((Choice(("SQLite",)),)), Choices((Choice(("Postgres",)),))


async def begin(site: MachineSite, words: str = "go") -> str:
    """A session of this machine; unless it is to wait for something, its first turn is over."""
    started = await site.hub.desk.start(words, str(site.work))
    if words == "go":
        await until_turns(site.hub, started.session.id)
    else:
        await until_phase(site.hub, started.session.id, "working")
    return started.session.id


async def with_project(site: MachineSite, *others: MachineSite) -> str:
    """A project with a directory on these machines."""
    project = await site.hub.desk.add_project(str(site.work), "app", Options())
    for other in others:
        await site.hub.desk.change_project(project.id, None, None, str(other.work), other.name)
    return project.id


async def test_an_answer_counts_wherever_it_was_given(tmp_path: Path, url: str | None) -> None:
    async with fleet_of(tmp_path, "laptop", "server", url=url) as (laptop, server):
        session = await begin(laptop, "ask me")
        ask = await next_ask(server.hub, session)
        assert ask.machine == laptop.machine
        assert (await server.hub.desk.session(session)).session.machine == laptop.machine

        await server.hub.desk.answer(ask.id, SQLITE)

        await until_turns(server.hub, session)
        (line,) = laptop.received("control_response")
        assert line["response"]["response"]["updatedInput"]["answers"] == {"Which database?": "SQLite"}
        assert not server.received("user")


async def test_of_two_hubs_that_answer_at_the_same_moment_one_wins(tmp_path: Path, url: str | None) -> None:
    async with fleet_of(tmp_path, "laptop", "server", "phone", url=url) as (laptop, server, phone):
        session = await begin(laptop, "ask me")
        ask = await next_ask(server.hub, session)

        answers = (SQLITE, POSTGRES, SQLITE, POSTGRES)
        desks = (server.hub.desk, phone.hub.desk, laptop.hub.desk, server.hub.desk)
        outcomes = await asyncio.gather(
            *(desk.answer(ask.id, answer) for desk, answer in zip(desks, answers, strict=True)), return_exceptions=True
        )

        settled = await phone.hub.desk.ask(ask.id)
        assert sum(isinstance(each, Conflict) for each in outcomes) == 2
        assert settled.state == "answered"
        await until_turns(server.hub, session)
        assert len(laptop.received("control_response")) == 1


async def test_what_is_said_elsewhere_reaches_claude_once(tmp_path: Path, url: str | None) -> None:
    async with fleet_of(tmp_path, "laptop", "server", url=url) as (laptop, server):
        session = await begin(laptop)

        say = await server.hub.desk.say(session, "and now this")

        async def received() -> bool:
            return not await server.hub.store.says(session)

        await until(server.hub, received)
        messages = [line for line in laptop.received("user") if line["uuid"] == say.id]
        assert len(messages) == 1


async def test_a_picture_that_is_sent_elsewhere_reaches_claude_and_is_seen_everywhere(
    tmp_path: Path, url: str | None
) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": b64encode(bytes(range(256)) * 400).decode()}
    content = ({"type": "text", "text": "Look."}, {"type": "image", "source": source})
    async with fleet_of(tmp_path, "laptop", "server", url=url) as (laptop, server):
        session = await begin(laptop)

        say = await server.hub.desk.say(session, content)

        async def received() -> bool:
            return not await server.hub.store.says(session)

        await until(server.hub, received)
        (line,) = [each for each in laptop.received("user") if each["uuid"] == say.id]
        assert line["message"]["content"] == list(content)
        # Nothing of it is a file of one machine: each hub has the whole message from the database.
        for site in (laptop, server):
            (stored,) = [each for each in await site.hub.store.says(session, waiting=False) if each.id == say.id]
            assert stored.content == content


async def test_a_parked_session_is_brought_back_by_what_is_said_elsewhere(tmp_path: Path, url: str | None) -> None:
    async with fleet_of(tmp_path, "laptop", "server", url=url, limit=1) as (laptop, server):
        first = await begin(laptop)
        second = await begin(laptop)
        assert (await server.hub.desk.session(first)).session.phase == "parked"

        await server.hub.desk.say(first, "come back")

        await until_phase(server.hub, second, "parked")
        await until_turns(server.hub, first, 2)


async def test_wishes_travel_and_whoever_asked_gets_the_result(tmp_path: Path, url: str | None) -> None:
    async with fleet_of(tmp_path, "laptop", "server", url=url) as (laptop, server):
        desk = server.hub.desk.seat(Person("ana"), "web")
        session = await begin(laptop, "wait")

        await desk.rename(session, "Another name")
        await desk.change_mode(session, "acceptEdits")
        await desk.interrupt(session)
        idle = await until_phase(server.hub, session, "idle")
        assert (idle.title, idle.mode) == ("Another name", "acceptEdits")
        with pytest.raises(Refused, match="idle"):
            await desk.interrupt(session)
        with pytest.raises(Refused, match="hasn't ended"):
            await desk.resume(session)

        await desk.stop(session)
        over = await until_phase(server.hub, session, "ended")
        assert over.ended is not None
        assert over.ended.by == "ana"
        assert (await desk.resume(session, "go on")).session.phase != "ended"
        await until_turns(server.hub, session, 2)
        forked = await desk.fork(session, "another way")
        assert forked.session.machine == laptop.machine
        await until_turns(server.hub, forked.session.id)

        entries = [(entry.what, entry.by.name, entry.session) for entry in await desk.audit()]
        assert ("session stopped", "ana", session) in entries
        assert ("session resumed", "ana", session) in entries
        assert ("session started", "ana", forked.session.id) in entries
        assert await desk.instructions(session) == []


async def test_a_session_starts_on_the_machine_that_was_chosen(tmp_path: Path, url: str | None) -> None:
    async with fleet_of(tmp_path, "laptop", "server", url=url) as (laptop, server):
        await with_project(laptop, server)

        started = await laptop.hub.desk.start("go", "app", machine="server")

        await until_turns(laptop.hub, started.session.id)
        session = (await laptop.hub.desk.session(started.session.id)).session
        assert (session.machine, session.directory, session.mode) == (server.machine, str(server.work), "default")
        assert len(server.received("user")) == 1
        assert not laptop.received("user")
        with pytest.raises(NotFound, match="no machine moon"):
            await laptop.hub.desk.start("go", "app", machine="moon")
        with pytest.raises(Refused, match="no directory on machine `server`"):
            await laptop.hub.desk.start("go", str(laptop.work.parent), machine="server")


async def test_any_machine_is_the_least_busy_one_that_has_the_project(tmp_path: Path, url: str | None) -> None:
    async with fleet_of(tmp_path, "laptop", "server", "third", url=url) as (laptop, server, third):
        await with_project(laptop, server)
        await begin(laptop)

        started = await third.hub.desk.start("go", "app", machine="any")

        assert started.session.machine == server.machine


async def test_a_gateway_never_starts_claude_and_sends_sessions_elsewhere(tmp_path: Path, url: str | None) -> None:
    async with fleet_of(tmp_path, "laptop", url=url) as (laptop,):
        gateway = laptop.fleet.site("gateway")
        await gateway.open(limit=0)
        await with_project(laptop)

        started = await gateway.hub.desk.start("ask me", "app")

        assert started.session.machine == laptop.machine
        ask = await next_ask(gateway.hub, started.session.id)
        await gateway.hub.desk.answer(ask.id, SQLITE)
        await until_turns(gateway.hub, started.session.id)
        with pytest.raises(Refused, match="No machine"):
            await gateway.hub.desk.start("go", str(gateway.work))
        with pytest.raises(Refused, match="runs no sessions"):
            await laptop.hub.desk.start("go", "app", machine="gateway")
        assert gateway.hub.pool.starter.versions.latest == ""
        assert not gateway.log.exists()


async def test_a_hub_touches_no_session_of_another_machine(tmp_path: Path, url: str | None) -> None:
    async with fleet_of(tmp_path, "laptop", "server", url=url) as (laptop, server):
        session = await begin(laptop, "ask me")
        ask = await next_ask(server.hub, session)
        await laptop.stop()
        await server.stop()

        await server.open()

        assert server.hub.pool.adoption.living == server.hub.pool.adoption.lost == ()
        await server.hub.pool.stop_all()
        assert (await server.hub.desk.session(session)).session.phase == "working"
        assert (await server.hub.desk.ask(ask.id)).state == "open"
        await laptop.open()
        assert laptop.hub.pool.adoption.living == (session,)


async def test_machines_are_listed_renamed_and_forgotten(tmp_path: Path, url: str | None) -> None:
    async with fleet_of(tmp_path, "laptop", "server", url=url) as (laptop, server):
        desk = laptop.hub.desk
        session = await begin(server, "ask me")
        await next_ask(laptop.hub, session)

        found = {each.machine.name: each for each in await desk.machines()}
        assert [(each.sessions, each.open_asks, each.here) for each in found.values()] == [(0, 0, True), (1, 1, False)]
        assert (await desk.rename_machine("server", "build-2")).name == "build-2"
        with pytest.raises(Refused, match="already a machine called `laptop`"):
            await desk.rename_machine("build-2", "laptop")
        with pytest.raises(Refused, match="can't be forgotten"):
            await desk.forget_machine("build-2")
        await desk.stop(session)
        await until_phase(laptop.hub, session, "ended")
        await server.stop()
        await desk.forget_machine("build-2")

        assert [each.machine.name for each in await desk.machines()] == ["laptop"]
        assert [entry.what for entry in await desk.audit() if "machine" in entry.what] == [
            "machine renamed",
            "machine forgotten",
        ]
