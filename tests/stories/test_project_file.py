"""Stories of `.handraise.toml`: what a directory's own file says holds in a hub as a person starts it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handraise.demo.model import EACH_SESSION, ScriptedModel
from handraise.demo.pieces import Script, Scripted, say, use
from handraise.demo.told import Told
from handraise.desk.interface import Desk
from handraise.model.answers import Deny
from handraise.model.asks import Answered, Ask, Kind
from handraise.model.projects import Options
from handraise.model.rules import ProjectRule
from handraise.model.sessions import Session
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


def touch_and_ask(told: Told) -> Script:
    assert qualified(ASK_USER) not in told.tools
    assert "Speak softly." in told.system
    yield [use("Bash", command="touch made")]
    yield [use("AskUserQuestion", questions=[QUESTION])]
    yield [say("Done.")]


@asynccontextmanager
async def served(tmp_path: Path, settings: str, script: Scripted) -> AsyncIterator[Desk]:
    """The owner's desk in a hub with these settings; each session plays the script from its beginning."""
    settle_in(tmp_path, settings)
    async with ScriptedModel({"script": script}) as model:
        environ = surroundings(tmp_path, model.url("script", EACH_SESSION))
        async with serve(tmp_path, environ, "--stop-sessions") as hub, desk(tmp_path) as owner:
            yield owner
            await hub.stop()
        assert model.errors == []


@pytest.fixture(scope="module")
async def allowing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    """A hub whose settings allow what its sessions do."""
    async with served(tmp_path_factory.mktemp("served"), ALLOWS, touch) as owner:
        yield owner


async def test_a_directorys_own_file_denies_what_the_settings_allow(tmp_path: Path, allowing: Desk) -> None:
    for name, is_project in (("project", True), ("directory", False)):
        work = lay_out(tmp_path / name, DENIES)
        if is_project:
            await allowing.add_project(str(work), f"denying {name}", Options())
        asked = await until_answered(allowing, await begin(allowing, work))

        assert isinstance(asked.settlement, Answered)
        assert asked.settlement.answer == Deny("Nothing is made here.")
        assert asked.why == "Rule .handraise.toml#1 denies `touch made`."
        assert not (work / "made").exists()


async def test_a_directorys_own_file_cannot_allow_and_until_it_is_mended_a_person_is_asked(
    tmp_path: Path, allowing: Desk
) -> None:
    session = await begin(allowing, lay_out(tmp_path / "work", ALLOWS))
    asked = await next_ask(allowing, session, "permission")

    assert "[[rule]] 1 must not allow anything" in asked.why


async def test_every_option_of_a_directorys_own_file_reaches_its_sessions(tmp_path: Path) -> None:
    own = (
        'mode = "plan"\nmodel = "claude-haiku-4-5"\nallowed_tools = []\nappend_system_prompt = "Speak softly."\n'
        'ask_user_enabled = false\n[patience]\nquestion = "for ever"\n'
    )
    settings = 'allowed_tools = ["Bash"]\n[ask.patience]\nquestion = 60\n'
    async with served(tmp_path, settings, touch_and_ask) as owner:
        for name, is_project in (("project", True), ("directory", False)):
            work = lay_out(tmp_path / name, own)
            if is_project:
                await owner.add_project(str(work), name, Options())
            begun = await begin(owner, work)
            assert (begun.mode, begun.model) == ("plan", "claude-haiku-4-5")
            permission = await next_ask(owner, begun, "permission")
            await owner.answer(permission.id, Deny("no"))

            assert (await next_ask(owner, begun, "question")).expires_at is None


async def test_below_a_projects_directory_its_file_and_its_rules_hold(tmp_path: Path, allowing: Desk) -> None:
    """And what the owner set for the project is over its file."""
    work = lay_out(tmp_path / "work", 'mode = "plan"\nmodel = "claude-haiku-4-5"\n')
    (work / "below").mkdir()
    (tmp_path / "link").symlink_to(work)
    rules = (ProjectRule("deny", command="touch *", message="Not in the shop."),)
    project = await allowing.add_project(str(work), "shop", Options(mode="acceptEdits", rules=rules))
    for where in ("work/below", "work/", "link/below"):
        begun = (await allowing.start("Begin.", f"{tmp_path}/{where}")).session
        assert (begun.project, begun.mode, begun.model) == (project.id, "acceptEdits", "claude-haiku-4-5")
        asked = await until_answered(allowing, begun)

        assert isinstance(asked.settlement, Answered)
        assert asked.settlement.answer == Deny("Not in the shop.")


def lay_out(work: Path, own: str) -> Path:
    """A directory with a file of its own."""
    work.mkdir()
    (work / ".handraise.toml").write_text(own)
    return work


async def begin(owner: Desk, work: Path) -> Session:
    return (await owner.start("Begin.", str(work))).session


async def next_ask(owner: Desk, session: Session, kind: Kind) -> Ask:
    async with asyncio.timeout(DEADLINE), owner.follow(0, session.id) as follower:
        async for _ in follower:
            for ask in await owner.asks(kind=kind, session=session.id):
                return ask
    raise AssertionError("the feed ended")


async def until_answered(owner: Desk, session: Session) -> Ask:
    async with asyncio.timeout(DEADLINE), owner.follow(0, session.id) as follower:
        async for _ in follower:
            for ask in await owner.asks(state="answered", session=session.id):
                return ask
    raise AssertionError("the feed ended")
