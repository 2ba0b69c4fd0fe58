"""Two machines and one inbox: the real CLI on one, a person at the other, and PostgreSQL between them."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.desk.interface import Refused
from handraise.hub.desk import LocalDesk
from handraise.hub.hub import Hub, HubConfig, hub
from handraise.model.answers import Allow, Choice, Choices
from handraise.model.items import MachineChanged, SaidTaken, SessionChanged, TurnEnded
from handraise.model.projects import Options
from handraise.model.sessions import Session
from stories.house import next_ask, seen

SQLITE = Choices((Choice(("SQLite",)),))
QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def work(conversation: Conversation) -> Script:
    conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
    conversation = yield [
        say(f"Heard: {conversation.result().text}"),
        use("Bash", command=f"touch {conversation.directory}/made", description="Touch a file"),
    ]
    conversation = yield [say("Touched.")]
    while True:
        conversation = yield [say(f"You said: {conversation.text}")]


async def test_a_session_on_one_machine_is_run_from_the_other(tmp_path: Path, database: str) -> None:
    (tmp_path / "home").mkdir()
    work_there = tmp_path / "work"
    work_there.mkdir()
    async with ScriptedModel({"script": work}) as model:
        variables = environment(model.url("script"), str(tmp_path / "home"))

        def opened(name: str, limit: int = 8) -> AbstractAsyncContextManager[Hub]:
            config = HubConfig(
                tmp_path / name, locate(), variables, database=database, machine_name=name, limit=limit, beat=0.2
            )
            return hub(config)

        async with opened("laptop", limit=0) as laptop:
            desk = laptop.desk
            async with opened("build-2") as build:
                project = await build.desk.add_project(str(work_there), "app", Options())
                started = (await desk.start("work", "app", machine="build-2")).session
                ask = await next_ask(desk, started)
                await desk.answer(ask.id, SQLITE)
                permission = await next_ask(desk, started, {ask.id})
                assert permission.machine == build.machine.id

            # The machine is away, and its Claude runs on: the answer is stored, and delivered when it returns.
            await seen(desk, lambda each: isinstance(each, MachineChanged) and each.machine["away_since"] is not None)
            await desk.answer(permission.id, Allow())
            message = await desk.say(started.id, "And then?")
            with pytest.raises(Refused, match="Machine `build-2` is away"):
                await desk.interrupt(started.id)
            assert not (work_there / "made").exists()

            async with opened("build-2") as build:
                await seen(desk, lambda each: isinstance(each, TurnEnded), started.id)
                await seen(desk, lambda each: each == SaidTaken(message.id), started.id)
                assert (work_there / "made").exists()
                assert (await desk.ask(permission.id)).delivered_at is not None
                assert (await desk.session(started.id)).session.project == project.id
                await _stopped(desk, started)
            assert model.errors == []


async def _stopped(desk: LocalDesk, session: Session) -> None:
    after = await desk.newest()
    await desk.stop(session.id)
    await seen(desk, lambda each: isinstance(each, SessionChanged) and each.phase == "ended", session.id, after)
