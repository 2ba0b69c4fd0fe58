"""Stories of lifetimes: hubs that go and come back, Claudes that die, sessions that queue and continue."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from handraise.claude.process import Identity
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.desk.interface import Refused
from handraise.hub.hub import Hub, HubRunning, StateExposed
from handraise.model.actors import Person
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Ask, Withdrawn
from handraise.model.items import (
    AskDelivered,
    Content,
    Notice,
    Said,
    SaidTaken,
    SessionChanged,
    SessionEnded,
    SessionStarted,
    Text,
    TurnEnded,
)
from handraise.model.sessions import Checkpoint, Ended, Say, Session
from handraise.session.memory import Memory
from handraise.store.changes import Advance, QueueSay, SaveSession
from handraise.store.sqlite.store import SqliteStore
from stories.house import DEADLINE, House, house, next_ask, seen
from stories.timeline import claude_of, kill, only, pid_of, texts, times, until_phase, until_turn

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SQLITE = Choices((Choice(("SQLite",)),))
QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def choose(conversation: Conversation) -> Script:
    while True:
        if conversation.text.endswith("Choose."):
            conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
        else:
            conversation = yield [
                say(
                    f"Heard: {conversation.result().text}" if conversation.results else f"You said: {conversation.text}"
                )
            ]


def small_talk(conversation: Conversation) -> Script:
    while True:
        conversation = yield [say(f"You said: {conversation.text}")]


def never_started(home: House) -> Session:
    uuid = "0f3c5a5e-1c1f-4a52-8d8e-3f8f6a0a7b11"
    return Session("s_new", None, str(home.work), uuid, "A session", NOON, NOON)


class Life:
    """One session for many stories, of many hubs and processes: each takes it up as the last one left it."""

    def __init__(self, home: House) -> None:
        self.home = home
        self._session: Session | None = None
        self._after = 0

    @property
    def session(self) -> Session:
        assert self._session is not None
        return self._session

    async def say(self, hub: Hub, words: str) -> Session:
        """Sends it to the session in its current state; returns it with its process."""
        self._after = await hub.desk.newest()
        now = (await hub.desk.session(self._session.id)).session if self._session else None
        if now and now.phase == "idle":
            await hub.desk.say(now.id, words)
        elif now and now.phase == "ended":
            await hub.desk.resume(now.id, words)
        else:
            self._session = (await hub.desk.start(words, str(self.home.work))).session
        await seen(hub.desk, lambda content: isinstance(content, SaidTaken), self.session.id, self._after)
        self._session = (await hub.desk.session(self.session.id)).session
        return self._session

    async def ask(self, hub: Hub) -> Ask:
        """Claude asks, and waits."""
        return await next_ask(hub.desk, await self.say(hub, "Choose."))

    async def seen(self, hub: Hub, fits: Callable[[Content], bool]) -> list[Content]:
        """What came since something was said, up to what fits."""
        return await seen(hub.desk, fits, self.session.id, self._after)

    async def until_turn(self, hub: Hub) -> list[Content]:
        """Up to the end of the turn, when Claude is idle."""
        contents = await self.seen(hub, times(1, TurnEnded))
        await until_phase(hub.desk, self.session, "idle")
        return contents

    def next_runs(self, contents: list[Content]) -> list[int]:
        """The processes after the one that heard what was said, counted from it."""
        return [each.run - self.session.run for each in only(SessionStarted, contents) if each.run > self.session.run]


@pytest.fixture(scope="module")
async def life(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Life]:
    async with House(tmp_path_factory.mktemp("house"), choose) as home:
        yield Life(home)


async def test_a_question_outlives_the_hub_that_showed_it(life: Life) -> None:
    async with life.home.open_hub() as first:
        question = await life.ask(first)

    async with life.home.open_hub() as second:
        assert second.pool.adoption.living == (life.session.id,)
        assert second.pool.adoption.lost == ()
        assert [ask.id for ask in await second.desk.asks()] == [question.id]
        await second.desk.answer(question.id, SQLITE, question.digest)

        contents = await life.until_turn(second)
        assert '"Which database?"="SQLite"' in texts(contents)[-1]
        assert len(only(AskDelivered, contents)) == 1
        assert life.next_runs(contents) == []
    assert life.home.model.errors == []


async def test_a_claude_that_died_while_nobody_looked_is_lost_and_resumed_in_one_step(life: Life) -> None:
    async with life.home.open_hub() as first:
        question = await life.ask(first)
        pid = pid_of(first, life.session)
    await kill(pid)

    async with life.home.open_hub() as second:
        assert second.pool.adoption.living == ()
        assert second.pool.adoption.lost == (life.session.id,)
        await life.seen(second, times(1, SessionEnded))
        lost = (await second.desk.session(life.session.id)).session
        assert lost.ended is not None
        assert lost.ended.how == "lost"
        withdrawn = (await second.desk.ask(question.id)).settlement
        assert isinstance(withdrawn, Withdrawn)
        assert lost.ended.reason in withdrawn.reason

        await second.desk.resume(life.session.id, "Go on.")
        contents = await life.until_turn(second)
        assert life.next_runs(contents) == [1]
        assert "Go on." in [each.text for each in only(Said, contents)]


async def transcribed(home: House, question: Ask) -> None:
    """Until Claude has its question in its transcript: killed before that, there is nothing to resume."""
    async with asyncio.timeout(DEADLINE):
        while not any(
            str(question.origin.tool_use) in each.read_text()
            for each in (home.tmp / "home" / ".claude" / "projects").glob("*/*.jsonl")
        ):
            await asyncio.sleep(0.05)


async def test_an_answer_that_claude_did_not_live_to_take_is_passed_on_when_it_is_resumed(life: Life) -> None:
    async with life.home.open_hub() as first:
        question = await life.ask(first)
        pid = pid_of(first, life.session)
        await transcribed(life.home, question)
        os.kill(claude_of(first, life.session), signal.SIGSTOP)
        await first.desk.answer(question.id, SQLITE)
    await kill(pid)

    async with life.home.open_hub() as second:
        await life.seen(second, times(1, SessionEnded))
        assert (await second.desk.ask(question.id)).state == "answered"
        await second.desk.resume(life.session.id)

        contents = await life.until_turn(second)
        (passed_on,) = [each for each in only(Said, contents) if "Which database? — SQLite" in each.text]
        assert passed_on.say in [each.say for each in only(SaidTaken, contents)]


async def test_two_people_who_resume_at_once_resume_once_and_claude_is_told_of_its_answers(life: Life) -> None:
    async with life.home.open_hub() as hub:
        session = await life.say(hub, "Hello.")
        await life.until_turn(hub)
        await hub.desk.stop(session.id)
        await life.seen(hub, times(1, SessionEnded))

        ben = hub.desk.seat(Person("ben"), "telegram")
        outcomes = await asyncio.gather(
            hub.desk.resume(session.id, "Back. Choose."),
            ben.resume(session.id, "Back too. Choose."),
            return_exceptions=True,
        )

        refused = [each for each in outcomes if isinstance(each, BaseException)]
        assert [type(each) for each in refused] == [Refused]
        await hub.desk.answer((await next_ask(hub.desk, session)).id, SQLITE)
        contents = await life.seen(hub, times(2, TurnEnded))
        assert life.next_runs(contents) == [1]
        assert len([each for each in only(Said, contents) if each.text.startswith("Back")]) == 1
        assert "SQLite" in texts(contents)[-1]
        await until_phase(hub.desk, session, "idle")


async def test_a_session_that_was_being_stopped_is_stopped_by_the_next_hub(life: Life) -> None:
    async with life.home.open_hub() as first:
        await life.ask(first)
    async with SqliteStore(life.home.tmp / "state" / "hub.db") as store:
        record, checkpoint = await store.session(life.session.id), await store.checkpoint(life.session.id)
        assert record is not None
        assert checkpoint is not None
        memory = Memory.load(checkpoint.memory)
        memory.phase, memory.stop_reason = "stopping", "ana stopped it"
        stopping = replace(checkpoint, memory=memory.dump())
        await store.apply([SaveSession(replace(record, phase="stopping")), Advance(stopping)])

    async with life.home.open_hub() as second:
        contents = await life.seen(second, times(1, SessionEnded))
        assert [(each.how, each.reason) for each in only(SessionEnded, contents)] == [("stopped", "ana stopped it")]
        assert await second.desk.asks(session=life.session.id) == []


async def test_a_session_of_which_nothing_is_left_is_lost_and_not_started_again(life: Life) -> None:  # lesson 20
    async with life.home.open_hub() as first:
        question = await life.ask(first)
        pid = pid_of(first, life.session)
    await kill(pid)
    shutil.rmtree(life.home.tmp / "state" / "sessions" / life.session.id)

    async with life.home.open_hub() as second:
        assert second.pool.adoption.lost == (life.session.id,)
        lost = (await second.desk.session(life.session.id)).session
        assert lost.ended is not None
        assert lost.ended.how == "lost"
        assert (await second.desk.ask(question.id)).state == "withdrawn"


@pytest.mark.parametrize("damage", ["cut short", "folder"])
async def test_a_claude_whose_journal_is_gone_is_ended_and_can_be_resumed(life: Life, damage: str) -> None:
    async with life.home.open_hub() as hub:
        question = await life.ask(hub)
        session = life.session
        claude = Identity.of(pid_of(hub, session))
        assert claude is not None
        folder = life.home.tmp / "state" / "sessions" / session.id / str(session.run)
        if damage == "cut short":
            os.truncate(folder / "out.ndjson", 0)
        else:
            shutil.rmtree(folder)

        contents = await life.seen(hub, times(1, SessionEnded))
        ended = only(SessionEnded, contents)[0]
        assert ended.how == "failed"
        assert "journal" in ended.reason
        assert not claude.lives()
        left = await hub.desk.ask(question.id)
        assert left.state == "withdrawn"

        await hub.desk.resume(session.id, "Go on.")
        contents = await life.seen(hub, times(1, Text))
        assert life.next_runs(contents) == [1]
        await until_phase(hub.desk, session, "idle")


async def test_a_session_that_the_hub_lost_track_of_can_still_be_stopped(life: Life) -> None:
    async with life.home.open_hub() as hub:
        question = await life.ask(hub)
        session = life.session
        claude = Identity.of(pid_of(hub, session))
        assert claude is not None
        # A checkpoint far ahead contradicts everything the hub has yet to store: an error, like a bug of ours.
        checkpoint = await hub.store.checkpoint(session.id)
        assert checkpoint is not None
        await hub.store.apply([Advance(replace(checkpoint, offset=checkpoint.offset + 10**9))])
        await hub.desk.answer(question.id, SQLITE, question.digest)
        await life.seen(hub, lambda content: isinstance(content, Notice) and content.about == "fault")

        await hub.desk.stop(session.id)

        assert not claude.lives()
        stopped = await hub.desk.session(session.id)
        assert stopped.session.ended is not None
        assert stopped.session.ended.how == "stopped"


async def test_a_fork_knows_what_was_said_and_leaves_the_first_alone(life: Life) -> None:
    async with life.home.open_hub() as hub:
        stopped = Ended("stopped", "ana stopped it", NOON)
        await hub.store.apply([SaveSession(replace(never_started(life.home), phase="ended", ended=stopped))])
        with pytest.raises(Refused, match="no conversation to fork"):
            await hub.desk.fork("s_new", "And now?")
        session = await life.say(hub, "My name is Odeon.")
        await life.until_turn(hub)

        fork = (await hub.desk.fork(session.id, "What is my name?")).session

        assert fork.forked_from == session.id
        assert texts(await until_turn(hub.desk, fork)) == ["You said: What is my name?"]
        last = [each for each in life.home.model.requests("script") if "What is my name?" in str(each.messages)][-1]
        assert "My name is Odeon." in str(last.messages)
        assert (await hub.desk.session(session.id)).session.run == session.run
        assert fork.claude_id != session.claude_id
        await hub.desk.stop(fork.id)


async def test_a_session_that_the_last_hub_did_not_get_to_start_is_started(life: Life) -> None:
    async with life.home.open_hub() as first:
        uuid = "3d0c8f3e-7f0f-4a53-9a59-0f5c4f1f6d22"
        session = replace(never_started(life.home), id="s_begun", claude_id=uuid, phase="starting", run=1)
        text = Say("7c9b2a58-3b43-4c6e-9d0e-0a2f1b6a7d11", session.id, "Hello.", Person("ana"), "web", NOON)
        checkpoint = Checkpoint(session.id, 1, 0, Memory().dump())
        await first.store.apply([SaveSession(session), Advance(checkpoint), QueueSay(text)])

    async with life.home.open_hub() as second:
        assert session.id not in (*second.pool.adoption.living, *second.pool.adoption.lost)
        assert texts(await until_turn(second.desk, session)) == ["You said: Hello."]
        assert (await second.desk.session(session.id)).session.run == 2
        await second.desk.stop(session.id)


async def test_a_long_line_that_is_cut_off_starts_claude_again_by_itself(life: Life) -> None:
    """The process that writes it is killed: Claude would wait for the rest, and end on whatever came next."""
    async with life.home.open_hub() as hub:
        session = await life.say(hub, "one")
        await life.until_turn(hub)
        claude = claude_of(hub, session)
        os.kill(claude, signal.SIGSTOP)
        await hub.desk.say(session.id, "x" * 3_000_000)
        fifo = life.home.tmp / "state" / "sessions" / session.id / str(session.run) / "in"
        async with asyncio.timeout(DEADLINE):
            while not (fifo.with_name("spill.begun").exists() and (writers := _who_writes(fifo))):
                await asyncio.sleep(0.05)
        for each in writers:
            os.kill(each, signal.SIGKILL)
        os.kill(claude, signal.SIGCONT)
        await hub.desk.say(session.id, "two")

        contents = await life.seen(hub, lambda content: isinstance(content, Text) and "two" in content.text)
        assert life.next_runs(contents) == [1]
        assert [len(text.text) for text in only(Said, contents)] == [3, 3_000_000, 3]
        async with asyncio.timeout(DEADLINE):
            while await hub.store.says(session.id):
                await asyncio.sleep(0.05)
        await until_phase(hub.desk, session, "idle")


async def test_sessions_beyond_the_limit_wait_in_a_queue_that_can_be_seen(life: Life) -> None:  # lesson 24
    work = str(life.home.work)
    async with life.home.open_hub(limit=1) as hub:
        await life.ask(hub)
        first = life.session
        second = (await hub.desk.start("Two.", work)).session
        third = (await hub.desk.start("Choose.", work)).session
        assert [second.phase, third.phase] == ["queued", "queued"]
        waiting = await seen(hub.desk, times(1, SessionChanged), third.id)
        assert only(SessionChanged, waiting)[0].phase == "queued"
        contents = await seen(hub.desk, lambda content: isinstance(content, Notice), third.id)
        assert [each.about for each in only(Notice, contents)] == ["queued"]
        assert (
            f"Queued behind 1 session: “{first.title}” ({first.id}, waiting for your answer)"
            in only(Notice, contents)[0].text
        )

        await hub.desk.stop(second.id)
        stopped = (await hub.desk.session(second.id)).session
        assert stopped.ended is not None
        assert stopped.ended.how == "stopped"
        assert (await hub.desk.session(third.id)).session.phase == "queued"
        await hub.desk.stop(first.id)

        ask = await next_ask(hub.desk, third)
        assert (await hub.desk.session(second.id)).session.run == 0
        # Stopping everything doesn't start queued sessions; their messages are not lost.
        fourth = (await hub.desk.start("Four.", work)).session
        assert fourth.phase == "queued"
        await hub.pool.stop_all()
        assert (await hub.desk.ask(ask.id)).state == "withdrawn"
        assert [each.session.id for each in await hub.desk.sessions() if each.session.phase == "queued"] == [fourth.id]


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
