"""Stories: Claude has a plan, and someone decides about it."""

from pathlib import Path

import pytest

from handraise.demo.pieces import Script, Scripted, say, use
from handraise.demo.request import Conversation
from handraise.wire.frames import Result, Status
from stories.bed import Bed, BedTalk, answered, parts, read

ACCEPT_EDITS = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def plan(name: str) -> Scripted:
    def script(conversation: Conversation) -> Script:
        plan_file = conversation.plan_file
        conversation = yield [use("Write", file_path=plan_file, content="1. Write everything.")]
        conversation = yield [use("ExitPlanMode")]
        if conversation.result().is_error:
            conversation = yield [
                use("Write", file_path=plan_file, content=f"1. Minding: {conversation.result().text}")
            ]
            conversation = yield [use("ExitPlanMode")]
        approved = conversation.result().text
        conversation = yield [use("Write", file_path=f"{conversation.directory}/{name}", content="done")]
        yield [say(approved)]

    return script


SCRIPT = parts(revised=plan("revised.txt"), edited=plan("edited.txt"), careful=plan("careful.txt"))


@pytest.fixture
async def talk(bed: Bed) -> BedTalk:
    """In plan mode, whatever the mode was before."""
    talk = await bed.talk("script")
    await talk.want("set_permission_mode", mode="plan")
    await talk.until_acknowledged("set_permission_mode")
    return talk


async def test_a_plan_is_sent_back_and_then_approved_into_accepting_edits(bed: Bed, talk: BedTalk) -> None:
    await talk.say("revised")
    request_id, asked = await talk.until_asked()
    assert (asked.tool_name, read(asked.input)["plan"]) == ("ExitPlanMode", "1. Write everything.")
    await talk.deny(request_id, "Only one file, please.")

    request_id, asked = await talk.until_asked()
    assert read(asked.input)["plan"] == "1. Minding: Only one file, please."
    await talk.allow(request_id, asked, [ACCEPT_EDITS])

    # The edit that follows is not asked about.
    assert (await talk.until(Status, lambda text: text.mode is not None)).mode == "acceptEdits"
    approved = answered(await talk.until(Result))
    assert "approved your plan" in approved
    assert "edited by user" not in approved
    assert (bed.work / "revised.txt").read_text() == "done"
    assert not talk.wire.open_requests


async def test_a_plan_that_was_edited_is_the_plan(bed: Bed, talk: BedTalk) -> None:
    await talk.say("edited")
    request_id, asked = await talk.until_asked()
    await talk.allow(request_id, asked, [ACCEPT_EDITS], plan="1. Write one file only.")

    approved = answered(await talk.until(Result))
    assert "edited by user" in approved
    assert "1. Write one file only." in approved
    assert Path(read(asked.input)["planFilePath"]).read_text() == "1. Write one file only."


async def test_a_plan_approved_with_care_leaves_every_edit_to_be_asked_about(bed: Bed, talk: BedTalk) -> None:
    await talk.say("careful")
    request_id, asked = await talk.until_asked()
    await talk.allow(request_id, asked, [{**ACCEPT_EDITS, "mode": "default"}])

    request_id, asked = await talk.until_asked()
    assert asked.tool_name == "Write"
    await talk.deny(request_id, "I changed my mind.")
    answered(await talk.until(Result))
    assert not (bed.work / "careful.txt").exists()
