"""Stories: someone changes their mind while Claude works."""

import pytest

from handraise.demo.pieces import Script, hold, say, use
from handraise.demo.request import Conversation
from handraise.wire.connection import WasCancelled
from handraise.wire.frames import ControlCancel, Init, Lifecycle, Result, Status, User
from stories.bed import Bed, BedTalk, answered, parts


def write_and_hear(conversation: Conversation) -> Script:
    conversation = yield [use("Write", file_path=f"{conversation.directory}/note.txt", content="one")]
    yield [say(f"Heard: {conversation.system.splitlines()}")]


def think(conversation: Conversation) -> Script:
    conversation = yield [say("First,"), hold("thinking"), say("done.")]
    yield [say(f"Then: {conversation.text}")]


def write_never(conversation: Conversation) -> Script:
    conversation = yield [use("Write", file_path=f"{conversation.directory}/never.txt", content="never")]
    yield [say(f"You said: {conversation.text.splitlines()[-1]}")]


def begin_to_speak(conversation: Conversation) -> Script:
    yield [say("I am about to"), hold("speaking"), say("never heard")]
    yield [say("Here.")]


def write_with_a_model(conversation: Conversation) -> Script:
    conversation = yield [use("Write", file_path=f"{conversation.directory}/other.txt", content="one")]
    yield [say("Written.")]


def write_three(conversation: Conversation) -> Script:
    conversation = yield [use("Write", file_path=f"{conversation.directory}/one.txt", content="one")]
    conversation = yield [use("Write", file_path=f"{conversation.directory}/two.txt", content="two")]
    conversation = yield [say("Written.")]
    yield [use("Write", file_path=f"{conversation.directory}/three.txt", content="three")]
    yield [say("Two, then.")]


SCRIPT = parts(
    write_and_hear=write_and_hear,
    think=think,
    write_never=write_never,
    begin_to_speak=begin_to_speak,
    write_with_a_model=write_with_a_model,
    write_three=write_three,
)


async def test_what_is_said_during_a_tool_call_reaches_claude_with_the_tools_result(talk: BedTalk) -> None:
    await talk.say("write_and_hear")
    request_id, asked = await talk.until_asked()
    say_id = await talk.say("and mind the gap")
    await talk.until(Lifecycle, lambda text: (text.command_uuid, text.state) == (say_id, "queued"))
    await talk.allow(request_id, asked)
    echo = await talk.until(User, lambda text: text.uuid == say_id)

    assert echo.is_replay
    assert "mind the gap" in answered(await talk.until(Result))


async def test_what_is_said_during_the_last_reply_is_taken_up_after_it(bed: Bed, talk: BedTalk) -> None:
    await talk.say("think")
    await bed.model.held("thinking")
    say_id = await talk.say("two")
    await talk.until(Lifecycle, lambda text: (text.command_uuid, text.state) == (say_id, "queued"))
    bed.model.release("thinking")

    assert answered(await talk.until(Result)) == "done."
    echo = await talk.until(User, lambda text: text.uuid == say_id)
    assert echo.is_replay
    assert answered(await talk.until(Result)) == "Then: two"


async def test_an_interrupt_withdraws_what_is_open_and_nothing_is_written_back(bed: Bed, talk: BedTalk) -> None:
    await talk.say("write_never")
    request_id, asked = await talk.until_asked()
    await talk.want("interrupt")

    assert (await talk.until(ControlCancel)).request_id == request_id
    with pytest.raises(WasCancelled):
        await talk.allow(request_id, asked)
    stopped = await talk.until(Result)
    assert (stopped.is_error, stopped.subtype) == (True, "error_during_execution")
    await talk.say("something else")
    assert answered(await talk.until(Result)) == "You said: something else"
    assert not (bed.work / "never.txt").exists()
    assert request_id.encode() not in b"".join(
        line for line in talk.claude.folder.journal.read_bytes().splitlines() if b'"control_response"' in line
    )


async def test_an_interrupt_in_the_middle_of_a_reply_ends_the_turn(bed: Bed, talk: BedTalk) -> None:
    await talk.say("begin_to_speak")
    await bed.model.held("speaking")
    await talk.want("interrupt")

    assert (await talk.until_acknowledged("interrupt")).subtype == "success"
    assert (await talk.until(Result)).is_error
    await talk.say("Are you there?")
    assert answered(await talk.until(Result)) == "Here."


async def test_another_model_answers_from_the_next_request_on(bed: Bed, talk: BedTalk) -> None:
    await talk.want("set_model", model="claude-sonnet-4-5")
    await talk.until_acknowledged("set_model")
    before = len(bed.model.requests("script"))
    await talk.say("write_with_a_model")
    request_id, asked = await talk.until_asked()
    await talk.want("set_model", model="claude-haiku-4-5")
    assert (await talk.until_acknowledged("set_model")).subtype == "success"
    await talk.allow(request_id, asked)

    answered(await talk.until(Result))
    assert [each.model for each in bed.model.requests("script")[before:] if not each.is_side] == [
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
    ]
    await talk.want("set_model", model="default")
    await talk.until_acknowledged("set_model")
    await talk.say("write_with_a_model")
    await talk.deny((await talk.until_asked())[0], "Once is enough.")
    answered(await talk.until(Result))
    assert bed.model.requests("script")[-1].model not in ("claude-sonnet-4-5", "claude-haiku-4-5")


async def test_another_mode_holds_from_the_next_tool_on(bed: Bed, talk: BedTalk) -> None:
    await talk.say("write_three")
    request_id, asked = await talk.until_asked()
    await talk.want("set_permission_mode", mode="acceptEdits")
    acknowledged = await talk.until_acknowledged("set_permission_mode")
    assert acknowledged.response == {"mode": "acceptEdits"}
    await talk.allow(request_id, asked)
    answered(await talk.until(Result))
    assert (bed.work / "two.txt").read_text() == "two"

    await talk.want("set_permission_mode", mode="default")
    await talk.say("More.")
    assert (await talk.until(Init)).mode == "default"
    request_id, asked = await talk.until_asked()
    assert asked.tool_name == "Write"
    assert [contents.mode for contents in talk.heard if isinstance(contents, Status) and contents.mode] == [
        "acceptEdits",
        "default",
    ]
    await talk.deny(request_id, "Two are enough.")
    answered(await talk.until(Result))


async def test_a_mode_that_does_not_exist_is_refused_with_the_reason(talk: BedTalk) -> None:
    await talk.want("set_permission_mode", mode="sideways")
    refused = await talk.until_acknowledged("set_permission_mode")
    assert refused.subtype == "error"
    assert refused.error
