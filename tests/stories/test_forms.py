"""Stories: a tool's own server wants a form filled."""

import sys
from pathlib import Path

from handraise.demo.pieces import Script, say, use
from handraise.demo.told import Told
from handraise.wire.frames import ControlCancel, ControlRequest, Result
from handraise.wire.requests import Elicitation
from stories.bed import Bed, Talk, answered

SERVER = {"type": "stdio", "command": sys.executable, "args": [str(Path(__file__).with_name("form_server.py"))]}


def deliver(told: Told) -> Script:
    told = yield [use("mcp__forms__deliver", parcel="the lamp")]
    yield [say(told.result().text)]


async def form(bed: Bed) -> tuple[Talk, str, Elicitation]:
    """A talk in which a form is open."""
    talk = await bed.start(
        "deliver", mcp_servers={"forms": {**SERVER, "alwaysLoad": True}}, allowed_tools=("mcp__forms__deliver",)
    )
    await talk.say("Deliver it.")
    asked = await talk.until(ControlRequest)
    assert isinstance(asked.request, Elicitation), asked
    return talk, asked.request_id, asked.request


async def test_a_form_is_filled_and_the_tool_reads_it(tmp_path: Path) -> None:
    async with Bed(tmp_path, deliver=deliver) as bed:
        talk, request_id, asked = await form(bed)
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


async def test_a_form_that_is_not_filled_says_so_to_the_tool(tmp_path: Path) -> None:
    def deliver(told: Told) -> Script:
        declined = yield [use("mcp__forms__deliver", parcel="the lamp")]
        cancelled = yield [use("mcp__forms__deliver", parcel="the chair")]
        yield [say(f"{declined.result().text} {cancelled.result().text}")]

    async with Bed(tmp_path, deliver=deliver) as bed:
        talk, request_id, _ = await form(bed)
        await talk.claude.write(talk.wire.send_filled(request_id, "decline"))
        asked = await talk.until(ControlRequest)
        await talk.claude.write(talk.wire.send_filled(asked.request_id, "cancel"))

        heard = answered(await talk.until(Result))
        assert "the lamp stays here: decline" in heard
        assert "the chair stays here: cancel" in heard


async def test_a_form_is_withdrawn_when_the_turn_is_interrupted(tmp_path: Path) -> None:
    async with Bed(tmp_path, deliver=deliver) as bed:
        talk, request_id, _ = await form(bed)
        await talk.want("interrupt")

        assert (await talk.until(ControlCancel)).request_id == request_id
        assert (await talk.until(Result)).is_error
        assert not talk.wire.open_requests
