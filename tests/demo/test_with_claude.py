"""The real Claude Code does what scripts say."""

from collections.abc import AsyncIterator
from pathlib import Path

from demo.real_claude import Frame, blocks, result, run_claude, talk_with_claude, texts
from handraise.demo import Conversation, Script, ScriptedModel, agent, cut, error, fail, hold, say, think, use

UNASKED = ("--permission-mode", "bypassPermissions")


async def turn(frames: AsyncIterator[Frame]) -> list[Frame]:
    """What Claude says until a turn is over."""
    heard: list[Frame] = []
    async for frame in frames:
        heard.append(frame)
        if frame["type"] == "result":
            return heard
    raise AssertionError(f"no result: {heard}")


async def test_claude_does_what_the_script_says_turn_after_turn(tmp_path: Path) -> None:
    def scout(conversation: Conversation) -> Script:
        place = conversation.text.removeprefix("Look ")
        conversation = yield [use("Bash", command=f"echo seen {place}", description="Look")]
        yield [say(f"I have {conversation.result().text}.")]

    def script(conversation: Conversation) -> Script:
        conversation = yield [say("one")]
        conversation = yield [say(f"two, after {conversation.text.splitlines()[-1]}")]
        conversation = yield [think("A greeting."), say(f"You said: {conversation.text}")]
        conversation = yield [
            use("Bash", command="echo heard", description="Echo"),
            use("Read", file_path=f"{conversation.directory}/note.txt"),
            use("Bash", command="exit 3", description="Fail"),
        ]
        echo, note, failed = conversation.results
        conversation = yield [say(f"{echo.text}, {'remember' in note.text}, {failed.is_error}")]
        conversation = yield [fail(529, "overloaded_error")]
        conversation = yield [say(f"Better. You said: {conversation.text}")]
        conversation = yield [cut()]
        conversation = yield [say("first half,"), cut()]
        conversation = yield [say("second half,"), error()]
        conversation = yield [say("end")]
        conversation = yield [agent("north", "Look north", scout), agent("south", "Look south", scout)]
        north, south = conversation.results
        conversation = yield [say(f"{'I have seen north.' in north.text}, {'I have seen south.' in south.text}")]
        conversation = yield [say("I am about to"), hold("thinking"), say("never heard")]
        yield [say(f"Instead: {conversation.text.splitlines()[-1]}")]

    (tmp_path / "note.txt").write_text("remember\n")
    async with (
        ScriptedModel({"script": script}) as model,
        talk_with_claude(model.url("script"), tmp_path, *UNASKED) as talk,
    ):
        heard = talk.frames()
        # A compaction does not move the script.
        for text in ("first", "/compact", "second"):
            talk.say(text)
        words: list[str] = []
        while "two, after second" not in words:
            words += texts(await turn(heard))
        assert words == ["one", "two, after second"]
        steps = [request for request in model.requests("script") if not request.is_side]
        assert len(steps) == 2 < len(model.requests("script"))

        talk.say("hello there")
        frames = await turn(heard)
        assert texts(frames) == ["You said: hello there"]
        assert result(frames)["result"] == "You said: hello there"
        assert [block["thinking"] for block in blocks(frames, "thinking")] == ["A greeting."]

        # It uses tools, and the script sees their results.
        talk.say("go")
        assert texts(await turn(heard)) == ["heard, True, True"]

        # It retries after a failure, and continues after a broken stream.
        talk.say("hello")
        frames = await turn(heard)
        assert texts(frames) == ["Better. You said: hello"]
        assert [frame["error_status"] for frame in frames if frame.get("subtype") == "api_retry"] == [529]
        talk.say("go on")
        frames = await turn(heard)
        assert texts(frames)[-1] == "end"
        assert result(frames)["is_error"] is False

        # Sub-agents play scripts of their own.
        talk.say("look around")
        assert texts(await turn(heard)) == ["True, True"]

        # A reply that was interrupted is not played again.
        talk.say("third")
        await model.held("thinking")
        talk.interrupt()
        talk.say("fourth")
        await turn(heard)
        assert result(await turn(heard))["result"] == "Instead: fourth"

        talk.hang_up()
        assert texts([frame async for frame in heard]) == []
        assert model.errors == []


async def test_a_report_comes_as_an_aside_and_a_resumed_claude_goes_on_in_the_same_script(tmp_path: Path) -> None:
    """Of a sub-agent in the background."""

    def scout(conversation: Conversation) -> Script:
        yield [say("I have seen it.")]

    def script(conversation: Conversation) -> Script:
        conversation = yield [agent("look", "Look around", scout, background=True)]
        conversation = yield [say("Meanwhile.")]
        conversation = yield [
            say(f"{conversation.text!r}, {any('I have seen it.' in aside for aside in conversation.asides)}")
        ]
        yield [say(f"two, after {conversation.text}")]

    async with ScriptedModel({"script": script}) as model:
        first = await run_claude(model.url("script"), tmp_path, "go", *UNASKED)
        again = await run_claude(model.url("script"), tmp_path, "back", "--resume", result(first)["session_id"])

    assert texts(first) == ["Meanwhile.", "'', True"]
    assert texts(again) == ["two, after back"]
    assert model.errors == []
