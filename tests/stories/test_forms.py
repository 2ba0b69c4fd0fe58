"""Stories: a tool's own server wants a form filled in."""

import sys
from pathlib import Path

import pytest

from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.wire.frames import ControlCancel, ControlRequest, Elicitation, Result
from stories.bed import Bed, BedTalk, answered, parts

SERVER = {"type": "stdio", "command": sys.executable, "args": [str(Path(__file__).with_name("form_server.py"))]}


def deliver(conversation: Conversation) -> Script:
    conversation = yield [use("mcp__forms__deliver", parcel="the lamp")]
    yield [say(conversation.result().text)]


def deliver_two(conversation: Conversation) -> Script:
    declined = yield [use("mcp__forms__deliver", parcel="the lamp")]
    cancelled = yield [use("mcp__forms__deliver", parcel="the chair")]
    yield [say(f"{declined.result().text} {cancelled.result().text}")]


SCRIPT = parts(deliver=deliver, deliver_two=deliver_two)


@pytest.fixture
async def talk(bed: Bed) -> BedTalk:
    servers = {"forms": {**SERVER, "alwaysLoad": True}}
    return await bed.talk("script", mcp_servers=servers, allowed_tools=("mcp__forms__deliver",))


async def form(talk: BedTalk, part: str) -> tuple[str, Elicitation]:
    """A form that is open."""
    await talk.say(part)
    asked = await talk.until(ControlRequest)
    assert isinstance(asked.request, Elicitation), asked
    return asked.request_id, asked.request


async def test_a_form_is_filled_and_the_tool_reads_it(talk: BedTalk) -> None:
    request_id, asked = await form(talk, "deliver")
    assert (asked.mcp_server_name, asked.message, asked.mode) == ("forms", "Where does the lamp go?", "form")
    schema = asked.requested_schema or {}
    assert {name: each["type"] for name, each in schema["properties"].items()} == {
        "street": "string",
        "floor": "integer",
        "lift": "boolean",
        "door": "string",
    }
    assert schema["required"] == ["street"]
    filled = {"street": "Odeon 4", "floor": 3, "lift": True, "door": "right"}
    await talk.claude.write(talk.wire.send_filled(request_id, "accept", filled))

    heard = answered(await talk.until(Result))
    assert "street='Odeon 4', floor=3, lift=True, door='right'" in heard


async def test_a_form_that_is_not_filled_says_so_to_the_tool(talk: BedTalk) -> None:
    request_id, _ = await form(talk, "deliver_two")
    await talk.claude.write(talk.wire.send_filled(request_id, "decline"))
    asked = await talk.until(ControlRequest)
    await talk.claude.write(talk.wire.send_filled(asked.request_id, "cancel"))

    heard = answered(await talk.until(Result))
    assert "the lamp stays here: decline" in heard
    assert "the chair stays here: cancel" in heard


async def test_a_form_is_withdrawn_when_the_turn_is_interrupted(talk: BedTalk) -> None:
    request_id, _ = await form(talk, "deliver")
    before = len(talk.heard)
    await talk.want("interrupt")

    assert (await talk.until(ControlCancel)).request_id == request_id
    # 2.1.197 ends the turn before it withdraws the form.
    ended = [each for each in talk.heard[before:] if isinstance(each, Result)] or [await talk.until(Result)]
    assert [each.is_error for each in ended] == [True]
    assert not talk.wire.open_requests
