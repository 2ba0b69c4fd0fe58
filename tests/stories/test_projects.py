"""Stories of projects: from the command line, and with a Claude that is run by hand in a synced one."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result

from handraise.claude.locate import locate
from handraise.cli.main import main
from handraise.demo.pieces import Script, say, use, wait
from handraise.demo.request import Conversation
from handraise.hub.desk import LocalDesk
from handraise.model.answers import Choice, Choices
from handraise.model.own_tools import ASK_USER, qualified
from handraise.model.projects import MODES
from stories.outsiders import Agent, Yard, next_ask, until_turn_ended

TOOL = qualified(ASK_USER)
DENY = {"decision": "deny", "command": "touch one"}
ALLOW = {"decision": "allow", "tool": "Bash", "command": "touch *"}
QUESTION = {
    "question": "Which?",
    "header": "Which",
    "options": [{"label": "A", "description": "one"}, {"label": "B", "description": "two"}],
    "multiSelect": False,
}


def ask(conversation: Conversation) -> Script:
    # Claude does not wait long for a server: on a busy machine the tool comes after its first requests.
    while TOOL not in conversation.tools:
        conversation = yield [wait(0.5), use("Read", file_path=f"{conversation.directory}/.mcp.json")]
    conversation = yield [use(TOOL, question="Which?")]
    yield [say(f"{conversation.result().is_error}: {conversation.result().text}")]


def touch_and_ask(conversation: Conversation) -> Script:
    conversation = yield [use("Bash", command="touch one")]
    first = conversation.result().text
    conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
    conversation = yield [use("Bash", command="touch two")]
    yield [say(f"{first} / {conversation.result().text}")]


def either(conversation: Conversation) -> Script:
    """One script for our own sessions, another for agents."""
    return (touch_and_ask if conversation.text == "Touch." else ask)(conversation)


class ServedProjects(NamedTuple):
    """A hub that serves. Each test has a project of its own in it, with the name of its directory."""

    yard: Yard
    desk: LocalDesk

    def directory(self) -> Path:
        return Path(mkdtemp(prefix="project-", dir=self.yard.tmp))


@pytest.fixture(scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServedProjects]:
    async with Yard(tmp_path_factory.mktemp("yard"), either) as yard, yard.serve() as serving:
        yield ServedProjects(yard, serving.hub.desk)


async def handraise(yard: Yard, *words: str) -> Result:
    """The command, as a person types it in the project."""
    return await asyncio.to_thread(CliRunner().invoke, main, ["project", *words, "--state", str(yard.state)])


RULES_THAT_CANNOT_BE = [
    ('[{"decision": "deny", "comand": "ls"}]', "Unknown field `comand`"),
    ('[{"decision": "deny", "comand": "ls"}]', "Did you mean `command`?"),
    ('[{"decision": "deny", "project": "other"}]', "Unknown field `project`"),
    ('[{"decision": "permit"}]', "Invalid enum value 'permit'"),
    ('[{"decision": "allow"}]', "rules: number 1 would allow everything"),
    ('[{"decision": "deny", "command": "ls \'"}]', "unclosed quote"),
    ('[{"decision": "deny", "expires_at": "2030-01-31T18:00:00"}]', "timezone"),
    ('{"decision": "deny"}', "Expected `array`"),
    ("deny ls", "rules must be a JSON list or @FILE"),
    ("@nowhere.json", "Can't read nowhere.json"),
]
VALUES_THAT_CANNOT_BE = [
    ("ask_user_timout=60", "Did you mean ask_user_timeout?"),
    ("ask_user_timeout=10", "ask_user_timeout must be from 30 to 900 seconds, not 10"),
    ("ask_user_timeout=soon", "ask_user_timeout must be a number"),
    ("mode=yolo", "mode must be one of default"),
    ("allowed_tools=Bash(ls", "isn't in Claude Code's notation"),
    ("patience.plan=1e300", "patience.plan must be from 1 second to a year"),
    ("cost_limit_usd=NaN", "cost_limit_usd must be a number"),
    ("cost_limit_usd=Infinity", "cost_limit_usd must be a number"),
    ("ask_user_enabled=perhaps", "ask_user_enabled must be true or false"),
    ("mode", "isn't KEY=VALUE"),
]


async def listed(served: ServedProjects, project: str) -> list[dict[str, Any]]:
    """What is listed of a project."""
    result = await handraise(served.yard, "list", "--json")
    return [each for each in map(json.loads, result.output.splitlines()) if each["name"] == project]


async def test_a_project_is_added_changed_and_listed(served: ServedProjects) -> None:
    work = served.directory()
    added = await handraise(served.yard, "add", str(work), "mode=plan", "allowed_tools=Read,Bash(ls:*)", "--json")
    assert json.loads(added.output)["options"]["mode"] == "plan"
    await handraise(served.yard, "set", work.name, "ask_user_timeout=60", "patience.question=120", "mode=")

    assert [each["options"] for each in await listed(served, work.name)] == [
        {
            "allowed_tools": ["Read", "Bash(ls:*)"],
            "ask_user_timeout": 60,
            "patience": {"question": 120.0, "permission": None, "plan": None, "form": None, "trust": None},
        }
    ]
    shown = await handraise(served.yard, "list")
    assert "    patience.question = 120.0" in shown.output


async def test_rules_of_a_project_are_set_listed_obeyed_at_once_and_taken_away(
    served: ServedProjects, tmp_path: Path
) -> None:
    desk, work = served.desk, served.directory()
    before = len(await desk.audit())
    await handraise(served.yard, "add", str(work), f"rules={json.dumps([DENY, ALLOW])}")
    shown = (await handraise(served.yard, "list")).output
    assert f"    rules = {json.dumps([DENY, ALLOW])}" in shown
    assert [rule.id for rule in await desk.rules()] == [f"project {work.name}#1", f"project {work.name}#2"]
    session = (await desk.start("Touch.", work.name)).session
    question = await next_ask(desk)
    [denied] = await desk.asks(state="answered", kind="permission", session=session.id)
    assert denied.why == f"Rule project {work.name}#1 denies `touch one`."

    # The session runs: what is changed meanwhile holds from the next tool on.
    file = tmp_path / "rules.toml"
    file.write_text('[[rule]]\ndecision = "allow"\ncommand = "touch *"\nexpires_at = 2130-01-31T18:00:00Z\n')
    assert (await handraise(served.yard, "set", work.name, f"rules=@{file}")).exit_code == 0
    await desk.answer(question.id, Choices((Choice(("A",)),)))
    await until_turn_ended(desk, session.id)
    assert (work / "two").exists()
    assert not (work / "one").exists()

    assert (await handraise(served.yard, "set", work.name, "rules=")).exit_code == 0
    assert await desk.rules() == []
    changes = [entry.what for entry in (await desk.audit())[before:] if entry.what.startswith("project")]
    assert changes == ["project added", "project changed", "project changed"]
    await desk.stop(session.id)


async def test_rules_that_cannot_be_are_refused_with_the_reason(served: ServedProjects, tmp_path: Path) -> None:
    work = served.directory()
    await handraise(served.yard, "add", str(work))
    for rules, words in RULES_THAT_CANNOT_BE:
        result = await handraise(served.yard, "set", work.name, f"rules={rules}")
        assert result.exit_code != 0, rules
        assert words in result.output
        assert [each.rules for each in await served.desk.projects() if each.name == work.name] == [()]

    # A file of rules holds nothing else.
    file = tmp_path / "rules.toml"
    for text, words in (("[[rules]]\n", "only [[rule]] tables"), ("{", "neither JSON nor TOML")):
        file.write_text(text)
        result = await handraise(served.yard, "set", work.name, f"rules=@{file}")
        assert (result.exit_code, words in result.output) == (2, True)


async def test_a_value_that_cannot_be_is_refused_with_the_reason(served: ServedProjects) -> None:
    work = served.directory()
    for setting, words in VALUES_THAT_CANNOT_BE:
        result = await handraise(served.yard, "add", str(work), setting)
        assert result.exit_code != 0, setting
        assert words in result.output
        assert await listed(served, work.name) == []


async def test_the_api_names_the_nearest_key(served: ServedProjects) -> None:
    work = served.directory()
    answered = await asyncio.to_thread(_post, served.yard.state, {"path": str(work), "options": {"modell": "x"}})

    assert "Unknown field `modell`" in answered
    assert "Did you mean `model`?" in answered
    assert work.name not in [each.name for each in await served.desk.projects()]


async def test_a_claude_that_is_run_by_hand_in_a_synced_project_raises_its_hand(tmp_path: Path) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve() as serving:
        await handraise(yard, "add", str(yard.work))
        synced = await handraise(yard, "sync", "work")
        assert synced.output == "work: .mcp.json, .claude/settings.local.json, CLAUDE.md\n"
        path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        async with by_hand(yard, path) as agent:
            raised = await next_ask(serving.hub.desk)
            assert raised.project == (await serving.hub.desk.projects())[0].id
            await serving.hub.desk.answer(raised.id, Choices((Choice(text="that one"),)))

            assert await agent.result() == "False: that one"
        undone = await handraise(yard, "sync", "--all", "--remove")
        assert undone.output == "work: .mcp.json, .claude/settings.local.json, CLAUDE.md\n"
        assert sorted(each.name for each in yard.work.iterdir() if each.is_file()) == []


async def test_a_file_that_cannot_be_parsed_is_left_alone_with_a_clear_error(served: ServedProjects) -> None:
    work = served.directory()
    await handraise(served.yard, "add", str(work))
    (work / ".mcp.json").write_text("{ // mine\n}")
    result = await handraise(served.yard, "sync", work.name)

    assert result.exit_code == 4
    assert ".mcp.json isn't valid JSON" in result.output
    assert (work / ".mcp.json").read_text() == "{ // mine\n}"


async def test_one_project_that_cannot_be_synced_does_not_hold_up_the_others(tmp_path: Path) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve():
        for name in ("a", "b", "c"):
            (tmp_path / name).mkdir()
            await handraise(yard, "add", str(tmp_path / name))
        (tmp_path / "a" / "CLAUDE.md").write_text("<!-- handraise: begin -->\n")
        (tmp_path / "b").rmdir()
        result = await handraise(yard, "sync", "--all")

        assert result.exit_code == 4
        assert "a: CLAUDE.md has the markers of our section in the wrong order" in result.output
        assert f"b: There is no directory {tmp_path / 'b'}." in result.output
        assert "c: .mcp.json, .claude/settings.local.json, CLAUDE.md" in result.output
        assert sorted(each.name for each in (tmp_path / "a").iterdir()) == ["CLAUDE.md"]
        assert not (tmp_path / "b").exists()


async def test_the_doctor_shows_what_holds_in_a_project_and_where_it_comes_from(served: ServedProjects) -> None:
    work = served.directory()
    await handraise(served.yard, "add", str(work), "ask_user_timeout=60")
    (work / "below").mkdir()
    words = ["doctor", "--project", str(work / "below"), "--json", "--state", str(served.yard.state)]
    result = await asyncio.to_thread(CliRunner().invoke, main, words)

    [found] = [each for each in json.loads(result.output)["settings"] if each["key"] == "ask.ask_user_timeout"]
    assert found == {"key": "ask.ask_user_timeout", "value": 60, "source": {"kind": "project", "name": work.name}}


async def test_the_modes_are_those_that_the_cli_knows(tmp_path: Path) -> None:
    words = (str(locate()), "--permission-mode", "yolo", "mcp", "list")
    result = await asyncio.create_subprocess_exec(*words, env={"HOME": str(tmp_path)}, stderr=asyncio.subprocess.PIPE)
    _, text = await result.communicate()
    choices = text.decode().partition("Allowed choices are ")[2].strip().rstrip(".").split(", ")

    # "manual" has the older name "default", which is not listed and still taken.
    assert {*choices, "default"} == set(MODES)


async def test_a_time_limit_of_the_project_holds_for_agents_in_it(tmp_path: Path) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve() as serving:
        await handraise(yard, "add", str(tmp_path), "ask_user_timeout=120")
        async with yard.agent(yard.stdio(), f"--allowedTools={TOOL}"):
            raised = await next_ask(serving.hub.desk)
            assert raised.expires_at is not None
            assert round((raised.expires_at - raised.opened_at).total_seconds()) == 120


def by_hand(yard: Yard, path: str) -> Any:
    """`claude -p` in the project, with nothing but what the project's files say."""
    return _ByHand(yard, path)


class _ByHand:
    def __init__(self, yard: Yard, path: str) -> None:
        self._yard = yard
        self._path = path

    async def __aenter__(self) -> Agent:
        self._process = await asyncio.create_subprocess_exec(
            *(locate(), "-p", "--output-format", "stream-json", "--verbose", "--", "Begin."),
            cwd=self._yard.work,
            env={**self._yard.environment, "PATH": self._path},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            limit=64 * 1024 * 1024,
        )
        return Agent(self._process)

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


def _post(state: Path, body: dict[str, Any]) -> str:
    from handraise.cli.client import HubClient, HubError

    try:
        HubClient(state).post("/api/projects", body)
    except HubError as error:
        return str(error)
    return ""
