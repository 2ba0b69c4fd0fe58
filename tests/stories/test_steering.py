"""Stories: somebody changes their mind while Claude works."""

from pathlib import Path

import pytest

from handraise.demo.pieces import Script, hold, say, use
from handraise.demo.told import Told
from handraise.wire.connection import WasCancelled
from handraise.wire.frames import ControlCancel, Init, Lifecycle, Result, Status, User
from stories.bed import Bed, answered


async def test_what_is_said_during_a_tool_call_reaches_claude_with_the_tools_result(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [use("Write", file_path=f"{told.directory}/note.txt", content="one")]
        yield [say(f"Heard: {told.system.splitlines()}")]

    async with Bed(tmp_path, script=script) as bed:
        talk = await bed.start("script")
        await talk.say("Write.")
        request_id, asked = await talk.until_asked()
        say_id = await talk.say("and mind the gap")
        await talk.until(Lifecycle, lambda told: (told.command_uuid, told.state) == (say_id, "queued"))
        await talk.allow(request_id, asked)
        echo = await talk.until(User, lambda told: told.uuid == say_id)

        assert echo.is_replay
        assert "mind the gap" in answered(await talk.until(Result))


async def test_what_is_said_during_the_last_reply_is_taken_up_after_it(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [say("First,"), hold("thinking"), say("done.")]
        yield [say(f"Then: {told.text}")]

    async with Bed(tmp_path, script=script) as bed:
        talk = await bed.start("script")
        await talk.say("one")
        await bed.model.held("thinking")
        say_id = await talk.say("two")
        await talk.until(Lifecycle, lambda told: (told.command_uuid, told.state) == (say_id, "queued"))
        bed.model.release("thinking")

        assert answered(await talk.until(Result)) == "done."
        echo = await talk.until(User, lambda told: told.uuid == say_id)
        assert echo.is_replay
        assert answered(await talk.until(Result)) == "Then: two"


async def test_an_interrupt_withdraws_what_is_open_and_nothing_is_written_back(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [use("Write", file_path=f"{told.directory}/note.txt", content="never")]
        yield [say(f"You said: {told.text.splitlines()[-1]}")]

    async with Bed(tmp_path, script=script) as bed:
        talk = await bed.start("script")
        await talk.say("Write.")
        request_id, asked = await talk.until_asked()
        await talk.want("interrupt")

        assert (await talk.until(ControlCancel)).request_id == request_id
        with pytest.raises(WasCancelled):
            await talk.allow(request_id, asked)
        stopped = await talk.until(Result)
        assert (stopped.is_error, stopped.subtype) == (True, "error_during_execution")
        await talk.say("something else")
        assert answered(await talk.until(Result)) == "You said: something else"
        assert not (bed.work / "note.txt").exists()
        assert request_id.encode() not in b"".join(
            line for line in talk.claude.folder.journal.read_bytes().splitlines() if b'"control_response"' in line
        )


async def test_an_interrupt_in_the_middle_of_a_reply_ends_the_turn(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        yield [say("I am about to"), hold("thinking"), say("never heard")]
        yield [say("Here.")]

    async with Bed(tmp_path, script=script) as bed:
        talk = await bed.start("script")
        await talk.say("one")
        await bed.model.held("thinking")
        await talk.want("interrupt")

        assert (await talk.until_acknowledged("interrupt")).subtype == "success"
        assert (await talk.until(Result)).is_error
        await talk.say("Are you there?")
        assert answered(await talk.until(Result)) == "Here."


async def test_another_model_answers_from_the_next_request_on(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [use("Write", file_path=f"{told.directory}/note.txt", content="one")]
        yield [say("Written.")]

    async with Bed(tmp_path, script=script) as bed:
        talk = await bed.start("script", model="claude-sonnet-4-5")
        await talk.say("Write.")
        request_id, asked = await talk.until_asked()
        await talk.want("set_model", model="claude-haiku-4-5")
        assert (await talk.until_acknowledged("set_model")).subtype == "success"
        await talk.allow(request_id, asked)

        answered(await talk.until(Result))
        assert [each.model for each in bed.model.requests("script") if not each.is_side] == [
            "claude-sonnet-4-5",
            "claude-haiku-4-5",
        ]


async def test_another_mode_holds_from_the_next_tool_on(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [use("Write", file_path=f"{told.directory}/one.txt", content="one")]
        told = yield [use("Write", file_path=f"{told.directory}/two.txt", content="two")]
        told = yield [say("Written.")]
        yield [use("Write", file_path=f"{told.directory}/three.txt", content="three")]

    async with Bed(tmp_path, script=script) as bed:
        talk = await bed.start("script")
        await talk.say("Write.")
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
        assert (await talk.until_asked())[1].tool_name == "Write"
        assert [told.mode for told in talk.heard if isinstance(told, Status) and told.mode] == [
            "acceptEdits",
            "default",
        ]


async def test_a_mode_that_does_not_exist_is_refused_with_the_reason(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        yield [say("Never.")]

    async with Bed(tmp_path, script=script) as bed:
        talk = await bed.start("script")
        await talk.want("set_permission_mode", mode="sideways")
        refused = await talk.until_acknowledged("set_permission_mode")
        assert refused.subtype == "error"
        assert refused.error
