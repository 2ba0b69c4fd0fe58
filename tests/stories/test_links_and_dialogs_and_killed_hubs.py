"""Stories of links and dialogs of Claude Code, and hubs that are killed: nothing is lost, and nothing comes twice."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from handraise.demo.model import ScriptedModel
from handraise.desk.remote import RemoteDesk
from handraise.model.actors import TheHub
from handraise.model.answers import Answer, Choice, Choices, Filled
from handraise.model.asks import Answered, Ask, Form, Question
from handraise.model.items import AskDelivered, AskOpened, AskSettled, Content, TurnEnded
from stories.house import seen
from stories.outsiders import next_ask
from stories.serving_house import HubChild, desk, serve, settle_in, stop_all, surroundings
from stories.test_dialogs import STRICT, answers_unless_strict
from stories.test_visiting_links import sign_in
from stories.timeline import only, texts, times

RULE = '\n[[rule]]\ndecision = "allow"\ntool = "mcp__links__sign_in"\n'


async def kill(hub: HubChild) -> None:
    hub.child.send_signal(signal.SIGKILL)
    await hub.child.wait()


async def open_still(owner: RemoteDesk, ask: Ask) -> Ask:
    """The one request that is open, after a hub was killed."""
    [found] = await owner.asks()
    assert (found.id, found.digest, found.body) == (ask.id, ask.digest, ask.body)
    return found


async def killed_with_it_open(
    tmp: Path, environ: dict[str, str], model: str | None, answer: Callable[[Ask], Answer]
) -> list[Content]:
    """A hub is killed while it asks, the next as soon as it was answered; the timeline of the third."""
    async with serve(tmp, environ) as first, desk(tmp) as owner:
        session = (await owner.start("Go.", str(tmp / "work"), model=model)).session
        ask = await next_ask(owner)
        await kill(first)
    async with serve(tmp, environ) as second, desk(tmp) as owner:
        found = await open_still(owner, ask)
        await owner.answer(found.id, answer(found), found.digest)
        await kill(second)
    async with serve(tmp, environ), desk(tmp) as owner:
        contents = await seen(owner, times(1, TurnEnded), session.id)
        settled = await owner.ask(ask.id)
        assert isinstance(settled.settlement, Answered)
        assert settled.settlement.answer == answer(ask)
        assert settled.delivered_at is not None
        assert await owner.asks() == []
    await stop_all(tmp, environ)
    assert about(ask, contents) == [AskOpened, AskSettled, AskDelivered]
    return contents


def about(ask: Ask, contents: list[Content]) -> list[type[Content]]:
    """What the timeline has about one request: others were answered by a rule."""
    opened = [AskOpened for each in only(AskOpened, contents) if each.ask["id"] == ask.id]
    settled = [AskSettled for each in only(AskSettled, contents) if each.ask == ask.id]
    return [*opened, *settled, *(AskDelivered for each in only(AskDelivered, contents) if each.ask == ask.id)]


async def test_a_dialog_is_answered_once_however_often_the_hub_is_killed(tmp_path: Path) -> None:
    settle_in(tmp_path)
    (tmp_path / "work").mkdir()

    def retry(ask: Ask) -> Answer:
        assert isinstance(ask.body, Question)
        return Choices((Choice((ask.body.questions[0].options[0].label,)),))

    async with ScriptedModel({"script": answers_unless_strict}) as model:
        environ = surroundings(tmp_path, model.url("script"))
        settings = tmp_path / "home" / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"switchModelsOnFlag": False}))
        contents = await killed_with_it_open(tmp_path, environ, STRICT, retry)
        assert texts(contents).count("claude-opus-4-8 answers.") == 1
        assert model.errors == []


def link_server(tmp: Path) -> Path:
    """Claude knows the server of links; returns the pipe that reports what was completed."""
    settle_in(tmp, RULE)
    (tmp / "work").mkdir()
    (tmp / "home").mkdir()
    pipe = tmp / "completed"
    os.mkfifo(pipe)
    arguments = [str(Path(__file__).with_name("link_server.py")), str(pipe)]
    server = {"type": "stdio", "command": sys.executable, "args": arguments, "alwaysLoad": True}
    (tmp / "home" / ".claude.json").write_text(json.dumps({"mcpServers": {"links": server}}))
    return pipe


async def test_a_link_is_answered_once_however_often_the_hub_is_killed(tmp_path: Path) -> None:
    link_server(tmp_path)
    async with ScriptedModel({"script": sign_in}) as model:
        environ = surroundings(tmp_path, model.url("script"))
        contents = await killed_with_it_open(tmp_path, environ, None, lambda _: Filled("decline"))
        assert texts(contents) == ['The tool: {"action": "decline"}']
        assert model.errors == []


async def test_a_link_that_is_completed_after_a_kill_is_settled_once_by_the_next_hub(tmp_path: Path) -> None:
    pipe = link_server(tmp_path)
    async with ScriptedModel({"script": sign_in}) as model:
        environ = surroundings(tmp_path, model.url("script"))
        async with serve(tmp_path, environ) as first, desk(tmp_path) as owner:
            session = (await owner.start("Go.", str(tmp_path / "work"))).session
            ask = await next_ask(owner)
            assert isinstance(ask.body, Form)
            await kill(first)
        pipe.write_text("link-1\n")
        async with serve(tmp_path, environ), desk(tmp_path) as owner:
            contents = await seen(owner, times(1, TurnEnded), session.id)
            settled = await owner.ask(ask.id)
            assert isinstance(settled.settlement, Answered)
            assert settled.settlement.by == TheHub()
            assert texts(contents) == ['The tool: {"action": "accept"}']
        await stop_all(tmp_path, environ)
        assert about(ask, contents) == [AskOpened, AskSettled, AskDelivered]
        assert model.errors == []
