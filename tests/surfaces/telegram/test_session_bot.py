"""Sessions through the whole bot, against a Bot API server that keeps Telegram's rules and has bad days."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handraise.model.items import ActionStarted, Content, TurnStarted
from handraise.store.changes import PublishItems
from handraise.surfaces.telegram.bot import SOURCE, TelegramBot
from handraise.surfaces.telegram.commands import COMMANDS
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.sessions import TelegramSessions
from surfaces.telegram.bots import PACE, BotRig, rigged
from surfaces.telegram.chats import FakeChat, ShownMessage
from surfaces.telegram.people import Someone
from surfaces.telegram.session_bed import turn_ended


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[BotRig]:
    async with rigged(tmp_path) as made:
        yield made


@asynccontextmanager
async def bot(rig: BotRig) -> AsyncIterator[TelegramBot]:
    """The real session side in the real bot."""
    made = TelegramBot(
        lambda person: rig.hub.desk.seat(person, SOURCE),
        rig.config,
        rig.folder,
        rig.clock,
        os.urandom,
        "http://127.0.0.1:8420",
        lambda tools: TelegramSessions(tools, beat=0.01),
        second=1 / PACE,
    )
    async with made:
        yield made


async def publish(rig: BotRig, *contents: Content) -> None:
    await rig.hub.store.apply([PublishItems("s_1", rig.clock(), content) for content in contents])


async def work(rig: BotRig, step: int = 1) -> None:
    await publish(rig, ActionStarted(f"t{step}", "command", f"step {step}", "Bash", {}))


async def opened(rig: BotRig, person: Someone, chat: FakeChat) -> ShownMessage:
    """The hub's session, opened from its list."""
    person.write("/sessions", None if chat.private else chat)
    listed = await chat.message("1. Fix it")
    assert await person.press(listed, "1. Fix it").toast() == "Opened “Fix it”."
    return await chat.message("Reply to this message")


async def group(rig: BotRig, **kind: bool) -> FakeChat:
    made = rig.api.supergroup("Team", rig.ana, rig.bo, **kind)
    rig.configure(chats=(ChatPlace(made.number),))
    return made


def answers(chat: FakeChat, text: str = "Done.") -> int:
    return sum(each.text.startswith(text) for each in chat.from_bot)


async def test_the_commands_are_registered(rig: BotRig) -> None:
    async with bot(rig):
        await rig.api.until(lambda: rig.api.count("setMyCommands") == 1)
    listed = next(each for each in rig.api.calls if each.method == "setMyCommands").params["commands"]
    assert all(f'"{name}"' in str(listed).replace("'", '"') for name in COMMANDS)


async def test_too_many_drafts_do_not_mean_that_there_are_none(rig: BotRig) -> None:
    async with bot(rig):
        await opened(rig, rig.ana, rig.ana.private)
        rig.api.refuse("sendMessageDraft", 429, "Too Many Requests: retry after 3", retry_after=3)
        await publish(rig, TurnStarted(1))
        await rig.api.until(lambda: rig.ana.private.draft is not None)
        assert rig.api.count("editMessageText") == 0


async def test_a_server_without_drafts_gets_an_edited_message(rig: BotRig) -> None:
    async with bot(rig):
        await opened(rig, rig.ana, rig.ana.private)
        rig.api.refuse("sendMessageDraft", 404, "Not Found", times=1000)
        await publish(rig, TurnStarted(1))
        rig.clock.pass_by(5)
        progress = await rig.ana.private.button("Interrupt")
        await work(rig)
        rig.clock.pass_by(5)
        await rig.ana.private.until(lambda _: "step 1" in progress.text or None)
        await publish(rig, turn_ended("Done."))
        await rig.ana.private.message("Done.")
        await rig.ana.private.until(lambda _: progress.deleted or None)


async def test_an_answer_waits_for_the_end_of_an_outage(rig: BotRig) -> None:
    async with bot(rig):
        await opened(rig, rig.ana, rig.ana.private)
        with rig.api.outage():
            await publish(rig, TurnStarted(1), turn_ended("Done."))
        await rig.ana.private.message("Done.")
    assert answers(rig.ana.private) == 1


@pytest.mark.parametrize("fault", ["500", "502", "drop"])
async def test_a_failing_server_gets_the_answer_again(rig: BotRig, fault: str) -> None:
    async with bot(rig):
        await opened(rig, rig.ana, rig.ana.private)
        rig.api.fail("sendMessage", fault, times=3)  # type: ignore[arg-type]
        await publish(rig, TurnStarted(1), turn_ended("Done."))
        await rig.ana.private.message("Done.")


async def test_a_429_delays_the_answer_and_loses_nothing(rig: BotRig) -> None:
    chat = await group(rig)
    async with bot(rig):
        await opened(rig, rig.ana, chat)
        await publish(rig, TurnStarted(1))
        rig.clock.pass_by(5)
        progress = await chat.button("Interrupt")
        rig.api.refuse("editMessageText", 429, "Too Many Requests: retry after 126", retry_after=126)
        await work(rig)
        rig.clock.pass_by(10)
        await rig.api.until(lambda: rig.api.count("editMessageText", 429) == 1)
        await publish(rig, turn_ended("Done."))
        await chat.message("Done.")
        await chat.until(lambda _: progress.deleted or None)
    assert answers(chat) == 1


async def test_formatting_that_telegram_refuses_is_sent_plain(rig: BotRig) -> None:
    async with bot(rig):
        await opened(rig, rig.ana, rig.ana.private)
        rig.api.refuse("sendMessage", 400, "Bad Request: can't parse entities: unsupported")
        await publish(rig, TurnStarted(1), turn_ended("All **green**."))
        assert (await rig.ana.private.message("All green.")).entities == []


async def test_an_upgraded_group_gets_the_answer_under_its_new_number(rig: BotRig) -> None:
    made = rig.api.group("Team", rig.ana)
    rig.configure(chats=(ChatPlace(made.number),))
    async with bot(rig):
        await opened(rig, rig.ana, made)
        await publish(rig, TurnStarted(1))
        larger = rig.api.upgrade(made)
        await publish(rig, turn_ended("Done."))
        answer = await larger.message("Done.")
        assert answers(larger) == 1
        rig.ana.write("/mute", reply_to=answer)
        await larger.message("Muted “Fix it”.")


async def test_a_list_on_its_way_to_a_group_that_is_upgraded_arrives_in_the_new_one(rig: BotRig) -> None:
    old = rig.api.group("Team", rig.ana, rig.bo)
    rig.configure(chats=(ChatPlace(old.number),))
    async with bot(rig):
        rig.api.refuse("sendMessage", 429, "Too Many Requests: retry after 10", retry_after=10)
        rig.ana.write("/sessions", old)
        await rig.api.until(lambda: rig.api.count("sendMessage", 429) == 1)
        new = rig.api.upgrade(old)
        listed = await new.message("1. Fix it")
        assert await rig.ana.press(listed, "1. Fix it").toast() == "Opened “Fix it”."
        await new.message("Reply to this message")
        await publish(rig, TurnStarted(1), turn_ended("Done."))
        await new.message("Done.")
    assert sum("1. Fix it" in each.text for each in new.from_bot) == 1


async def test_a_blocked_bot_delivers_when_it_is_let_in_again(rig: BotRig) -> None:
    async with bot(rig):
        await opened(rig, rig.ana, rig.ana.private)
        rig.ana.block()
        await publish(rig, TurnStarted(1), turn_ended("Done."))
        await rig.api.until(lambda: rig.api.count("sendMessage", 403) > 0 or rig.api.count("sendMessageDraft", 403) > 0)
        rig.ana.unblock()
        await rig.ana.private.message("Done.")
    assert answers(rig.ana.private) == 1


async def test_a_group_that_removed_the_bot_is_named_and_gets_its_answer_when_the_bot_is_back(rig: BotRig) -> None:
    chat = await group(rig)
    async with bot(rig) as running:
        await opened(rig, rig.ana, chat)
        rig.ana.kick_bot(chat)
        await rig.until(lambda: bool(running.status().chats))
        await publish(rig, TurnStarted(1), turn_ended("Done."))
        await rig.api.until(lambda: rig.api.count("sendMessage", 403) > 0)
        assert [each.chat for each in running.status().chats] == [chat.number]
        rig.ana.add_bot(chat)
        await chat.message("Done.")
        assert running.status().chats == ()
    assert answers(chat) == 1


async def test_a_group_without_files_gets_the_answer_and_those_after_it(rig: BotRig) -> None:
    chat = await group(rig)
    async with bot(rig):
        await opened(rig, rig.ana, chat)
        rig.api.refuse("sendDocument", 400, "Bad Request: not enough rights to send documents to the chat")
        code = "\n".join(f"x_{at} = {at}" for at in range(400))
        await publish(rig, TurnStarted(1), turn_ended(f"Look:\n```python\n{code}\n```"))
        await publish(rig, TurnStarted(2), turn_ended("Next."))
        await chat.message("Next.")
        assert "📎 code-1.py" in (await chat.message("Look:")).text
        await chat.message("code-1.py can't be sent to this chat.")


async def test_a_deleted_progress_message_stays_deleted(rig: BotRig) -> None:
    chat = await group(rig)
    async with bot(rig):
        await opened(rig, rig.ana, chat)
        await publish(rig, TurnStarted(1))
        rig.clock.pass_by(5)
        rig.ana.delete(await chat.button("Interrupt"))
        await work(rig)
        rig.clock.pass_by(10)
        await rig.api.until(lambda: rig.api.count("editMessageText", 400) == 1)
        await publish(rig, turn_ended("Done."))
        await chat.message("Done.")
        assert [each.buttons for each in chat.from_bot if "Interrupt" in each.buttons] == []


async def test_a_restarted_bot_sends_no_answer_twice_and_none_too_few(rig: BotRig) -> None:
    chat = await group(rig)
    async with bot(rig):
        await opened(rig, rig.ana, chat)
        await publish(rig, TurnStarted(1), turn_ended("Answer 0."))
        await chat.message("Answer 0.")
    for number in range(1, 4):
        await publish(rig, TurnStarted(1), turn_ended(f"Answer {number}."))
        async with bot(rig):
            await chat.message(f"Answer {number}.")
    assert [answers(chat, f"Answer {number}.") for number in range(4)] == [1, 1, 1, 1]


async def test_a_person_who_is_not_allowed_gets_nothing_done(rig: BotRig) -> None:  # lesson 57
    chat = await group(rig)
    eve = rig.api.someone(6666, "Eve")
    eve.join(chat)
    async with bot(rig):
        await opened(rig, rig.ana, chat)
        await publish(rig, TurnStarted(1))
        rig.clock.pass_by(5)
        progress = await chat.button("Interrupt")
        assert await eve.press(progress, "Interrupt").toast() == "You're not allowed to use this bot."
        eve.write("/new evil", chat)
        eve.write("do it", reply_to=progress)
        rig.bo.write("/help", chat)
        await chat.message("/new – Start a session")
    assert not any("evil" in each.text for each in chat.from_bot)


async def test_twenty_working_turns_in_a_group_cause_no_429(rig: BotRig) -> None:
    chat = await group(rig)
    async with bot(rig):
        await opened(rig, rig.ana, chat)
        for turn in range(20):
            await publish(rig, TurnStarted(turn))
            rig.clock.pass_by(5)
            await work(rig, turn)
            rig.clock.pass_by(10)
            await publish(rig, turn_ended(f"Answer {turn}."))
        for turn in range(20):
            await chat.message(f"Answer {turn}.")
    assert rig.api.refused == 0
