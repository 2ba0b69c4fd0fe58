"""Stories of `.handraise.toml`: what a directory's own file says holds in a hub as a person starts it."""

import asyncio
from pathlib import Path

import pytest

from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.told import Told
from handraise.desk.interface import Desk
from handraise.model.answers import Deny
from handraise.model.asks import Answered, Ask, Kind
from handraise.model.projects import Options
from handraise.model.rules import ProjectRule
from handraise.model.tools import ASK_USER, qualified
from stories.serving_house import DEADLINE, desk, serve, settle_in, surroundings

DENIES = '[[rule]]\ndecision = "deny"\ncommand = "touch *"\nmessage = "Nothing is made here."\n'
QUESTION = {
    "question": "Which?",
    "header": "Which",
    "options": [{"label": "A", "description": "one"}, {"label": "B", "description": "two"}],
    "multiSelect": False,
}
ALLOWS = '[[rule]]\ndecision = "allow"\ncommand = "touch *"\n'


def touch(told: Told) -> Script:
    told = yield [use("Bash", command="touch made")]
    yield [say(told.result().text)]


@pytest.fixture(params=["a project", "a directory"])
def is_project(request: pytest.FixtureRequest) -> bool:
    return str(request.param) == "a project"


async def test_a_directorys_own_file_denies_what_the_settings_allow(tmp_path: Path, is_project: bool) -> None:
    work = lay_out(tmp_path, ALLOWS, DENIES)
    async with ScriptedModel({"touch": touch}) as model:
        environ = surroundings(tmp_path, model.url("touch"))
        async with serve(tmp_path, environ, "--stop-sessions") as hub, desk(tmp_path) as owner:
            if is_project:
                await owner.add_project(str(work), "work", Options())
            await owner.start("Begin.", str(work))
            asked = await until_answered(owner)

            assert isinstance(asked.settlement, Answered)
            assert asked.settlement.answer == Deny("Nothing is made here.")
            assert asked.why == "Rule .handraise.toml#1 denies `touch made`."
            assert not (work / "made").exists()
            await hub.stop()


async def test_a_directorys_own_file_cannot_allow_and_until_it_is_mended_a_person_is_asked(tmp_path: Path) -> None:
    work = lay_out(tmp_path, ALLOWS, ALLOWS)
    async with ScriptedModel({"touch": touch}) as model:
        environ = surroundings(tmp_path, model.url("touch"))
        async with serve(tmp_path, environ, "--stop-sessions") as hub, desk(tmp_path) as owner:
            await owner.start("Begin.", str(work))
            asked = await next_ask(owner, "permission")

            assert "[[rule]] 1 must not allow anything" in asked.why
            await hub.stop()


async def test_every_option_of_a_directorys_own_file_reaches_its_sessions(tmp_path: Path, is_project: bool) -> None:
    own = (
        'mode = "plan"\nmodel = "claude-haiku-4-5"\nallowed_tools = []\nappend_system_prompt = "Speak softly."\n'
        'ask_user_enabled = false\n[patience]\nquestion = "for ever"\n'
    )
    work = lay_out(tmp_path, 'allowed_tools = ["Bash"]\n[ask.patience]\nquestion = 60\n', own)

    def script(told: Told) -> Script:
        assert qualified(ASK_USER) not in told.tools
        assert "Speak softly." in told.system
        yield [use("Bash", command="touch made")]
        yield [use("AskUserQuestion", questions=[QUESTION])]
        yield [say("Done.")]

    async with ScriptedModel({"script": script}) as model:
        environ = surroundings(tmp_path, model.url("script"))
        async with serve(tmp_path, environ, "--stop-sessions") as hub, desk(tmp_path) as owner:
            if is_project:
                await owner.add_project(str(work), "work", Options())
            begun = (await owner.start("Begin.", str(work))).session
            assert (begun.mode, begun.model) == ("plan", "claude-haiku-4-5")
            permission = await next_ask(owner, "permission")
            await owner.answer(permission.id, Deny("no"))

            assert (await next_ask(owner, "question")).expires_at is None
            await hub.stop()
        assert model.errors == []


async def test_what_the_owner_set_for_the_project_is_over_its_file(tmp_path: Path) -> None:
    work = lay_out(tmp_path, "", 'mode = "plan"\nmodel = "claude-haiku-4-5"\n')
    async with ScriptedModel({"touch": touch}) as model:
        environ = surroundings(tmp_path, model.url("touch"))
        async with serve(tmp_path, environ, "--stop-sessions") as hub, desk(tmp_path) as owner:
            await owner.add_project(str(work), "work", Options(mode="acceptEdits"))
            begun = (await owner.start("Begin.", str(work))).session

            assert (begun.mode, begun.model) == ("acceptEdits", "claude-haiku-4-5")
            await hub.stop()


@pytest.mark.parametrize("where", ["work/below", "work/", "link/below"])
async def test_below_a_projects_directory_its_file_and_its_rules_hold(tmp_path: Path, where: str) -> None:
    work = lay_out(tmp_path, ALLOWS, 'model = "claude-haiku-4-5"\n')
    (work / "below").mkdir()
    (tmp_path / "link").symlink_to(work)
    rules = (ProjectRule("deny", command="touch *", message="Not in the shop."),)
    async with ScriptedModel({"touch": touch}) as model:
        environ = surroundings(tmp_path, model.url("touch"))
        async with serve(tmp_path, environ, "--stop-sessions") as hub, desk(tmp_path) as owner:
            project = await owner.add_project(str(work), "work", Options(rules=rules))
            begun = (await owner.start("Begin.", f"{tmp_path}/{where}")).session
            assert (begun.project, begun.model) == (project.id, "claude-haiku-4-5")
            asked = await until_answered(owner)

            assert isinstance(asked.settlement, Answered)
            assert asked.settlement.answer == Deny("Not in the shop.")
            await hub.stop()


def lay_out(tmp_path: Path, settings: str, own: str) -> Path:
    settle_in(tmp_path, settings)
    work = tmp_path / "work"
    work.mkdir()
    (work / ".handraise.toml").write_text(own)
    return work


async def next_ask(owner: Desk, kind: Kind) -> Ask:
    async with asyncio.timeout(DEADLINE), owner.follow(0) as follower:
        async for _ in follower:
            for ask in await owner.asks(kind=kind):
                return ask
    raise AssertionError("the feed ended")


async def until_answered(owner: Desk) -> Ask:
    async with asyncio.timeout(DEADLINE), owner.follow(0) as follower:
        async for _ in follower:
            for ask in await owner.asks(state="answered"):
                return ask
    raise AssertionError("the feed ended")
