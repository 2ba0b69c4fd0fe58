"""Stories of `.handraise.toml`: a directory's own settings apply in a hub as a person starts it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from handraise.demo.model import EACH_SESSION, ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.desk.interface import Desk
from handraise.model.answers import Choice, Choices, Deny
from handraise.model.asks import Answered, Ask, Kind
from handraise.model.items import Preview, TurnEnded
from handraise.model.own_tools import ASK_USER, qualified
from handraise.model.projects import Options
from handraise.model.rules import ProjectRule
from handraise.model.sessions import Session
from stories.serving_house import DEADLINE, desk, serve, settle_in, surroundings

DENIES = '[[rule]]\ndecision = "deny"\ncommand = "touch *"\nmessage = "Nothing is made here."\n'
QUESTION = {
    "question": "Which?",
    "header": "Which",
    "options": [{"label": "A", "description": "one"}, {"label": "B", "description": "two"}],
    "multiSelect": False,
}
ALLOWS = '[[rule]]\ndecision = "allow"\ncommand = "touch *"\n'


SETTINGS = f'allowed_tools = ["Bash"]\n{ALLOWS}[ask.patience]\nquestion = 60\n'
OPTIONS = (
    'mode = "plan"\nmodel = "claude-haiku-4-5"\nallowed_tools = []\nappend_system_prompt = "Speak softly."\n'
    'ask_user_enabled = false\n[patience]\nquestion = "for ever"\n'
)


def touch_and_ask(conversation: Conversation) -> Script:
    system, tools = conversation.system, conversation.tools
    yield [use("Bash", command="touch made")]
    yield [use("Bash", command="mkfifo pipe")]
    yield [use("AskUserQuestion", questions=[QUESTION])]
    yield [say(f"{qualified(ASK_USER) in tools} {'Speak softly.' in system}")]


@pytest.fixture(scope="module")
async def owner(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    """At a hub whose settings allow what its sessions do; each session plays the script from its beginning."""
    tmp = tmp_path_factory.mktemp("served")
    settle_in(tmp, SETTINGS)
    async with ScriptedModel({"script": touch_and_ask}) as model:
        environ = surroundings(tmp, model.url("script", EACH_SESSION))
        async with serve(tmp, environ, "--stop-sessions") as hub, desk(tmp) as owner:
            yield owner
            await hub.stop()
        assert model.errors == []


@pytest.mark.parametrize("is_project", [True, False], ids=["a project", "a directory"])
async def test_every_option_of_a_directorys_own_file_reaches_its_sessions(
    tmp_path: Path, owner: Desk, is_project: bool
) -> None:
    """And its rules deny what the settings allow."""
    work = lay_out(tmp_path / "work", OPTIONS + DENIES)
    if is_project:
        await owner.add_project(str(work), "every option", Options())
    begun = await begin(owner, work)
    assert (begun.mode, begun.model) == ("plan", "claude-haiku-4-5")
    denied = await until_answered(owner, begun)
    assert isinstance(denied.settlement, Answered)
    assert denied.settlement.answer == Deny("Nothing is made here.")
    assert denied.why == "Rule .handraise.toml#1 denies `touch made`."

    permission = await next_ask(owner, begun, "permission")
    await owner.answer(permission.id, Deny("no"))
    question = await next_ask(owner, begun, "question")
    assert question.expires_at is None
    assert not (work / "made").exists()
    await owner.answer(question.id, Choices((Choice(("A",)),)))
    assert await last_words(owner, begun) == "False True"


async def test_a_directorys_own_file_cannot_allow_and_until_it_is_mended_a_person_is_asked(
    tmp_path: Path, owner: Desk
) -> None:
    session = await begin(owner, lay_out(tmp_path / "work", ALLOWS))
    asked = await next_ask(owner, session, "permission")

    assert "[[rule]] 1 must not allow anything" in asked.why


async def test_below_a_projects_directory_its_file_and_its_rules_hold(tmp_path: Path, owner: Desk) -> None:
    """And what the owner set for the project is over its file."""
    work = lay_out(tmp_path / "work", 'mode = "plan"\nmodel = "claude-haiku-4-5"\n')
    (work / "below").mkdir()
    (tmp_path / "link").symlink_to(work)
    rules = (ProjectRule("deny", command="touch *", message="Not in the shop."),)
    options = Options(mode="acceptEdits", rules=rules, parallel=1)
    project = await owner.add_project(str(work), "shop", options)
    below = await begin(owner, work / "below")
    denied = await until_answered(owner, below)
    assert isinstance(denied.settlement, Answered)
    assert denied.settlement.answer == Deny("Not in the shop.")
    await next_ask(owner, below, "question")

    # The others wait for the first one, so they need no Claude to be what they are.
    others = [(await owner.start("Begin.", f"{tmp_path}/{where}")).session for where in ("work/", "link/below")]
    assert [each.phase for each in others] == ["queued", "queued"]
    for begun in (below, *others):
        assert (begun.project, begun.mode, begun.model) == (project.id, "acceptEdits", "claude-haiku-4-5")
        await owner.stop(begun.id)


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


async def last_words(owner: Desk, session: Session) -> str:
    async with asyncio.timeout(DEADLINE), owner.follow(0, session.id) as follower:
        async for news in follower:
            for item in () if isinstance(news, Preview) else news:
                if isinstance(contents := item.read(), TurnEnded):
                    return contents.result
    raise AssertionError("the feed ended")
