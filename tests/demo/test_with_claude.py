"""The real Claude Code does what scripts say."""

from pathlib import Path

from demo.real_claude import blocks, result, run_claude, talk_with_claude, texts
from handraise.demo import Script, ScriptedModel, Told, agent, cut, error, fail, hold, say, think, use

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
            use("Bash", command="echo heard", description="Echo"),
            use("Read", file_path=f"{told.directory}/note.txt"),
            use("Bash", command="exit 3", description="Fail"),
        ]
        echo, note, failed = told.results
        yield [say(f"{echo.text}, {'remember' in note.text}, {failed.is_error}")]

    (tmp_path / "note.txt").write_text("remember\n")
    async with ScriptedModel({"script": script}) as model:
        frames = await run_claude(model.url("script"), tmp_path, "go", *UNASKED)

    assert texts(frames) == ["heard, True, True"]
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


async def test_the_report_of_a_sub_agent_in_the_background_comes_as_an_aside(tmp_path: Path) -> None:
    def scout(told: Told) -> Script:
        yield [say("I have seen it.")]

    def script(told: Told) -> Script:
        told = yield [agent("look", "Look around", scout, background=True)]
        told = yield [say("Meanwhile.")]
        yield [say(f"{told.text!r}, {any('I have seen it.' in aside for aside in told.asides)}")]

    async with ScriptedModel({"script": script}) as model:
        frames = await run_claude(model.url("script"), tmp_path, "go", *UNASKED)

    assert texts(frames) == ["Meanwhile.", "'', True"]
    assert model.errors == []


async def test_an_interrupted_reply_is_not_played_again(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [say("I am about to"), hold("thinking"), say("never heard")]
        yield [say(f"Instead: {told.text.splitlines()[-1]}")]

    results: list[str | None] = []
    async with ScriptedModel({"script": script}) as model, talk_with_claude(model.url("script"), tmp_path) as talk:
        talk.say("first")
        await model.held("thinking")
        talk.interrupt()
        talk.say("second")
        async for frame in talk.frames():
            if frame["type"] == "result":
                results.append(frame.get("result"))
                if len(results) == 2:
                    talk.hang_up()

    assert results[1] == "Instead: second"
    assert model.errors == []


async def test_a_compaction_does_not_move_the_script(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [say("one")]
        yield [say(f"two, after {told.text.splitlines()[-1]}")]

    async with ScriptedModel({"script": script}) as model, talk_with_claude(model.url("script"), tmp_path) as talk:
        for text in ("first", "/compact", "second"):
            talk.say(text)
        talk.hang_up()
        said = [frame async for frame in talk.frames()]

    assert texts(said) == ["one", "two, after second"]
    steps = [request for request in model.requests("script") if not request.is_side]
    assert len(steps) == 2 < len(model.requests("script"))


async def test_a_resumed_claude_goes_on_in_the_same_script(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [say("one")]
        yield [say(f"two, after {told.text}")]

    async with ScriptedModel({"script": script}) as model:
        first = await run_claude(model.url("script"), tmp_path, "hello")
        again = await run_claude(model.url("script"), tmp_path, "back", "--resume", result(first)["session_id"])

    assert texts(again) == ["two, after back"]
