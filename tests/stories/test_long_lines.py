"""Stories: messages longer than the FIFO, and longer than any buffer."""

import base64
import random
import struct
import zlib
from pathlib import Path

import pytest

from handraise.claude.fifo import WANTED_SIZE
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.wire import mcp
from handraise.wire.frames import ControlResponse, Result, User
from stories import own_tool
from stories.bed import Bed, answered

MEGABYTE = 1_000_000
SIZES = pytest.mark.parametrize("many", [4, pytest.param(20, marks=pytest.mark.torture)])


def noise(width: int, height: int) -> bytes:
    """A picture that nothing can make smaller."""
    pixels = random.Random(1)
    rows = b"".join(b"\0" + pixels.randbytes(width * 3) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


@SIZES
async def test_a_tool_result_of_many_megabytes_goes_in_and_comes_back_as_one_line(tmp_path: Path, many: int) -> None:
    """And a picture that is longer than the FIFO, too, arrives whole after it."""
    shown: list[bytes] = []

    def script(conversation: Conversation) -> Script:
        conversation = yield [use("mcp__handraise__ask_user", question="How long?")]
        conversation = yield [say(f"{conversation.result().is_error}: {conversation.result().text}")]
        shown.extend(base64.b64decode(image.base64) for image in conversation.images)
        conversation = yield [say("I see.")]
        yield [say(f"And I hear: {conversation.text}")]

    async with Bed(tmp_path, script=script) as bed:
        tool = await own_tool.start(bed, "script")
        request_id, call = await tool.until_called()
        text = "many megabytes of it " * (many * MEGABYTE // 21 + 1)
        await tool.reply(request_id, mcp.tool_result(call.id, text))

        # Claude echoes our message.
        talk = tool.talk
        echo = await talk.until(ControlResponse, lambda conversation: conversation.response.request_id == request_id)
        assert echo.response.response["mcp_response"]["result"]["content"] == [{"type": "text", "text": text}]
        # To the model it gives the name of a file.
        heard = answered(await talk.until(Result))
        [record] = (bed.tmp / "home").rglob("tool-results/*")
        assert f"saved to {record}" in heard
        assert record.read_text() == text

        picture = base64.b64encode(noise(1000, 1000)).decode()
        assert len(picture) > 3 * WANTED_SIZE
        source = {"type": "base64", "media_type": "image/png", "data": picture}
        await talk.say([{"type": "text", "text": "Look"}, {"type": "image", "source": source}])
        # Sent immediately, but after the image: the next line waits until the long one is written.
        await talk.say("hello")
        assert answered(await talk.until(Result)) == "I see."
        assert answered(await talk.until(Result)) == "And I hear: hello"
        # Claude makes another picture of it, of the same size.
        assert struct.pack(">HH", 1000, 1000) in shown[0]


@SIZES
async def test_many_megabytes_that_somebody_says_are_echoed_as_one_line(tmp_path: Path, many: int) -> None:
    def script(conversation: Conversation) -> Script:
        yield [say("Short is better.")]

    async with Bed(tmp_path, script=script) as bed:
        talk = await bed.start("script")
        text = "on and on 🦉 " * (many * MEGABYTE // 15)
        say_id = await talk.say(text)

        echo = await talk.until(User, lambda conversation: conversation.uuid == say_id)
        assert echo.message.content == text
        assert (await talk.until(Result)).result == "Prompt is too long"
