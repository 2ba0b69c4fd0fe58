"""Stories of lives: hubs that go and come back, Claudes that die, sessions that wait their turn and go on."""

import asyncio
import os
import shutil
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from handraise.claude.process import Identity
from handraise.demo.pieces import Script, say, use
from handraise.demo.told import Told
from handraise.desk.interface import Refused
from handraise.hub import HubRunning, StateExposed
from handraise.model.actors import Person
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Withdrawn
from handraise.model.items import (
    AskDelivered,
    Notice,
    Said,
    SaidTaken,
    SessionChanged,
    SessionEnded,
    SessionStarted,
    Text,
)
from handraise.model.says import Say
from handraise.model.sessions import Place, Session
from handraise.session.memory import Memory
from handraise.store.changes import Advance, QueueSay, SaveSession
from handraise.store.sqlite.store import SqliteStore
from stories.house import House, house, next_ask, seen
from stories.timeline import claude_of, kill, only, pid_of, texts, times, until_turn

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SQLITE = Choices((Choice(("SQLite",)),))
QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def choose(told: Told) -> Script:
    told = yield [use("AskUserQuestion", questions=[QUESTION])]
    told = yield [say(f"Heard: {told.result().text}")]
    while True:
        told = yield [say(f"You said: {told.text}")]


def small_talk(told: Told) -> Script:
    while True:
        told = yield [say(f"You said: {told.text}")]


def never_started(home: House) -> Session:
    uuid = "0f3c5a5e-1c1f-4a52-8d8e-3f8f6a0a7b11"
    return Session("s_new", None, str(home.work), uuid, "A session", NOON, NOON)


async def test_a_question_outlives_the_hub_that_showed_it(tmp_path: Path) -> None:
    async with House(tmp_path, choose) as home:
        async with home.open_hub() as first:
            session = (await first.desk.start("Choose.", str(home.work))).session
            question = await next_ask(first.desk, session)

        async with home.open_hub() as second:
            assert second.crew.adoption.living == (session.id,)
            assert second.crew.adoption.lost == ()
            assert [ask.id for ask in await second.desk.asks()] == [question.id]
            await second.desk.answer(question.id, SQLITE, question.digest)

            told = await until_turn(second.desk, session)
            assert '"Which database?"="SQLite"' in texts(told)[-1]
            assert len(only(AskDelivered, told)) == 1
            assert len(only(SessionStarted, told)) == 1
        assert home.model.errors == []


async def test_a_claude_that_died_while_nobody_looked_is_lost_and_resumed_in_one_step(tmp_path: Path) -> None:
    async with House(tmp_path, choose) as home:
        async with home.open_hub() as first:
            session = (await first.desk.start("Choose.", str(home.work))).session
            question = await next_ask(first.desk, session)
            pid = pid_of(first, session)
        await kill(pid)

        async with home.open_hub() as second:
            assert second.crew.adoption.living == ()
            assert second.crew.adoption.lost == (session.id,)
            await seen(second.desk, times(1, SessionEnded), session.id)
            lost = (await second.desk.session(session.id)).session
            assert lost.ended is not None
            assert lost.ended.how == "lost"
            withdrawn = (await second.desk.ask(question.id)).settlement
            assert isinstance(withdrawn, Withdrawn)
            assert lost.ended.reason in withdrawn.reason

            await second.desk.resume(session.id, "Go on.")
            told = await until_turn(second.desk, session)
            assert [each.run for each in only(SessionStarted, told)] == [1, 2]
            assert "Go on." in [each.text for each in only(Said, told)]


async def transcribed(home: House, session: Session) -> None:
    """Until Claude has its question in its transcript: killed before that, there is nothing to resume."""
    async with asyncio.timeout(60):
        while not any(
            "AskUserQuestion" in each.read_text()
            for each in (home.tmp / "home" / ".claude" / "projects").glob(f"*/{session.claude_id}.jsonl")
        ):
            await asyncio.sleep(0.02)


async def test_an_answer_that_claude_did_not_live_to_take_is_passed_on_when_it_is_resumed(tmp_path: Path) -> None:
    async with House(tmp_path, choose) as home:
        async with home.open_hub() as first:
            session = (await first.desk.start("Choose.", str(home.work))).session
            question = await next_ask(first.desk, session)
            pid = pid_of(first, session)
            await transcribed(home, session)
            os.kill(claude_of(first, session), signal.SIGSTOP)
            await first.desk.answer(question.id, SQLITE)
        await kill(pid)

        async with home.open_hub() as second:
            await seen(second.desk, times(1, SessionEnded), session.id)
            assert (await second.desk.ask(question.id)).state == "answered"
            await second.desk.resume(session.id)

            told = await until_turn(second.desk, session)
            (passed_on,) = [each for each in only(Said, told) if "Which database? — SQLite" in each.text]
            assert passed_on.say in [each.say for each in only(SaidTaken, told)]


async def test_two_people_who_resume_at_once_resume_once(tmp_path: Path) -> None:
    async with house(tmp_path, small_talk) as (home, hub):
        session = (await hub.desk.start("Hello.", str(home.work))).session
        await until_turn(hub.desk, session)
        await hub.desk.stop(session.id)
        await seen(hub.desk, times(1, SessionEnded), session.id)

        ben = hub.desk.seat(Person("ben"), "telegram")
        outcomes = await asyncio.gather(
            hub.desk.resume(session.id, "Back."), ben.resume(session.id, "Back too."), return_exceptions=True
        )

        refused = [each for each in outcomes if isinstance(each, BaseException)]
        assert [type(each) for each in refused] == [Refused]
        told = await until_turn(hub.desk, session, 2)
        assert [each.run for each in only(SessionStarted, told)] == [1, 2]
        assert len([each for each in only(Said, told) if each.text.startswith("Back")]) == 1


async def test_who_is_resumed_at_once_is_told_of_its_answers(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [say("Ready.")]
        yield from choose(told)

    async with house(tmp_path, script) as (home, hub):
        session = (await hub.desk.start("Hello.", str(home.work))).session
        await until_turn(hub.desk, session)
        await hub.desk.stop(session.id)
        await seen(hub.desk, times(1, SessionEnded), session.id)

        await hub.desk.resume(session.id, "Choose.")
        question = await next_ask(hub.desk, session)
        await hub.desk.answer(question.id, SQLITE)

        assert "SQLite" in texts(await until_turn(hub.desk, session, 2))[-1]


async def test_sessions_beyond_the_limit_wait_in_a_queue_that_can_be_seen(tmp_path: Path) -> None:  # lesson 24
    def busy_at_first(told: Told) -> Script:
        while True:
            asks = told.text == "One."
            told = yield [use("AskUserQuestion", questions=[QUESTION]) if asks else say(f"You said: {told.text}")]

    async with house(tmp_path, busy_at_first, limit=1) as (home, hub):
        first = (await hub.desk.start("One.", str(home.work))).session
        second = (await hub.desk.start("Two.", str(home.work))).session
        third = (await hub.desk.start("Three.", str(home.work))).session
        assert [first.phase, second.phase, third.phase] == ["starting", "queued", "queued"]
        waiting = await seen(hub.desk, times(1, SessionChanged), third.id)
        assert only(SessionChanged, waiting)[0].phase == "queued"

        await hub.desk.stop(second.id)
        stopped = (await hub.desk.session(second.id)).session
        assert stopped.ended is not None
        assert stopped.ended.how == "stopped"
        await next_ask(hub.desk, first)
        assert (await hub.desk.session(third.id)).session.phase == "queued"
        await hub.desk.stop(first.id)

        assert texts(await until_turn(hub.desk, third)) == ["You said: Three."]
        assert (await hub.desk.session(second.id)).session.run == 0
        # Whoever waits when a hub is told to stop everything is not started by that.
        await hub.desk.resume(first.id, "One.")
        await next_ask(hub.desk, first)
        assert (await hub.desk.start("Four.", str(home.work))).session.phase == "queued"
        await hub.crew.stop_all()
        assert [each.session.phase for each in await hub.desk.sessions()].count("queued") == 1


async def test_a_fork_knows_what_was_said_and_leaves_the_first_alone(tmp_path: Path) -> None:
    async with house(tmp_path, small_talk) as (home, hub):
        await hub.store.apply([SaveSession(never_started(home))])
        with pytest.raises(Refused, match="taken up anything"):
            await hub.desk.fork("s_new", "And now?")
        session = (await hub.desk.start("My name is Odeon.", str(home.work))).session
        await until_turn(hub.desk, session)

        fork = (await hub.desk.fork(session.id, "What is my name?")).session

        assert fork.forked_from == session.id
        assert texts(await until_turn(hub.desk, fork)) == ["You said: What is my name?"]
        last = [each for each in home.model.requests("script") if "What is my name?" in str(each.messages)][-1]
        assert "My name is Odeon." in str(last.messages)
        assert (await hub.desk.session(session.id)).session.run == 1
        assert fork.claude_id != session.claude_id


async def test_a_session_that_the_last_hub_did_not_get_to_start_is_started(tmp_path: Path) -> None:
    async with House(tmp_path, small_talk) as home:
        async with home.open_hub() as first:
            session = replace(never_started(home), phase="starting", run=1)
            say_ = Say("7c9b2a58-3b43-4c6e-9d0e-0a2f1b6a7d11", session.id, "Hello.", Person("ana"), "web", NOON)
            place = Place(session.id, 1, 0, Memory().dump())
            await first.store.apply([SaveSession(session), Advance(place), QueueSay(say_)])

        async with home.open_hub() as second:
            assert second.crew.adoption.living == ()
            assert second.crew.adoption.lost == ()
            assert texts(await until_turn(second.desk, session)) == ["You said: Hello."]
            assert (await second.desk.session(session.id)).session.run == 2


async def test_a_session_that_was_being_stopped_is_stopped_by_the_next_hub(tmp_path: Path) -> None:
    async with House(tmp_path, choose) as home:
        async with home.open_hub() as first:
            session = (await first.desk.start("Choose.", str(home.work))).session
            await next_ask(first.desk, session)
        async with SqliteStore(home.tmp / "state" / "hub.db") as store:
            kept, place = await store.session(session.id), await store.place(session.id)
            assert kept is not None
            assert place is not None
            memory = Memory.load(place.memory)
            memory.phase, memory.stop_reason = "stopping", "ana stopped it"
            stopping = replace(place, memory=memory.dump())
            await store.apply([SaveSession(replace(kept, phase="stopping")), Advance(stopping)])

        async with home.open_hub() as second:
            told = await seen(second.desk, times(1, SessionEnded), session.id)
            assert [(each.how, each.reason) for each in only(SessionEnded, told)] == [("stopped", "ana stopped it")]
            assert await second.desk.asks(session=session.id) == []


async def test_a_session_of_which_nothing_is_left_is_lost_and_not_started_again(tmp_path: Path) -> None:  # lesson 20
    async with House(tmp_path, choose) as home:
        async with home.open_hub() as first:
            session = (await first.desk.start("Choose.", str(home.work))).session
            question = await next_ask(first.desk, session)
            pid = pid_of(first, session)
        await kill(pid)
        shutil.rmtree(home.tmp / "state" / "sessions" / session.id)

        async with home.open_hub() as second:
            assert second.crew.adoption.lost == (session.id,)
            lost = (await second.desk.session(session.id)).session
            assert lost.ended is not None
            assert lost.ended.how == "lost"
            assert (await second.desk.ask(question.id)).state == "withdrawn"


async def test_one_hub_at_a_time_has_a_state_folder(tmp_path: Path) -> None:  # lesson 19
    async with house(tmp_path, small_talk) as (home, _hub):
        with pytest.raises(HubRunning, match=str(os.getpid())):
            async with home.open_hub():
                pass


async def test_a_state_folder_that_others_can_look_into_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o755)
    (tmp_path / "state").chmod(0o755)

    home = House(tmp_path, small_talk)
    with pytest.raises(StateExposed, match="chmod 700"):
        async with home.open_hub():
            pass


@pytest.mark.parametrize("damage", ["deleted", "cut short", "folder"])
async def test_a_claude_whose_journal_is_gone_is_ended_and_can_be_resumed(tmp_path: Path, damage: str) -> None:
    async with house(tmp_path, choose) as (home, opened):
        session = (await opened.desk.start("Choose.", str(home.work))).session
        question = await next_ask(opened.desk, session)
        claude = Identity.of(pid_of(opened, session))
        assert claude is not None
        folder = tmp_path / "state" / "sessions" / session.id / "1"
        if damage == "deleted":
            (folder / "out.ndjson").unlink()
        elif damage == "cut short":
            os.truncate(folder / "out.ndjson", 0)
        else:
            shutil.rmtree(folder)

        told = await seen(opened.desk, lambda content: isinstance(content, SessionEnded), session.id)
        ended = only(SessionEnded, told)[0]
        assert ended.how == "failed"
        assert "journal" in ended.reason
        assert not claude.lives()
        left = await opened.desk.ask(question.id)
        assert left.state == "withdrawn"

        await opened.desk.resume(session.id, "Go on.")
        await seen(opened.desk, times(2, SessionStarted), session.id)
        await seen(opened.desk, times(1, Text), session.id)


async def test_a_session_that_the_hub_lost_track_of_can_still_be_stopped(tmp_path: Path) -> None:
    async with house(tmp_path, choose) as (home, opened):
        session = (await opened.desk.start("Choose.", str(home.work))).session
        question = await next_ask(opened.desk, session)
        claude = Identity.of(pid_of(opened, session))
        assert claude is not None
        # A place far ahead contradicts all that the hub has yet to keep: a fault, as a defect of ours would be.
        place = await opened.store.place(session.id)
        assert place is not None
        await opened.store.apply([Advance(replace(place, offset=place.offset + 10**9))])
        await opened.desk.answer(question.id, SQLITE, question.digest)
        await seen(opened.desk, lambda content: isinstance(content, Notice) and content.about == "fault", session.id)

        await opened.desk.stop(session.id)

        assert not claude.lives()
        stopped = await opened.desk.session(session.id)
        assert stopped.session.ended is not None
        assert stopped.session.ended.how == "stopped"


async def test_a_long_line_that_is_cut_off_starts_claude_again_by_itself(tmp_path: Path) -> None:
    """The process that writes it is killed: Claude would wait for the rest, and end on whatever came next."""
    async with house(tmp_path, small_talk) as (home, opened):
        session = (await opened.desk.start("one", str(home.work))).session
        await until_turn(opened.desk, session)
        claude = claude_of(opened, session)
        os.kill(claude, signal.SIGSTOP)
        await opened.desk.say(session.id, "x" * 3_000_000)
        fifo = tmp_path / "state" / "sessions" / session.id / "1" / "in"
        async with asyncio.timeout(60):
            while not (fifo.with_name("spill.begun").exists() and (writers := _who_writes(fifo))):
                await asyncio.sleep(0.01)
        for each in writers:
            os.kill(each, signal.SIGKILL)
        os.kill(claude, signal.SIGCONT)
        await opened.desk.say(session.id, "two")

        told = await seen(opened.desk, lambda content: isinstance(content, Text) and "two" in content.text, session.id)
        assert len(only(SessionStarted, told)) == 2
        assert [len(said.text) for said in only(Said, told)] == [3, 3_000_000, 3]
        async with asyncio.timeout(60):
            while await opened.store.says(session.id):
                await asyncio.sleep(0.05)


def _who_writes(fifo: Path) -> list[int]:
    """The processes that have this FIFO for their stdout, other than Claude, which has it for its stdin."""
    found = []
    for each in Path("/proc").iterdir():
        try:
            if each.name.isdigit() and os.readlink(each / "fd" / "1") == str(fifo):
                found.append(int(each.name))
        except OSError:
            continue
    return found
