"""People and servers that send what nobody expects: nothing is answered that nobody meant, and the bot stays."""

from pathlib import Path
from typing import Any

import apsw
import pytest

from handraise.model.answers import Deny
from handraise.model.asks import Answered, Form, Option, Prompt, Question
from surfaces.telegram.bots import BotRig, rigged
from surfaces.telegram.chats import ShownMessage

ADDRESS = Form(
    "Where to?",
    "post",
    {
        "type": "object",
        "properties": {"street": {"type": "string"}, "town": {"type": "string"}, "note": {"type": "string"}},
        "required": ["street", "town"],
    },
)
DATABASE = Question((Prompt("Which database?", "Store", (Option("SQLite"), Option("Postgres"))),))


async def first_field(rig: BotRig) -> ShownMessage:
    await rig.ask(body=ADDRESS)
    card = await rig.ana.private.button("Fill in")
    await rig.press(rig.ana, card, "Fill in")
    await shows(card, "street")
    return card


async def shows(card: ShownMessage, part: str) -> None:
    await card.chat.until(lambda _: part in card.text)


def forget_end(rig: BotRig) -> None:
    """As if the hub was killed right before it noted down that the last update is done."""
    connection = apsw.Connection(str(rig.folder / "telegram.db"))
    connection.execute("DELETE FROM updates WHERE number = (SELECT max(number) FROM updates)").fetchall()
    connection.close()
    assert rig.api.world.updates.deliver_again(1)


async def test_a_reply_that_was_used_before_a_crash_is_not_used_for_the_next_field(tmp_path: Path) -> None:  # lesson 56
    async with rigged(tmp_path) as rig:
        async with rig.bot():
            card = await first_field(rig)
            rig.ana.write("Odeon 4", reply_to=card)
            await shows(card, "town")
            await rig.api.confirmed()
        forget_end(rig)
        async with rig.bot():
            rig.ana.write("Ulm", reply_to=card)
            await shows(card, "note")
            rig.ana.write("Ring twice", reply_to=card)
            await shows(card, "Ready to send")
            assert "street: Odeon 4\ntown: Ulm\nnote: Ring twice" in card.text


@pytest.mark.parametrize("step", ["question", "reason", "optional field"])
async def test_a_reply_without_words_answers_nothing(tmp_path: Path, step: str) -> None:  # lesson 36
    async with rigged(tmp_path) as rig, rig.bot():
        card = await at(rig, step)
        before = card.text
        rig.ana.send_photo(b"\xff\xd8\xff", reply_to=card)
        await rig.ana.private.message("Reply with text")
        assert card.text == before
        assert await rig.state_of("a_1") == "open"


async def at(rig: BotRig, step: str) -> ShownMessage:
    if step == "question":
        await rig.ask(body=DATABASE)
        return await rig.ana.private.button("Other")
    if step == "reason":
        await rig.ask()
        card = await rig.ana.private.button("Deny with a reason")
        await rig.press(rig.ana, card, "Deny with a reason")
        await shows(card, "Reply to this message")
        return card
    card = await first_field(rig)
    for text, following in (("Odeon 4", "town"), ("Ulm", "note")):
        rig.ana.write(text, reply_to=card)
        await shows(card, following)
    return card


@pytest.mark.parametrize(
    "content",
    [
        {"message": {"text": 5}},
        {"message": {"message_id": 1, "chat": {"id": 1001, "type": "private"}, "from": {"id": 1001}, "date": 10**18}},
        {"callback_query": {"id": "1"}},
        {"callback_query": {"id": "2", "from": {"id": 1001}}},
        {"callback_query": {"id": "3", "from": {"id": 1001}, "data": "\x00" * 64, "inline_message_id": "x"}},
        {"my_chat_member": {}},
        {"stopped_message_generation": {"chat": {"id": 1001}, "draft_id": -1}},
        {"nothing": True},
    ],
)
async def test_an_update_that_makes_no_sense_stops_nothing(tmp_path: Path, content: dict[str, Any]) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Deny")
        kind, body = next(iter(content.items()))
        rig.api.world.updates.put(kind, body)
        assert await rig.press(rig.ana, card, "Deny") == "You denied npm test"
        await rig.api.confirmed()


async def test_a_long_reply_is_used_whole(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Deny with a reason")
        await rig.press(rig.ana, card, "Deny with a reason")
        await shows(card, "Reply to this message")
        reason = "🦊 <b>&amp;*_`[x](tg://user?id=1)" * 100
        rig.ana.write(reason, reply_to=card)
        await rig.closed(card)
        settlement = (await rig.hub.desk.ask("a_1")).settlement
        assert isinstance(settlement, Answered)
        assert settlement.answer == Deny(reason)
