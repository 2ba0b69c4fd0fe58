"""The real Claude Code does what scripts say."""

from pathlib import Path

from demo.real_claude import blocks, result, run_claude, texts
from handraise.demo import Script, ScriptedModel, Told, agent, cut, error, fail, say, think, use

UNASKED = ("--permission-mode", "bypassPermissions")


async def test_claude_says_what_the_script_says(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        yield [think("A greeting."), say(f"You said: {told.text}")]

    async with ScriptedModel({"script": script}) as model:
        frames = await run_claude(model.url("script"), tmp_path, "hello there")

    assert texts(frames) == ["You said: hello there"]
    assert result(frames)["result"] == "You said: hello there"
    assert [block["thinking"] for block in blocks(frames, "thinking")] == ["A greeting."]
    assert model.errors == []


async def test_claude_uses_tools_and_the_script_sees_what_came_of_them(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [
            use("Bash", command="sleep 0.2; echo slow", description="Be slow"),
            use("Read", file_path=f"{told.directory}/note.txt"),
            use("Bash", command="exit 3", description="Fail"),
        ]
        slow, note, failed = told.results
        yield [say(f"{slow.text}, {'remember' in note.text}, {failed.is_error}")]

    (tmp_path / "note.txt").write_text("remember\n")
    async with ScriptedModel({"script": script}) as model:
        frames = await run_claude(model.url("script"), tmp_path, "go", *UNASKED)

    assert texts(frames) == ["slow, True, True"]
    assert model.errors == []


async def test_claude_tries_again_after_a_failure(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        yield [fail(529, "overloaded_error")]
        yield [say(f"Better. You said: {told.text}")]

    async with ScriptedModel({"script": script}) as model:
        frames = await run_claude(model.url("script"), tmp_path, "hello")

    assert texts(frames) == ["Better. You said: hello"]
    assert [f["error_status"] for f in frames if f.get("subtype") == "api_retry"] == [529]


async def test_claude_goes_on_after_a_stream_that_broke(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        yield [cut()]
        yield [say("first half,"), cut()]
        yield [say("second half,"), error()]
        yield [say("end")]

    async with ScriptedModel({"script": script}) as model:
        frames = await run_claude(model.url("script"), tmp_path, "hello")

    assert texts(frames)[-1] == "end"
    assert result(frames)["is_error"] is False
    assert model.errors == []


async def test_sub_agents_play_scripts_of_their_own(tmp_path: Path) -> None:
    def scout(told: Told) -> Script:
        place = told.text.removeprefix("Look ")
        told = yield [use("Bash", command=f"echo seen {place}", description="Look")]
        yield [say(f"I have {told.result().text}.")]

    def script(told: Told) -> Script:
        told = yield [agent("north", "Look north", scout), agent("south", "Look south", scout)]
        north, south = told.results
        yield [say(f"{'I have seen north.' in north.text}, {'I have seen south.' in south.text}")]

    async with ScriptedModel({"script": script}) as model:
        frames = await run_claude(model.url("script"), tmp_path, "go", *UNASKED)

    assert texts(frames) == ["True, True"]
    assert model.errors == []


async def test_a_resumed_claude_goes_on_in_the_same_script(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [say("one")]
        yield [say(f"two, after {told.text}")]

    async with ScriptedModel({"script": script}) as model:
        first = await run_claude(model.url("script"), tmp_path, "hello")
        again = await run_claude(model.url("script"), tmp_path, "back", "--resume", result(first)["session_id"])

    assert texts(again) == ["two, after back"]
