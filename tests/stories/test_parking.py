"""Stories of sessions that make room for each other: idle ones are parked, and come back with the next message."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.desk.interface import Refused
from handraise.hub.hub import Hub
from handraise.model.answers import Choice, Choices
from handraise.model.items import Notice, SessionEnded
from handraise.model.projects import Options
from handraise.model.sessions import Session
from handraise.session.memory import Memory
from handraise.store.changes import Advance, SaveSession
from handraise.store.sqlite.store import SqliteStore
from stories.house import DEADLINE, House, house, next_ask, seen
from stories.timeline import kill, only, pid_of, texts, until_phase, until_turn

QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def talk(turn: Conversation) -> Script:
    """One script for all sessions: each reply is to what was just said."""
    while True:
        if turn.results:
            turn = yield [say(f"Heard: {turn.result().text}")]
        elif turn.text == "Choose.":
            turn = yield [use("AskUserQuestion", questions=[QUESTION])]
        else:
            turn = yield [say(f"You said: {turn.text}")]


def conversation(home: House) -> str:
    """Everything that Claude sent to the model, in its last request and all before it."""
    return json.dumps([request.body["messages"] for request in home.model.requests("script")])


async def phase(hub: Hub, session: Session) -> str:
    return (await hub.desk.session(session.id)).session.phase


async def test_an_idle_session_makes_room_and_comes_back_when_it_is_spoken_to(tmp_path: Path) -> None:
    async with house(tmp_path, talk, limit=1) as (home, hub):
        first = (await hub.desk.start("One.", str(home.work))).session
        await until_turn(hub.desk, first)
        second = (await hub.desk.start("Two.", str(home.work))).session
        assert texts(await until_turn(hub.desk, second)) == ["You said: Two."]
        parked = await hub.desk.session(first.id)
        assert parked.session.phase == "parked"
        assert parked.session.ended is None

        await hub.desk.say(first.id, "And now?")
        contents = await until_turn(hub.desk, first, 2)
        assert texts(contents)[-1] == "You said: And now?"
        assert only(SessionEnded, contents) == []
        # Claude remembers what was said before it was parked.
        assert "One." in json.dumps(home.model.requests("script")[-1].body["messages"])
        await until_phase(hub.desk, second, "parked")
        assert not only(Notice, [item.read() for item in await hub.desk.items()])

        await is_steered_stopped_and_resumed_like_an_idle_one(hub, second, first)
        await loses_nothing_that_is_said_at_the_very_moment(home, hub, second, first)


async def is_steered_stopped_and_resumed_like_an_idle_one(hub: Hub, parked: Session, idle: Session) -> None:
    with pytest.raises(Refused, match="Nothing to interrupt"):
        await hub.desk.interrupt(parked.id)
    await hub.desk.rename(parked.id, "Renamed")
    # Only Claude knows its modes, so it is brought back: as soon as the other one has made room.
    with pytest.raises(Refused, match="queued"):
        await hub.desk.change_mode(parked.id, "plan")
    await until_phase(hub.desk, parked, "idle")
    await hub.desk.change_mode(parked.id, "plan")
    assert await phase(hub, idle) == "parked"
    await hub.desk.stop(idle.id)
    ended = (await hub.desk.session(idle.id)).session.ended
    assert ended is not None
    assert ended.how == "stopped"
    assert (await hub.desk.session(parked.id)).session.title == "Renamed"


async def loses_nothing_that_is_said_at_the_very_moment(home: House, hub: Hub, idle: Session, ended: Session) -> None:
    await hub.desk.resume(ended.id, "Again.")
    # Wherever the parking of the idle one is by now: refused, under way or done.
    for number in range(3):
        await hub.desk.say(idle.id, f"Word {number}.")
        await asyncio.sleep(0)
    assert texts(await until_turn(hub.desk, ended, 3))[-1] == "You said: Again."
    async with asyncio.timeout(DEADLINE), hub.desk.follow(0, idle.id) as follower:
        async for _ in follower:
            if not await hub.store.says(idle.id):
                break
    assert all(f"Word {number}." in conversation(home) for number in range(3))


async def test_a_queued_session_says_behind_whom_and_a_projects_own_limit_is_kept_like_the_hubs(tmp_path: Path) -> None:
    async with house(tmp_path, talk, limit=8) as (home, hub):
        await hub.desk.add_project(str(home.work), "shop", Options(parallel=2))
        asking = (await hub.desk.start("Choose.", "shop", title="Pick one")).session
        ask = await next_ask(hub.desk, asking)
        second = (await hub.desk.start("Choose.", "shop")).session
        await next_ask(hub.desk, second)

        third = (await hub.desk.start("Three.", "shop")).session
        contents = await seen(hub.desk, lambda each: isinstance(each, Notice), third.id)
        (notice,) = only(Notice, contents)
        assert notice.about == "queued"
        waits_for = f"Queued behind 2 sessions in this project: “Pick one” ({asking.id}, waiting for your answer)"
        assert waits_for in notice.text
        assert f"handraise stop {asking.id}" in notice.text
        # An answer makes room: the turn ends, and what is idle is parked.
        await hub.desk.answer(ask.id, Choices((Choice(("SQLite",)),)))
        assert texts(await until_turn(hub.desk, third)) == ["You said: Three."]
        assert await phase(hub, asking) == "parked"


async def test_a_hub_that_was_killed_while_it_parked_leaves_an_idle_session(tmp_path: Path) -> None:
    async with House(tmp_path, talk) as home:
        async with home.open_hub() as first:
            session = (await first.desk.start("One.", str(home.work))).session
            await until_turn(first.desk, session)
            pid = pid_of(first, session)
        for turn, moment in enumerate(("alive", "dead", "gone"), 2):
            await is_parking(home, session)
            if moment != "alive":
                await kill(pid)
            if moment == "gone":
                shutil.rmtree(home.tmp / "state" / "sessions" / session.id)
            async with home.open_hub() as next_one:
                await until_phase(next_one.desk, session, "parked")
                await next_one.desk.say(session.id, "Still there?")
                assert texts(await until_turn(next_one.desk, session, turn))[-1] == "You said: Still there?"
                await until_phase(next_one.desk, session, "idle")
                pid = pid_of(next_one, session)


async def is_parking(home: House, session: Session) -> None:
    """Leaves the record of a session as a hub does that is killed while it parks it."""
    async with SqliteStore(home.tmp / "state" / "hub.db") as store:
        now = await store.session(session.id)
        checkpoint = await store.checkpoint(session.id)
        assert now is not None
        assert checkpoint is not None
        assert now.phase == "idle"
        memory = Memory.load(checkpoint.memory)
        memory.phase = "parking"
        await store.apply(
            [SaveSession(replace(now, phase="parking")), Advance(replace(checkpoint, memory=memory.dump()))]
        )
