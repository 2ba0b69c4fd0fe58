"""A runner hears Claude's next frame while the last one is being stored. Nothing is lost, twice or out of order."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from handraise.model.answers import Allow
from handraise.model.items import Item, Text
from handraise.model.sessions import Say
from handraise.session.commands import Rename
from handraise.store.changes import Advance, Applied, Change, OpenAsk, PublishItems, QueueSay
from handraise.store.interface import StoreFull
from handraise.store.memory.store import MemoryStore
from session.claude_says import ANA, HELLO, NOON, Line, bash, init, text, tool_use
from session.stand_in import DEADLINE, StandIn, stage


class SlowStore(MemoryStore):
    """Stores nothing while `room` is cleared. `begun` is how many batches have come, `stored` what was stored."""

    def __init__(self) -> None:
        super().__init__()
        self.room = asyncio.Event()
        self.room.set()
        self.begun = 0
        self.stored: list[Sequence[Change]] = []
        self.fault: Exception | None = None

    async def apply(self, changes: Sequence[Change]) -> Applied:
        self.begun += 1
        await self.room.wait()
        if self.fault is not None and any(isinstance(each, Advance) for each in changes):
            raise self.fault
        self.stored.append(changes)
        return await super().apply(changes)


def check(number: int) -> Line:
    """Claude has us check a call before it makes it."""
    call = {
        "session_id": "x",
        "cwd": "/work/app",
        "tool_name": "Bash",
        "tool_input": {"command": f"ls {number}"},
        "tool_use_id": f"t_{number}",
        "hook_event_name": "PreToolUse",
    }
    inside = {"subtype": "hook_callback", "callback_id": "handraise", "tool_use_id": f"t_{number}", "input": call}
    return {"type": "control_request", "request_id": f"h_{number}", "request": inside}


def words_in(items: Sequence[Item]) -> list[str]:
    return [content.text for content in [item.read() for item in items] if isinstance(content, Text)]


async def settled_down() -> None:
    """Lets everything happen that can happen now."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_a_check_is_answered_and_a_request_is_heard_while_the_frame_before_is_being_stored() -> None:
    async with SlowStore() as store, stage(store) as here:
        await here.claude.say(HELLO, init())
        await here.claude.heard("control_request")
        await settled_down()
        store.room.clear()
        before = store.begun

        await here.claude.say(tool_use("Bash", command="ls 1"))
        await settled_down()
        await here.claude.say(check(1))
        (answer,) = await here.claude.heard("control_response")
        assert answer["response"]["request_id"] == "h_1"
        await here.claude.say(bash("r_1", "ls 1"))
        await settled_down()
        assert store.begun == before + 1
        assert await store.asks(session="s_1") == []

        store.room.set()
        ask = await here.ask()
        # All that was heard meanwhile is one commit, and the offset is behind it.
        (with_ask,) = [each for each in store.stored if any(isinstance(one, OpenAsk) for one in each)]
        assert [type(each) for each in with_ask].count(Advance) == 1
        assert isinstance(with_ask[-1], Advance)
        assert with_ask[-1].checkpoint.offset == len(here.claude.journal)
        await here.inbox.answer(ask.id, Allow(), ANA, "web")
        await here.claude.heard("control_response", 2)


async def test_nothing_is_shown_before_it_is_stored() -> None:
    async with SlowStore() as store, stage(store) as here, here.feed.follow(0) as follower:
        await here.claude.say(HELLO, init())
        await here.claude.heard("control_request")
        await settled_down()
        store.room.clear()
        for number in range(3):
            await here.claude.say(text(f"word {number}"))
            await settled_down()
        stored = await store.items(session="s_1")
        assert words_in(stored) == []

        store.room.set()
        seen: list[str] = []
        async with asyncio.timeout(DEADLINE):
            async for news in follower:
                seen += words_in(news) if isinstance(news, Sequence) else []
                if len(seen) == 3:
                    break
        assert seen == ["word 0", "word 1", "word 2"]


async def test_claude_waits_for_a_store_that_takes_long() -> None:
    async with SlowStore() as store, stage(store) as here:
        await here.claude.say(HELLO, init())
        await here.claude.heard("control_request")
        await settled_down()
        store.room.clear()
        for number in range(20):
            await here.claude.say(tool_use("Bash", f"t_{number}", command=f"ls {number}"), check(number))
            await settled_down()
        answered = len(here.claude.lines("control_response"))
        assert 0 < answered <= 6

        store.room.set()
        await here.claude.heard("control_response", 20)


async def test_claude_waits_for_a_store_that_refuses() -> None:
    async with SlowStore() as store, stage(store) as here:
        await here.claude.say(HELLO, init())
        await here.claude.heard("control_request")
        await settled_down()
        store.fault = StoreFull("The disk is full.")
        await here.claude.say(text("One."))
        await settled_down()
        await here.claude.say(tool_use("Bash", command="ls 1"), check(1))
        await settled_down()
        assert here.claude.lines("control_response") == []

        store.fault = None
        await here.claude.heard("control_response")
        assert words_in(await store.items(session="s_1")) == ["One."]


async def test_after_a_batch_that_cannot_be_stored_nothing_else_is() -> None:
    class Broken(Exception):
        pass

    async with SlowStore() as store:
        claude = StandIn()
        with pytest.raises(ExceptionGroup) as raised:
            await _meet(store, claude, Broken())
        assert raised.group_contains(Broken)
        assert words_in(await store.items(session="s_1")) == []

        async with stage(store, claude) as again:
            await again.until(Text)
            await again.runner.wish(Rename("Whole"))
            assert words_in(await store.items(session="s_1")) == ["One.", "Two.", "Three."]


async def _meet(store: SlowStore, claude: StandIn, fault: Exception) -> None:
    """The fault hits what is being stored while more comes."""
    async with stage(store, claude):
        await claude.say(HELLO, init())
        await claude.heard("control_request")
        await settled_down()
        store.room.clear()
        await claude.say(text("One."))
        await settled_down()
        await claude.say(text("Two."))
        store.fault = fault
        store.room.set()
        async with asyncio.timeout(DEADLINE):
            while fault.__traceback__ is None:
                await asyncio.sleep(0)
        store.fault = None
        await claude.say(text("Three."))
        await settled_down()


@pytest.mark.parametrize("left_at", range(6))
async def test_a_runner_that_is_left_while_it_stores_loses_nothing_and_repeats_nothing(left_at: int) -> None:
    async with SlowStore() as store:
        claude = StandIn()
        lines: list[Any] = [
            HELLO,
            init(),
            text("One."),
            tool_use("Bash", command="ls 1"),
            check(1),
            bash("r_1", "ls 1"),
        ]
        async with stage(store, claude):
            for number, line in enumerate(lines):
                if number == left_at:
                    store.room.clear()
                await claude.say(line)
                await settled_down()
        store.room.set()
        await settled_down()

        async with stage(store, claude) as next_one:
            ask = await next_one.ask()
            assert words_in(await store.items(session="s_1")) == ["One."]
            assert [each.id for each in await store.asks(session="s_1")] == [ask.id]
            checks = [each for each in claude.lines("control_response") if each["response"]["request_id"] == "h_1"]
            assert checks
            assert all(each == checks[0] for each in checks)
            await next_one.inbox.answer(ask.id, Allow(), ANA, "web")
            async with asyncio.timeout(DEADLINE):
                while not [e for e in claude.lines("control_response") if e["response"]["request_id"] == "r_1"]:
                    await asyncio.sleep(0)


async def test_a_wish_is_granted_once_everything_before_it_is_stored() -> None:
    async with SlowStore() as store, stage(store) as here:
        await here.claude.say(HELLO, init())
        await here.claude.heard("control_request")
        await settled_down()
        store.room.clear()
        await here.claude.say(text("One."))
        await settled_down()
        wishing = asyncio.create_task(here.runner.wish(Rename("Another title")))
        await settled_down()
        assert not wishing.done()

        store.room.set()
        await wishing
        record = await store.session("s_1")
        assert record is not None
        assert record.title == "Another title"
        kinds = [type(each) for batch in store.stored for each in batch if isinstance(each, PublishItems)]
        assert kinds
        assert words_in(await store.items(session="s_1")) == ["One."]


async def test_a_message_reaches_claude_while_a_frame_is_being_stored() -> None:
    say = Say("7c9b2a58-3b43-4c6e-9d0e-0a2f1b6a7d11", "s_1", "go on", ANA, "web", NOON)
    async with SlowStore() as store, stage(store) as here:
        await here.claude.say(HELLO, init())
        await here.claude.heard("control_request")
        await store.apply([QueueSay(say)])
        await settled_down()
        store.room.clear()
        await here.claude.say(text("One."))
        await settled_down()
        here.runner.listen()

        (line,) = await here.claude.heard("user")
        assert line["uuid"] == say.id
        store.room.set()
