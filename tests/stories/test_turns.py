"""Stories: someone sends a message, and Claude replies."""

import base64

from handraise.demo.pieces import Script, fail, say, think
from handraise.demo.request import Conversation
from handraise.wire.frames import (
    ApiRetry,
    Assistant,
    Init,
    Lifecycle,
    Result,
    StreamEvent,
    TextBlock,
    ThinkingBlock,
    User,
)
from stories.bed import Bed, BedTalk, answered, parts

# The smallest picture there is: one pixel.
PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c626001000000"
        "ffff03000006000557bfabd40000000049454e44ae426082"
    )
).decode()


def picture(data: str) -> dict[str, object]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def blocks_of(talk: BedTalk) -> list[object]:
    return [block for frame in talk.heard if isinstance(frame, Assistant) for block in frame.message.content]


def greet(conversation: Conversation) -> Script:
    yield [think("A greeting."), say(f"Good day, you said {conversation.text!r}.")]


def converse(conversation: Conversation) -> Script:
    conversation = yield [say(f"first: {conversation.text}")]
    yield [say(f"second: {conversation.text}")]


def look(conversation: Conversation) -> Script:
    yield [say(f"{conversation.text}: {[image.media_type for image in conversation.images]}")]


def overloaded(conversation: Conversation) -> Script:
    yield [fail(529, "overloaded_error", retry_after=0)]
    yield [say("Here I am.")]


def refused(conversation: Conversation) -> Script:
    yield [fail(403, "permission_error", "no such luck")]
    yield [say("Better.")]


SCRIPT = parts(greet=greet, converse=converse, look=look, overloaded=overloaded, refused=refused)


async def test_words_arrive_piece_by_piece_and_then_whole(bed: Bed, talk: BedTalk) -> None:
    say_id = await talk.say("greet")
    whole = answered(await talk.until(Result))

    assert whole == "Good day, you said 'greet'."
    assert blocks_of(talk) == [ThinkingBlock("A greeting."), TextBlock(whole)]
    events = [frame.event for frame in talk.heard if isinstance(frame, StreamEvent)]
    assert "".join(event.delta.text or "" for event in events if event.delta) == whole
    began = next(frame for frame in talk.heard if isinstance(frame, Init))
    assert began.cwd == str(bed.work)
    assert began.mode == "default"
    await talk.until(Lifecycle, lambda contents: (contents.command_uuid, contents.state) == (say_id, "completed"))
    contents = [frame.state for frame in talk.heard if isinstance(frame, Lifecycle) and frame.command_uuid == say_id]
    assert contents == ["queued", "started", "completed"]


async def test_a_conversation_goes_on_turn_after_turn_in_one_process(talk: BedTalk) -> None:
    await talk.say("converse")
    first = await talk.until(Result)
    await talk.say("two")
    second = await talk.until(Result)

    assert (answered(first), answered(second)) == ("first: converse", "second: two")
    assert first.session_id == second.session_id
    assert second.total_cost_usd > first.total_cost_usd


async def test_a_picture_is_shown_to_the_model_and_echoed(talk: BedTalk) -> None:
    say_id = await talk.say([{"type": "text", "text": "look"}, picture(PIXEL)])
    echo = await talk.until(User)

    assert answered(await talk.until(Result)) == "look: ['image/png']"
    assert (echo.is_replay, echo.uuid) == (True, say_id)
    assert PIXEL.encode() in talk.claude.folder.journal.read_bytes()


async def test_an_overloaded_model_is_tried_again_until_it_answers(talk: BedTalk) -> None:
    await talk.say("overloaded")
    retry = await talk.until(ApiRetry)

    assert (retry.attempt, retry.error_status) == (1, 529)
    assert answered(await talk.until(Result)) == "Here I am."


async def test_a_model_that_refuses_ends_the_turn_with_the_reason_and_the_next_one_goes_well(talk: BedTalk) -> None:
    await talk.say("refused")
    failed = await talk.until(Result)
    await talk.say("again?")

    # Claude calls even this a `success`.
    assert (failed.is_error, failed.subtype) == (True, "success")
    assert "no such luck" in (failed.result or "")
    assert answered(await talk.until(Result)) == "Better."
