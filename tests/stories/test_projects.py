"""Stories of projects: from the command line, and with a Claude that is run by hand in a synced one."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from handraise.claude.locate import locate
from handraise.cli.main import main
from handraise.demo.pieces import Script, say, use
from handraise.demo.told import Told
from handraise.model.answers import Choice, Choices
from handraise.model.options import MODES
from handraise.model.tools import ASK_USER, qualified
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


def ask(told: Told) -> Script:
    told = yield [use(TOOL, question="Which?")]
    yield [say(f"{told.result().is_error}: {told.result().text}")]


async def handraise(yard: Yard, *words: str) -> Result:
    """The command, as somebody types it in the project."""
    return await asyncio.to_thread(CliRunner().invoke, main, ["project", *words, "--state", str(yard.state)])


async def test_a_project_is_added_changed_and_listed(tmp_path: Path) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve():
        added = await handraise(yard, "add", str(yard.work), "mode=plan", "allowed_tools=Read,Bash(ls:*)", "--json")
        assert json.loads(added.output)["options"]["mode"] == "plan"
        await handraise(yard, "set", "work", "ask_user_timeout=60", "patience.question=120", "mode=")
        listed = await handraise(yard, "list", "--json")

        assert json.loads(listed.output)["options"] == {
            "allowed_tools": ["Read", "Bash(ls:*)"],
            "ask_user_timeout": 60,
            "patience": {"question": 120.0, "permission": None, "plan": None, "form": None, "trust": None},
        }
        shown = await handraise(yard, "list")
        assert "    patience.question = 120.0" in shown.output


async def test_rules_of_a_project_are_set_listed_obeyed_at_once_and_taken_away(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [use("Bash", command="touch one")]
        first = told.result().text
        told = yield [use("AskUserQuestion", questions=[QUESTION])]
        told = yield [use("Bash", command="touch two")]
        yield [say(f"{first} / {told.result().text}")]

    async with Yard(tmp_path, script) as yard, yard.serve() as served:
        desk = served.hub.desk
        await handraise(yard, "add", str(yard.work), f"rules={json.dumps([DENY, ALLOW])}")
        shown = (await handraise(yard, "list")).output
        assert f"    rules = {json.dumps([DENY, ALLOW])}" in shown
        assert [rule.id for rule in await desk.rules()] == ["project work#1", "project work#2"]
        session = (await desk.start("Begin.", "work")).session
        question = await next_ask(desk)
        [denied] = await desk.asks(state="answered", kind="permission")
        assert denied.why == "Rule project work#1 denies `touch one`."

        # The session runs: what is changed meanwhile holds from the next tool on.
        file = tmp_path / "rules.toml"
        file.write_text('[[rule]]\ndecision = "allow"\ncommand = "touch *"\nexpires_at = 2130-01-31T18:00:00Z\n')
        assert (await handraise(yard, "set", "work", f"rules=@{file}")).exit_code == 0
        await desk.answer(question.id, Choices((Choice(("A",)),)))
        await until_turn_ended(desk, session.id)
        assert (yard.work / "two").exists()
        assert not (yard.work / "one").exists()

        assert (await handraise(yard, "set", "work", "rules=")).exit_code == 0
        assert await desk.rules() == []
        changes = [entry.what for entry in await desk.audit() if entry.what.startswith("project")]
        assert changes == ["project added", "project changed", "project changed"]
        await desk.stop(session.id)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ('[{"decision": "deny", "comand": "ls"}]', "There is no key `comand`"),
        ('[{"decision": "deny", "comand": "ls"}]', "Perhaps `command` was meant"),
        ('[{"decision": "deny", "project": "other"}]', "There is no key `project`"),
        ('[{"decision": "permit"}]', "Invalid enum value 'permit'"),
        ('[{"decision": "allow"}]', "rules: number 1 would allow everything"),
        ('[{"decision": "deny", "command": "ls \'"}]', "a quote is not closed"),
        ('[{"decision": "deny", "expires_at": "2030-01-31T18:00:00"}]', "timezone"),
        ('{"decision": "deny"}', "Expected `array`"),
        ("deny ls", "rules must be a JSON list, or @FILE"),
        ("@nowhere.json", "nowhere.json cannot be read"),
    ],
)
async def test_rules_that_cannot_be_are_refused_with_the_reason(tmp_path: Path, rules: str, words: str) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve() as served:
        await handraise(yard, "add", str(yard.work))
        told = await handraise(yard, "set", "work", f"rules={rules}")

        assert told.exit_code != 0
        assert words in told.output
        assert (await served.hub.desk.projects())[0].rules == ()


async def test_a_file_of_rules_holds_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    async with Yard(tmp_path, ask) as yard, yard.serve():
        await handraise(yard, "add", str(yard.work))
        for text, words in (("[[rules]]\n", "nothing but [[rule]]"), ("{", "neither JSON nor TOML")):
            file.write_text(text)
            told = await handraise(yard, "set", "work", f"rules=@{file}")
            assert (told.exit_code, words in told.output) == (2, True)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("ask_user_timout=60", "Perhaps ask_user_timeout was meant"),
        ("ask_user_timeout=10", "ask_user_timeout must be from 30 to 900 seconds, not 10"),
        ("ask_user_timeout=soon", "ask_user_timeout must be a number"),
        ("mode=yolo", "mode must be one of default"),
        ("allowed_tools=Bash(ls", "is not a tool as Claude Code spells it"),
        ("patience.plan=1e300", "patience.plan must be from 1 second to a year"),
        ("cost_limit_usd=NaN", "cost_limit_usd must be a number"),
        ("cost_limit_usd=Infinity", "cost_limit_usd must be a number"),
        ("ask_user_enabled=perhaps", "ask_user_enabled must be true or false"),
        ("mode", "is not KEY=VALUE"),
    ],
)
async def test_a_value_that_cannot_be_is_refused_with_the_reason(tmp_path: Path, setting: str, words: str) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve():
        told = await handraise(yard, "add", str(yard.work), setting)

        assert told.exit_code != 0
        assert words in told.output
        assert json.loads((await handraise(yard, "list", "--json")).output or "[]") == []


async def test_the_api_names_the_nearest_key(tmp_path: Path) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve() as served:
        answered = await asyncio.to_thread(_post, yard.state, {"path": str(yard.work), "options": {"modell": "x"}})

        assert "There is no key `modell`" in answered
        assert "Perhaps `model` was meant." in answered
        assert await served.hub.desk.projects() == []


async def test_a_claude_that_is_run_by_hand_in_a_synced_project_raises_its_hand(tmp_path: Path) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve() as served:
        await handraise(yard, "add", str(yard.work))
        synced = await handraise(yard, "sync", "work")
        assert synced.output == "work: .mcp.json, .claude/settings.local.json, CLAUDE.md\n"
        path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        async with by_hand(yard, path) as agent:
            raised = await next_ask(served.hub.desk)
            assert raised.project == (await served.hub.desk.projects())[0].id
            await served.hub.desk.answer(raised.id, Choices((Choice(text="that one"),)))

            assert await agent.result() == "False: that one"
        undone = await handraise(yard, "sync", "--all", "--remove")
        assert undone.output == "work: .mcp.json, .claude/settings.local.json, CLAUDE.md\n"
        assert sorted(each.name for each in yard.work.iterdir() if each.is_file()) == []


async def test_a_file_that_cannot_be_parsed_is_left_alone_with_a_clear_error(tmp_path: Path) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve():
        await handraise(yard, "add", str(yard.work))
        (yard.work / ".mcp.json").write_text("{ // mine\n}")
        told = await handraise(yard, "sync", "work")

        assert told.exit_code == 4
        assert ".mcp.json is not JSON" in told.output
        assert (yard.work / ".mcp.json").read_text() == "{ // mine\n}"


async def test_one_project_that_cannot_be_synced_does_not_hold_up_the_others(tmp_path: Path) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve():
        for name in ("a", "b", "c"):
            (tmp_path / name).mkdir()
            await handraise(yard, "add", str(tmp_path / name))
        (tmp_path / "a" / "CLAUDE.md").write_text("<!-- handraise: begin -->\n")
        (tmp_path / "b").rmdir()
        told = await handraise(yard, "sync", "--all")

        assert told.exit_code == 4
        assert "a: CLAUDE.md has the marks of our section in disorder" in told.output
        assert f"b: There is no directory {tmp_path / 'b'}." in told.output
        assert "c: .mcp.json, .claude/settings.local.json, CLAUDE.md" in told.output
        assert sorted(each.name for each in (tmp_path / "a").iterdir()) == ["CLAUDE.md"]
        assert not (tmp_path / "b").exists()


async def test_the_doctor_shows_what_holds_in_a_project_and_where_it_comes_from(tmp_path: Path) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve():
        await handraise(yard, "add", str(yard.work), "ask_user_timeout=60")
        (yard.work / "below").mkdir()
        words = ["doctor", "--project", str(yard.work / "below"), "--json", "--state", str(yard.state)]
        told = await asyncio.to_thread(CliRunner().invoke, main, words)

        [found] = [each for each in json.loads(told.output)["settings"] if each["key"] == "ask.ask_user_timeout"]
        assert found == {"key": "ask.ask_user_timeout", "value": 60, "source": {"kind": "project", "name": "work"}}


async def test_the_modes_are_those_that_the_cli_knows(tmp_path: Path) -> None:
    words = (str(locate()), "--permission-mode", "yolo", "mcp", "list")
    told = await asyncio.create_subprocess_exec(*words, env={"HOME": str(tmp_path)}, stderr=asyncio.subprocess.PIPE)
    _, said = await told.communicate()
    choices = said.decode().partition("Allowed choices are ")[2].strip().rstrip(".").split(", ")

    # "manual" has the older name "default", which is not listed and still taken.
    assert {*choices, "default"} == set(MODES)


async def test_a_time_limit_of_the_project_holds_for_agents_in_it(tmp_path: Path) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve() as served:
        await handraise(yard, "add", str(tmp_path), "ask_user_timeout=120")
        async with yard.agent(yard.stdio(), f"--allowedTools={TOOL}"):
            raised = await next_ask(served.hub.desk)
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
    from handraise.cli.neighbour import Failed, Neighbour

    try:
        Neighbour(state).post("/api/projects", body)
    except Failed as error:
        return str(error)
    return ""
