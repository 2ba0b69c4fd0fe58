"""The runner performs, and nothing else: what is stored, written, repeated, and when."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from handraise.model.actors import Person
from handraise.model.answers import Allow, Choice, Choices
from handraise.model.items import AskDelivered, Notice, Preview, SaidTaken, SessionChanged, SessionEnded, Text
from handraise.model.projects import Patience
from handraise.model.rules import Rule
from handraise.model.sessions import Say
from handraise.session.commands import ChangeMode, Interrupt, Rename, Stop
from handraise.session.machine import SessionLimits, WishRefused
from handraise.session.memory import Memory
from handraise.store.changes import Applied, Change, QueueSay
from handraise.store.interface import Store, StoreFull
from handraise.store.memory.store import MemoryStore
from session.claude_says import (
    ANA,
    HELLO,
    NOON,
    acknowledged,
    bash,
    init,
    question,
    replayed,
    result,
    text,
    tool_result,
)
from session.stand_in import DEADLINE, StandIn, stage

SQLITE = Choices((Choice(("SQLite",)),))
SAY = Say("7c9b2a58-3b43-4c6e-9d0e-0a2f1b6a7d11", "s_1", "go on", ANA, "web", NOON)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with MemoryStore() as record:
        yield record


async def test_what_claude_said_is_stored_with_the_place_behind_it(store: Store) -> None:
    async with stage(store) as here:
        await here.claude.say(HELLO, init(), text("Let me see."))
        await here.until(Text)

        checkpoint = await store.checkpoint("s_1")
        assert checkpoint is not None
        assert checkpoint.offset == len(here.claude.journal)
        assert Memory.load(checkpoint.memory).phase == "working"
        session = await store.session("s_1")
        assert session is not None
        assert session.phase == "working"


async def test_an_answer_is_written_when_it_is_stored_and_delivered_when_claude_shows_it(store: Store) -> None:
    async with stage(store) as here:
        await here.claude.say(HELLO, init(), question())
        ask = await here.ask()
        assert here.claude.lines("control_response") == []

        await here.inbox.answer(ask.id, SQLITE, ANA, "web")
        (line,) = await here.claude.heard("control_response")
        assert line["response"]["response"]["updatedInput"]["answers"] == {"Which database?": "SQLite"}
        await here.claude.say(acknowledged("r_1"), tool_result())
        await here.until(AskDelivered)


async def test_a_rule_answers_after_its_answer_is_stored(store: Store) -> None:  # lesson 1
    async with stage(store) as here:
        await here.inbox.save_rule(Rule("r_9", "allow", tool="Bash", command="ls"))
        await here.claude.say(HELLO, init(), bash())

        (line,) = await here.claude.heard("control_response")
        assert line["response"]["response"] == {"behavior": "allow", "updatedInput": {"command": "ls"}}
        record = await here.ask()
        assert record.state == "answered"


async def test_what_was_answered_and_said_while_nobody_ran_is_written_by_the_next_runner(store: Store) -> None:
    claude = StandIn()
    async with stage(store, claude) as first:
        await claude.say(HELLO, init(), question())
        ask = await first.ask()
    await store.apply([QueueSay(SAY)])

    async with stage(store, claude) as second:
        await second.inbox.answer(ask.id, SQLITE, ANA, "web")
        await claude.heard("control_response")
        (words,) = await claude.heard("user")
        assert words["uuid"] == SAY.id
    async with stage(store, claude) as third:  # neither was shown to be taken
        await claude.heard("control_response", 2)
        await claude.heard("user", 2)
        await claude.say(replayed(SAY.id), acknowledged("r_1"))
        await third.until(AskDelivered)
        await third.until(SaidTaken)
    async with stage(store, claude) as fourth:
        await claude.say(text("Going on."))
        await fourth.until(Text)
        answers = claude.lines("control_response")
        assert len(answers) == 2
        assert answers[0] == answers[1]
        assert len(claude.lines("user")) == 2
        greetings = [each["request"] for each in claude.lines("control_request")]
        assert [each for each in greetings if "hooks" in each] == greetings[:1]


async def test_what_is_said_is_written_once_however_often_there_is_news(store: Store) -> None:  # lesson 56
    async with stage(store) as here:
        await here.claude.say(HELLO)
        await store.apply([QueueSay(SAY)])
        for _ in range(5):
            here.runner.listen()
        await here.claude.heard("user")
        await here.runner.wish(ChangeMode("plan"))

        assert len(here.claude.lines("user")) == 1


async def test_patience_that_ran_out_is_written_and_a_late_answer_is_said(store: Store) -> None:  # lessons 3, 4
    async with stage(store, patience=Patience(question=60)) as here:
        await here.claude.say(HELLO, init(), question())
        ask = await here.ask()
        here.clock.forward(60)
        await here.inbox.expire()
        (line,) = await here.claude.heard("control_response")
        assert line["response"]["response"]["behavior"] == "deny"

        assert (await here.inbox.answer(ask.id, SQLITE, ANA, "web")).late
        (words,) = await here.claude.heard("user")
        assert "SQLite" in words["message"]["content"]
        assert len(here.claude.lines("control_response")) == 1


async def test_a_stop_withdraws_and_ends_claude(store: Store) -> None:
    async with stage(store) as here:
        await here.claude.say(HELLO, init(), question())
        ask = await here.ask()

        await here.runner.wish(Stop("ana stopped it"))

        contents = await here.until(SessionEnded)
        assert (contents.how, contents.reason) == ("stopped", "ana stopped it")
        record = await store.ask(ask.id)
        assert record is not None
        assert record.state == "withdrawn"
        assert len(here.claude.farewells) == 1


async def test_a_stop_gets_through_to_a_claude_that_does_not_read(store: Store) -> None:
    async with stage(store) as here:
        await here.claude.say(HELLO, init(), question())
        ask = await here.ask()
        here.claude.read.clear()
        await here.inbox.answer(ask.id, SQLITE, ANA, "web")

        async with asyncio.timeout(DEADLINE):
            await here.runner.wish(Stop("ana stopped it"))

        assert (await here.until(SessionEnded)).how == "stopped"
        record = await store.ask(ask.id)
        assert record is not None
        assert (record.state, record.delivered_at) == ("answered", None)  # lesson 7


async def test_a_line_that_claude_is_slow_to_read_is_not_lost(store: Store) -> None:  # lesson 7
    async with stage(store) as here:
        await here.claude.say(HELLO, init())
        here.claude.read.clear()
        await here.claude.say(question("r_1", {"question": "", "options": []}))
        here.claude.read.set()

        (line,) = await here.claude.heard("control_response")
        assert line["response"]["response"]["behavior"] == "deny"


async def test_an_answer_that_moves_nothing_is_noticed_and_written_again(store: Store) -> None:  # lesson 6
    async with stage(store, limits=SessionLimits(move=0.01)) as here:
        await here.claude.say(HELLO, init(), question())
        await here.inbox.answer((await here.ask()).id, SQLITE, ANA, "web")

        assert (await here.until(Notice)).about == "not moving"
        lines = await here.claude.heard("control_response", 2)
        assert lines[0] == lines[1]


async def test_a_wish_after_the_end_is_refused_and_never_hangs(store: Store) -> None:
    async with stage(store) as here:
        await here.claude.say(HELLO)
        await here.claude.end(0)
        await here.until(SessionEnded)

        async with asyncio.timeout(DEADLINE):
            with pytest.raises(WishRefused, match="Resume it first"):
                await here.runner.wish(Interrupt())
        assert here.runner.has_ended


async def test_a_wish_on_its_way_when_the_hub_closes_is_told_so(store: Store) -> None:
    async with stage(store) as here:
        await here.claude.say(HELLO, init())
        await here.until(SessionChanged)
        here.claude.read.clear()
        first = asyncio.create_task(here.runner.wish(Interrupt()))
        second = asyncio.create_task(here.runner.wish(Interrupt()))
        await asyncio.sleep(0)

    async with asyncio.timeout(DEADLINE):
        _, second_told = await asyncio.gather(first, second, return_exceptions=True)
    assert isinstance(second_told, WishRefused)
    assert "hub is shutting down" in str(second_told)


async def test_a_title_is_kept_with_the_record(store: Store) -> None:
    async with stage(store) as here:
        await here.claude.say(HELLO)
        await here.runner.wish(Rename("Better"))
        await here.claude.say(init(), text("On it."))
        await here.until(Text)

        session = await store.session("s_1")
        assert session is not None
        assert session.title == "Better"


async def test_what_is_whole_is_not_previewed_any_more(store: Store) -> None:
    async with stage(store) as here, here.feed.follow() as follower:
        start = {"type": "stream_event", "event": {"type": "message_start", "message": {"id": "m_1"}}}
        delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me"}}
        await here.claude.say(HELLO, init(), start, {"type": "stream_event", "event": delta})
        shown: list[Preview] = []
        async with asyncio.timeout(DEADLINE):
            async for news in follower:
                shown += [news] if isinstance(news, Preview) else []
                if shown:
                    break
        assert shown == [Preview("s_1", "m_1", 0, "text", "Let me")]
        await here.claude.say({"type": "stream_event", "event": delta}, text("Let me see."), result())
        async with asyncio.timeout(DEADLINE):
            async for news in follower:
                assert not isinstance(news, Preview)
                if any(isinstance(item.read(), Text) for item in news):
                    break


class FullAtFirst(MemoryStore):
    """A disk that is full for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.refuse = 0
        self.refused = asyncio.Event()

    async def apply(self, changes: Sequence[Change]) -> Applied:
        if self.refuse:
            self.refuse -= 1
            self.refused.set()
            raise StoreFull("The disk is full.")
        return await super().apply(changes)


async def test_claude_waits_while_the_store_cannot_keep_what_it_said() -> None:
    async with FullAtFirst() as store, stage(store) as here:
        await here.claude.say(HELLO, init())
        await here.until(SessionChanged)
        store.refuse = 1
        record = len(here.claude.journal)
        await here.claude.say(text("Let me see."), question())
        await store.refused.wait()
        assert here.claude.offset <= record

        ask = await here.ask()
        assert (await here.until(Text)).text == "Let me see."
        await here.inbox.answer(ask.id, SQLITE, Person("ana"), "web")
        await here.claude.heard("control_response")


async def test_permission_is_asked_in_the_mode_that_held(store: Store) -> None:
    async with stage(store) as here:
        await here.inbox.save_rule(Rule("r_9", "allow", tool="Bash", command="ls", mode="acceptEdits"))
        mode = {"type": "system", "subtype": "status", "permissionMode": "acceptEdits"}
        await here.claude.say(HELLO, init(), bash("r_1"), mode, bash("r_2", use="t_2"))

        assert [(await here.ask("r_1")).state, (await here.ask("r_2")).state] == ["open", "answered"]
        assert (await here.inbox.answer((await here.ask("r_1")).id, Allow(), ANA, "web")).ask.state == "answered"
