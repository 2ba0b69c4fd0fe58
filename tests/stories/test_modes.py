"""Stories of permission modes: one that the settings choose, and one that a person chooses during a session."""

import asyncio
from pathlib import Path

from click.testing import CliRunner

from handraise.cli.main import main
from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.desk.interface import Desk
from handraise.model.answers import Allow, Choice, Choices
from handraise.model.asks import Ask
from handraise.model.items import Preview, TurnEnded
from stories.outsiders import Yard
from stories.serving_house import DEADLINE, desk, serve, settle_in, surroundings

QUESTION = {
    "question": "Which?",
    "header": "Which",
    "options": [{"label": "A", "description": "one"}, {"label": "B", "description": "two"}],
    "multiSelect": False,
}


def write_three(conversation: Conversation) -> Script:
    for name in ("one", "two"):
        conversation = yield [use("Write", file_path=f"{conversation.directory}/{name}.txt", content=name)]
    conversation = yield [say("Two are written.")]
    conversation = yield [use("Write", file_path=f"{conversation.directory}/three.txt", content="three")]
    yield [say("Done.")]


def touch_and_ask(conversation: Conversation) -> Script:
    yield [use("Bash", command="touch made")]
    conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
    yield [say(conversation.result().text)]


async def test_a_mode_that_is_chosen_during_a_session_holds_from_the_next_tool_on(tmp_path: Path) -> None:
    async with Yard(tmp_path, write_three) as yard, yard.serve() as served:
        owner = served.hub.desk
        session = (await owner.start("Write.", str(yard.work))).session
        first = await next_ask(owner)
        await change_mode(yard, session.id, "acceptEdits")
        await owner.answer(first.id, Allow())
        await turns_ended(owner, 1)
        assert (yard.work / "two.txt").exists()
        assert (await owner.session(session.id)).session.mode == "acceptEdits"

        await change_mode(yard, session.id, "default")
        await owner.say(session.id, "And the third.")
        assert "three.txt" in str((await next_ask(owner)).body)
        await owner.stop(session.id)


async def change_mode(yard: Yard, session: str, mode: str) -> None:
    """As a person types it."""
    words = ["mode", session, mode, "--state", str(yard.state)]
    result = await asyncio.to_thread(CliRunner().invoke, main, words)
    assert result.exit_code == 0, result.output


async def test_with_dangerously_skip_permissions_nothing_is_asked_but_questions(tmp_path: Path) -> None:
    settle_in(tmp_path, "dangerously_skip_permissions = true\n")
    (tmp_path / "work").mkdir()
    async with ScriptedModel({"script": touch_and_ask}) as model:
        environ = {**surroundings(tmp_path, model.url("script")), "IS_SANDBOX": "1"}
        async with serve(tmp_path, environ, "--stop-sessions") as hub, desk(tmp_path) as owner:
            session = (await owner.start("Go on.", str(tmp_path / "work"))).session
            assert session.mode == "bypassPermissions"
            question = await next_ask(owner)

            assert question.kind == "question"
            assert (tmp_path / "work" / "made").exists()
            await owner.answer(question.id, Choices((Choice(("A",)),)))
            await turns_ended(owner, 1)
            assert [ask.kind for ask in await owner.asks(state=None)] == ["question"]
            await hub.stop()


async def next_ask(owner: Desk) -> Ask:
    async with asyncio.timeout(DEADLINE), owner.follow(0) as follower:
        async for _ in follower:
            for ask in await owner.asks():
                return ask
    raise AssertionError("the feed ended")


async def turns_ended(owner: Desk, count: int) -> None:
    ended = 0
    async with asyncio.timeout(DEADLINE), owner.follow(0) as follower:
        async for news in follower:
            ended += 0 if isinstance(news, Preview) else sum(isinstance(item.read(), TurnEnded) for item in news)
            if ended >= count:
                return
    raise AssertionError("the feed ended")
