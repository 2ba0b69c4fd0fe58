"""The outbox against a server with Telegram's rules: on bad days nothing is lost, and nothing is sent twice."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.surfaces.telegram.client import BotClient
from handraise.surfaces.telegram.formatted import Entity, Formatted, bold
from handraise.surfaces.telegram.outbox import Outbox, wait_until
from handraise.surfaces.telegram.outgoing import (
    Blocked,
    Button,
    ChatPlace,
    CreateTopic,
    DeleteMessage,
    Doubtful,
    EditText,
    Gone,
    Migrated,
    RemoveButtons,
    SendDraft,
    SendFile,
    SendResult,
    SendText,
    Sent,
    Undeliverable,
)
from handraise.surfaces.telegram.pacing import PRIORITIES
from surfaces.telegram.bot_api import TOKEN, BotApi, bot_api
from surfaces.telegram.faults import Fault
from surfaces.telegram.loop_clock import LoopClock
from surfaces.telegram.people import Someone

SPEED = 50.0
"""How much faster than the clock Telegram's time passes in these tests."""
DEADLINE = 100.0
"""For a call: the clock never jumps that far."""
PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 20


@pytest.fixture
async def api(clock: LoopClock) -> AsyncIterator[BotApi]:
    async with bot_api(clock=clock, pace=SPEED) as made:
        yield made


@asynccontextmanager
async def outbox_at(base: str) -> AsyncIterator[Outbox]:
    loop = asyncio.get_running_loop()
    async with (
        BotClient(TOKEN, base, deadline=DEADLINE) as client,
        Outbox(client, clock=loop.time, second=1 / SPEED) as made,
    ):
        yield made


@pytest.fixture
async def outbox(api: BotApi) -> AsyncIterator[Outbox]:
    async with outbox_at(api.base) as made:
        yield made


def text(person: Someone, words: str | Formatted = "hello", **more: Any) -> SendText:
    return SendText(ChatPlace(person.number), Formatted(words) if isinstance(words, str) else words, **more)


async def card(outbox: Outbox, outgoing: Any) -> SendResult:
    async with asyncio.timeout(2 * DEADLINE):
        return await outbox.put(outgoing, priority="card")


async def run_into(fault: Fault, api: BotApi, clock: LoopClock, times: int = 1) -> None:
    """Lets the deadline of each call pass that the server leaves without an answer."""
    if fault in ("silent", "silent-after"):
        await api.until_silent()
        clock.pass_by(DEADLINE)
        if times > 1:
            await run_into(fault, api, clock, times - 1)


async def test_a_message_arrives_with_its_formatting_and_buttons(outbox: Outbox, ana: Someone) -> None:
    keyboard = ((Button("Allow once", "id1"), Button("Open", url="https://example.org/")),)
    result = await card(outbox, text(ana, "Run " + bold("ls 😀") + "?", keyboard=keyboard, silent=True))
    shown = ana.private.last
    assert result == Sent(shown.number)
    assert (shown.text, shown.marked("bold"), shown.labels) == ("Run ls 😀?", ["ls 😀"], [["Allow once", "Open"]])
    assert shown.silent


async def test_a_reply_and_a_topic_are_where_they_belong(api: BotApi, outbox: Outbox, ana: Someone) -> None:
    forum = api.forum("Shop", ana)
    created = await card(outbox, CreateTopic(ChatPlace(forum.number), "x" * 200))
    assert isinstance(created, Sent)
    assert created.topic is not None
    asked = ana.write("do it", to=forum, topic=created.topic)
    place = ChatPlace(forum.number, created.topic)
    await card(outbox, SendText(place, Formatted("on it"), reply_to=asked.number))
    assert (forum.last.topic, forum.last.reply_to) == (created.topic, asked)
    await card(outbox, SendText(place, Formatted("still"), reply_to=99999))
    assert forum.last.text == "still", "what it replied to was deleted"


async def test_an_edit_changes_and_a_deletion_removes(outbox: Outbox, ana: Someone) -> None:
    sent = await card(outbox, text(ana, "one", keyboard=((Button("Yes", "id1"),),)))
    assert isinstance(sent, Sent)
    place = ChatPlace(ana.number)
    assert await card(outbox, EditText(place, sent.message, Formatted("two"))) == sent
    assert (ana.private.last.text, ana.private.last.buttons) == ("two", [])
    assert await card(outbox, DeleteMessage(place, sent.message)) == Sent()
    assert ana.private.from_bot == []


async def test_files_and_photos_arrive(outbox: Outbox, ana: Someone) -> None:
    await card(outbox, SendFile(ChatPlace(ana.number), "changes.diff", b"+ a\n", bold("The diff")))
    shown = ana.private.last
    assert shown.file is not None
    assert (shown.file.name, shown.file.content, shown.marked("bold")) == ("changes.diff", b"+ a\n", ["The diff"])
    await card(outbox, SendFile(ChatPlace(ana.number), "a.png", PNG, photo=True))
    assert ana.private.last.file is not None
    assert ana.private.last.file.photo


async def test_a_photo_that_telegram_does_not_take_goes_as_a_file(outbox: Outbox, ana: Someone) -> None:
    sent = await card(outbox, SendFile(ChatPlace(ana.number), "a.png", b"no picture", photo=True))
    assert isinstance(sent, Sent)
    assert ana.private.last.file is not None
    assert not ana.private.last.file.photo


async def test_a_draft_is_shown(outbox: Outbox, ana: Someone) -> None:
    put = outbox.put(
        SendDraft(ChatPlace(ana.number), 5, Formatted("Thinking"), can_stop=True), priority="progress", key="d"
    )
    assert await put == Sent()
    assert ana.private.draft is not None
    assert (ana.private.draft.text, ana.private.draft.can_stop) == ("Thinking", True)


# lesson 59
@pytest.mark.parametrize("entities", [(Entity("bold", 3, 50),), (Entity("unknown", 0, 2),), (Entity("bold", 1, 1),)])
async def test_a_formatting_error_loses_no_message(outbox: Outbox, ana: Someone, entities: tuple[Entity, ...]) -> None:
    sent = await card(outbox, text(ana, Formatted("😀 hello", entities), keyboard=((Button("Yes", "id1"),),)))
    assert isinstance(sent, Sent)
    assert (ana.private.last.text, ana.private.last.entities) == ("😀 hello", [])
    assert ana.private.last.buttons == ["Yes"]
    wrong = EditText(ChatPlace(ana.number), sent.message, Formatted("again", entities))
    assert await card(outbox, wrong) == sent
    assert ana.private.last.text == "again"


async def test_a_link_button_that_telegram_refuses_costs_only_itself(outbox: Outbox, ana: Someone) -> None:
    keyboard = ((Button("Open", url="http://localhost/"),), (Button("Done", "id1"),))
    assert isinstance(await card(outbox, text(ana, keyboard=keyboard)), Sent)
    assert ana.private.last.labels == [["Done"]]


@pytest.mark.parametrize(("words", "shown"), [("x" * 5000, "x" * 4095 + "…"), ("  \n", "…"), ("a\ud800b", "a\ufffdb")])
async def test_what_telegram_would_not_take_is_made_to_fit(
    outbox: Outbox, ana: Someone, words: str, shown: str
) -> None:
    assert isinstance(await card(outbox, text(ana, words)), Sent)
    assert ana.private.last.text == shown


async def test_an_edit_that_changes_nothing_is_a_success(outbox: Outbox, ana: Someone) -> None:
    sent = await card(outbox, text(ana, "same"))
    assert isinstance(sent, Sent)
    assert await card(outbox, EditText(ChatPlace(ana.number), sent.message, Formatted("same"))) == sent


async def test_buttons_can_go_while_the_text_stays(outbox: Outbox, ana: Someone) -> None:
    place = ChatPlace(ana.number)
    sent = await card(outbox, SendText(place, Formatted("text"), ((Button("Allow it…", "x"),),)))
    assert isinstance(sent, Sent)
    assert ana.private.last.labels == [["Allow it…"]]
    assert await card(outbox, RemoveButtons(place, sent.message)) == sent
    assert (ana.private.last.text, ana.private.last.labels) == ("text", [])
    assert await card(outbox, RemoveButtons(place, sent.message)) == sent, "they are gone already"
    ana.delete(ana.private.last)
    assert await card(outbox, RemoveButtons(place, sent.message)) == Gone()


async def test_a_deleted_message_is_gone(outbox: Outbox, ana: Someone) -> None:
    sent = await card(outbox, text(ana))
    assert isinstance(sent, Sent)
    ana.delete(ana.private.last)
    assert await card(outbox, EditText(ChatPlace(ana.number), sent.message, Formatted("x"))) == Gone()
    assert await card(outbox, DeleteMessage(ChatPlace(ana.number), sent.message)) == Gone()


async def test_an_upgraded_group_has_a_new_number(api: BotApi, outbox: Outbox, ana: Someone) -> None:
    group = api.group("Shop", ana)
    new = api.upgrade(group)
    assert await card(outbox, SendText(ChatPlace(group.number), Formatted("x"))) == Migrated(new.number)
    assert isinstance(await card(outbox, SendText(ChatPlace(new.number), Formatted("x"))), Sent)


async def test_a_reply_follows_an_upgraded_group_to_its_new_number(api: BotApi, outbox: Outbox, ana: Someone) -> None:
    old = api.group("Family", ana)
    asked = ana.write("/sessions", old)
    new = api.upgrade(old)
    reply = SendText(ChatPlace(old.number), Formatted("No sessions."), reply_to=asked.number)
    result = await outbox.put(reply, priority="reply", follows=True)
    assert result == Sent(new.last.number)
    assert (new.last.text, new.last.reply_to) == ("No sessions.", None)
    assert api.count("sendMessage") == 1


async def test_a_blocked_bot_can_not_write(api: BotApi, outbox: Outbox, ana: Someone, ben: Someone) -> None:
    group = api.group("Shop", ana)
    ana.block()
    ana.kick_bot(group)
    assert await card(outbox, text(ana)) == Blocked("Forbidden: bot was blocked by the user")
    assert isinstance(await card(outbox, text(ben)), Blocked), "he never wrote to the bot"
    assert isinstance(await card(outbox, SendText(ChatPlace(group.number), Formatted("x"))), Blocked)
    assert isinstance(await card(outbox, SendText(ChatPlace(-5), Formatted("x"))), Blocked)


async def test_a_topic_that_is_gone_can_not_be_written_to(api: BotApi, outbox: Outbox, ana: Someone) -> None:
    forum = api.forum("Shop", ana)
    assert isinstance(await card(outbox, SendText(ChatPlace(forum.number, 777), Formatted("x"))), Blocked)


async def test_what_telegram_refuses_for_another_reason_is_undeliverable(
    api: BotApi, outbox: Outbox, ana: Someone
) -> None:
    assert await card(outbox, SendFile(ChatPlace(ana.number), "a", b"")) == Undeliverable(
        "Bad Request: file must be non-empty"
    )
    api.refuse("sendMessage", 400, "Bad Request: something new")
    assert await card(outbox, text(ana)) == Undeliverable("Bad Request: something new")
    assert isinstance(await card(outbox, text(ana)), Sent)


async def test_a_429_is_waited_out_in_order_and_only_in_its_chat(api: BotApi, outbox: Outbox, ana: Someone) -> None:
    ben = api.someone(1002, "Ben")
    ben.start()
    api.refuse("sendMessage", 429, "Too Many Requests: retry after 100", retry_after=100)
    waiting = [outbox.put(text(ana, str(number)), priority="card") for number in range(3)]
    await api.until(lambda: api.count("sendMessage", 429) == 1)
    refused_at = api.calls[-1].at
    assert isinstance(await card(outbox, text(ben)), Sent)
    assert not any(each.done() for each in waiting)
    await asyncio.gather(*waiting)
    assert [each.text for each in ana.private.from_bot] == ["0", "1", "2"]
    sent = [each for each in api.calls if each.params["chat_id"] == ana.number and each.status == 200]
    assert sent[0].at >= refused_at + 100


async def test_a_429_for_a_draft_holds_up_no_message(api: BotApi, outbox: Outbox, ana: Someone) -> None:
    api.refuse("sendMessageDraft", 429, "Too Many Requests: retry after 500", retry_after=500)
    draft = outbox.put(SendDraft(ChatPlace(ana.number), 5, Formatted("a")), priority="progress", key="d")
    await api.until(lambda: api.count("sendMessageDraft", 429) == 1)
    assert isinstance(await card(outbox, text(ana)), Sent)
    assert not draft.done()


@pytest.mark.parametrize("fault", ["500", "502"])
async def test_server_errors_are_ridden_out(api: BotApi, outbox: Outbox, ana: Someone, fault: Any) -> None:
    api.fail("sendMessage", fault, times=5)
    waiting = [outbox.put(text(ana, str(number)), priority="card") for number in range(2)]
    results = await asyncio.gather(*waiting)
    assert all(isinstance(each, Sent) for each in results)
    assert sorted(each.text for each in ana.private.from_bot) == ["0", "1"]


async def test_an_outage_loses_nothing_and_doubles_nothing(api: BotApi, ana: Someone) -> None:
    async with outbox_at(api.base) as outbox:
        sent = await card(outbox, text(ana, "shown"))
        assert isinstance(sent, Sent)
        api.refuse("*", 401, "Unauthorized", times=2)
        edits = [
            outbox.put(EditText(ChatPlace(ana.number), sent.message, Formatted(str(each))), priority="card", key="e")
            for each in range(3)
        ]
        message = outbox.put(text(ana, "new"), priority="reply")
        assert await asyncio.gather(*edits) == [sent] * 3
        assert isinstance(await message, Sent)
    assert [each.text for each in ana.private.from_bot] == ["2", "new"]


@pytest.mark.parametrize(("fault", "arrived"), [("drop", 0), ("drop-after", 1), ("silent", 0), ("silent-after", 1)])
async def test_a_message_without_an_answer_is_doubtful_and_not_sent_again(
    api: BotApi, clock: LoopClock, outbox: Outbox, ana: Someone, fault: Fault, arrived: int
) -> None:
    api.fail("sendMessage", fault)
    waiting = outbox.put(text(ana), priority="card")
    await run_into(fault, api, clock)
    assert await waiting == Doubtful()
    assert len(ana.private.from_bot) == arrived
    assert isinstance(await card(outbox, text(ana, "next")), Sent)
    assert len(ana.private.from_bot) == arrived + 1


@pytest.mark.parametrize("fault", ["drop", "drop-after", "silent", "silent-after"])
async def test_an_edit_without_an_answer_goes_again(
    api: BotApi, clock: LoopClock, outbox: Outbox, ana: Someone, fault: Fault
) -> None:
    sent = await card(outbox, text(ana))
    assert isinstance(sent, Sent)
    api.fail("editMessageText", fault, times=2)
    waiting = outbox.put(EditText(ChatPlace(ana.number), sent.message, Formatted("edited")), priority="card")
    await run_into(fault, api, clock, times=2)
    assert await waiting == sent
    assert ana.private.last.text == "edited"


async def test_a_message_that_was_never_sent_goes_again(clock: LoopClock, ana: Someone) -> None:
    async with bot_api() as other:
        base = other.base
    port = int(base.rpartition(":")[2])
    async with outbox_at(base) as outbox:
        waiting = outbox.put(text(ana), priority="card")
        await asyncio.sleep(0)
        async with bot_api(clock=clock, pace=SPEED, port=port) as back:
            person = back.someone(ana.number, "Ana")
            person.start()
            assert isinstance(await waiting, Sent)
            assert len(person.private.from_bot) == 1


async def test_a_message_that_the_server_can_not_take_is_given_up_while_others_arrive(
    api: BotApi, outbox: Outbox, ana: Someone
) -> None:
    ben = api.someone(1002, "Ben")
    ben.start()
    api.fail("sendDocument", "500", times=1000)
    poison = outbox.put(SendFile(ChatPlace(ana.number), "a", b"x"), priority="card")
    behind = outbox.put(text(ana, "behind"), priority="card")
    for _ in range(500):
        if not poison.done():
            assert isinstance(await card(outbox, text(ben)), Sent)
    assert isinstance(poison.result(), Undeliverable)
    assert isinstance(await behind, Sent)


async def test_cards_go_before_replies_before_progress(outbox: Outbox, ana: Someone) -> None:
    waiting = [
        outbox.put(text(ana, f"{priority} {number}"), priority=priority)
        for number in range(2)
        for priority in reversed(PRIORITIES)
    ]
    await asyncio.gather(*waiting)
    assert [each.text for each in ana.private.from_bot] == [
        f"{priority} {number}" for priority in PRIORITIES for number in range(2)
    ]


async def test_edits_with_a_key_become_one(api: BotApi, outbox: Outbox, ana: Someone) -> None:
    sent = await card(outbox, text(ana, "0"))
    assert isinstance(sent, Sent)
    edit = EditText(ChatPlace(ana.number), sent.message, Formatted(""))
    waiting = [
        outbox.put(replace(edit, content=Formatted(str(number))), priority="progress", key="p")
        for number in range(1, 50)
    ]
    assert await asyncio.gather(*waiting) == [sent] * 49
    assert ana.private.last.text == "49"
    assert api.count("editMessageText") == 1


# lesson 54
async def test_a_press_is_answered_while_the_chat_waits(api: BotApi, outbox: Outbox, ana: Someone) -> None:
    await card(outbox, text(ana, keyboard=((Button("Yes", "id1"),),)))
    api.refuse("sendMessage", 429, "Too Many Requests: retry after 900", retry_after=900)
    outbox.put(text(ana), priority="card")
    await api.until(lambda: api.count("sendMessage", 429) == 1)
    press = ana.press(ana.private.last, "Yes")
    assert await outbox.answer(press.id, "x" * 300, alert=True)
    assert (await press.toast(), press.alert) == ("x" * 199 + "…", True)
    assert not await outbox.answer(press.id, "again"), "Telegram takes one answer"
    assert outbox.waiting == 1


async def test_the_end_cancels_what_waits(api: BotApi, ana: Someone) -> None:
    async with outbox_at(api.base) as outbox:
        api.refuse("sendMessage", 429, "Too Many Requests: retry after 900", retry_after=900)
        waiting = outbox.put(text(ana), priority="card")
        await api.until(lambda: api.count("sendMessage", 429) == 1)
    assert waiting.cancelled()


async def test_someone_who_stops_waiting_changes_nothing(outbox: Outbox, ana: Someone) -> None:
    first = outbox.put(text(ana, "1"), priority="card")
    first.cancel()
    assert isinstance(await card(outbox, text(ana, "2")), Sent)
    assert [each.text for each in ana.private.from_bot] == ["1", "2"]


async def test_seven_chats_do_not_wait_for_each_other(api: BotApi, outbox: Outbox) -> None:
    people = [api.someone(2000 + number, f"P{number}") for number in range(7)]
    for person in people:
        person.start()
    waiting = [outbox.put(text(person, str(each)), priority="card") for each in range(3) for person in people]
    await asyncio.gather(*waiting)
    assert api.count("sendMessage") == 21
    assert api.refused == 0


async def test_five_hundred_cards_in_ten_chats_without_a_429(api: BotApi, outbox: Outbox) -> None:
    people = [api.someone(3000 + number, f"P{number}") for number in range(5)]
    for person in people:
        person.start()
    chats = [each.private for each in people] + [api.supergroup(f"G{number}", *people) for number in range(5)]
    waiting = [
        outbox.put(SendText(ChatPlace(chat.number), Formatted(str(number))), priority="card")
        for number in range(50)
        for chat in chats
    ]
    results = await asyncio.gather(*waiting)
    assert all(isinstance(each, Sent) for each in results)
    assert api.refused == 0
    for chat in chats:
        assert [each.text for each in chat.from_bot] == [str(number) for number in range(50)]


async def test_nothing_of_a_text_is_logged(
    api: BotApi, outbox: Outbox, ana: Someone, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in logging.root.manager.loggerDict:
        caplog.set_level(logging.DEBUG, name)
    api.fail("sendMessage", "500")
    await card(outbox, text(ana, Formatted("the secret plan", (Entity("bold", 0, 999),))))
    api.refuse("sendMessage", 400, "Bad Request: the secret plan")
    await card(outbox, text(ana, "the secret plan"))
    assert "without what Telegram refused" in caplog.text
    assert "secret" not in caplog.text
    assert api.token.partition(":")[2] not in caplog.text


@given(
    now=st.floats(0, 1e7),
    away=st.floats(1e-12, 60),
    second=st.sampled_from([1.0, 0.1, 1 / SPEED]),
)
def test_two_waits_are_enough_for_any_time(now: float, away: float, second: float) -> None:
    at = now / second + away
    for _ in range(2):
        now += wait_until(at, now / second, second)

    assert now / second >= at
