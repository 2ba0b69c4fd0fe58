"""Stories of `claude -p` that we did not start: it raises its hand over stdio, over HTTP, and in a run."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from handraise.cli.neighbour import Neighbour
from handraise.demo.pieces import Script, say, use
from handraise.demo.told import Told
from handraise.model.answers import Allow, Approve, Choice, Choices, Deny, Revise
from handraise.model.asks import Permission, Plan, Question
from handraise.model.projects import Options, OwnFile, Patience
from handraise.model.rules import Rule
from handraise.model.tools import APPROVAL_PROMPT, ASK_USER, qualified
from handraise.model.wording import NOBODY, NOBODY_ALLOWED
from handraise.serving import Serving
from stories.outsiders import Agent, Yard, next_ask, until_settled

ALLOWED = f"--allowedTools={qualified(ASK_USER)}"
PROMPT_TOOL = f"--permission-prompt-tool={qualified(APPROVAL_PROMPT)}"
QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def ask(told: Told) -> Script:
    told = yield [use(qualified(ASK_USER), question="Which?", options=[{"label": "A"}, {"label": "B"}])]
    yield [say(f"{told.result().is_error}: {told.result().text}")]


def write(told: Told) -> Script:
    told = yield [use("Write", file_path=f"{told.directory}/a.txt", content="one\n")]
    yield [say(f"{told.result().is_error}: {told.result().text}")]


@asynccontextmanager
async def reached(yard: Yard, transport: str, *options: str) -> AsyncIterator[tuple[Serving, Agent]]:
    async with yard, yard.serve() as served:
        server, variables = await way(yard, served, transport)
        async with yard.agent(server, *options, **variables) as agent:
            yield served, agent


async def way(yard: Yard, served: Serving, transport: str) -> tuple[dict[str, Any], dict[str, str]]:
    """How an agent is told to reach the hub: its server, and the variables that Claude passes on to it."""
    if transport == "http":
        return await yard.over_http(served), {}
    if transport == "stdio":
        return yard.stdio(), {}
    await served.hub.desk.add_project(str(yard.work), "work", Options())
    run = await asyncio.to_thread(Neighbour(yard.state).post, "/api/runs", {"project": "work"})
    return yard.stdio(yard.tmp / "nowhere"), {"ASK_USER_CONFIG": run["path"]}


@pytest.fixture(params=["stdio", "http", "run"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_an_agent_asks_and_reads_the_answer(tmp_path: Path, transport: str) -> None:
    async with reached(Yard(tmp_path, ask), transport, ALLOWED) as (served, agent):
        raised = await next_ask(served.hub.desk)
        assert (raised.asker, raised.session, raised.tool) == ("agent", None, ASK_USER)
        await served.hub.desk.answer(raised.id, Choices((Choice(("B",)),)), raised.digest)

        assert await agent.result() == "False: User selected: B"
        assert (await served.hub.desk.ask(raised.id)).delivered_at is not None


async def test_a_permission_is_asked_for_and_granted_with_another_input(tmp_path: Path, transport: str) -> None:
    yard = Yard(tmp_path, write)
    async with reached(yard, transport, PROMPT_TOOL) as (served, agent):
        raised = await next_ask(served.hub.desk)
        assert isinstance(raised.body, Permission)
        assert raised.body.diff is not None
        await served.hub.desk.answer(raised.id, Allow(input={**raised.body.input, "content": "two\n"}))

        assert (await agent.result()).startswith("False: ")
        assert (yard.work / "a.txt").read_text() == "two\n"


async def test_a_denial_reaches_the_agent_with_its_reason(tmp_path: Path, transport: str) -> None:
    async with reached(Yard(tmp_path, write), transport, PROMPT_TOOL) as (served, agent):
        await served.hub.desk.answer((await next_ask(served.hub.desk)).id, Deny("Not in this folder."))

        assert "Not in this folder." in await agent.result()


async def test_a_standing_rule_answers_without_a_person(tmp_path: Path, transport: str) -> None:
    yard = Yard(tmp_path, write, rules=[Rule("r", "allow", tool="Write")])
    async with reached(yard, transport, PROMPT_TOOL) as (served, agent):
        assert (await agent.result()).startswith("False: ")
        [asked] = await served.hub.desk.asks(state="answered")
        assert asked.settlement is not None
        assert (yard.work / "a.txt").read_text() == "one\n"


async def test_claudes_own_question_comes_as_a_question(tmp_path: Path, transport: str) -> None:
    def script(told: Told) -> Script:
        told = yield [use("AskUserQuestion", questions=[QUESTION])]
        yield [say(told.result().text)]

    async with reached(Yard(tmp_path, script), transport, PROMPT_TOOL) as (served, agent):
        raised = await next_ask(served.hub.desk)
        assert isinstance(raised.body, Question)
        await served.hub.desk.answer(raised.id, Choices((Choice(("Postgres",)),)))

        assert '"Which database?"="Postgres"' in await agent.result()


async def test_an_empty_question_is_denied_at_once_with_the_reason(tmp_path: Path) -> None:  # lesson 14
    def script(told: Told) -> Script:
        told = yield [use("AskUserQuestion", questions=[])]
        yield [say(f"{told.result().is_error}: {told.result().text}")]

    async with reached(Yard(tmp_path, script), "stdio", PROMPT_TOOL) as (served, agent):
        assert (await agent.result()).startswith("True: ")
        assert await served.hub.desk.asks(state=None) == []


async def test_a_plan_is_sent_back_once_and_then_approved(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        Path(told.plan_file).parent.mkdir(parents=True, exist_ok=True)
        Path(told.plan_file).write_text("1. Look\n")
        told = yield [use("ExitPlanMode", plan="1. Look")]
        first = told.result().text
        told = yield [use("ExitPlanMode", plan="1. Look\n2. Leap")]
        yield [say(f"{first} / {told.result().text}")]

    mode = "--permission-mode=plan"
    async with reached(Yard(tmp_path, script), "stdio", PROMPT_TOOL, mode) as (served, agent):
        raised = await next_ask(served.hub.desk)
        assert isinstance(raised.body, Plan)
        await served.hub.desk.answer(raised.id, Revise("And then?"))
        again = await next_ask(served.hub.desk)
        await served.hub.desk.answer(again.id, Approve("acceptEdits"))

        heard = await agent.result()
        assert "And then?" in heard
        assert "approved" in heard


async def test_an_agent_that_is_killed_has_withdrawn_its_question(tmp_path: Path, transport: str) -> None:
    async with reached(Yard(tmp_path, ask), transport, ALLOWED) as (served, agent):
        raised = await next_ask(served.hub.desk)
        agent.process.kill()

        assert (await until_settled(served.hub.desk, raised.id)).state == "withdrawn"


async def test_the_agent_notices_nothing_of_a_hub_that_is_restarted(tmp_path: Path, transport: str) -> None:
    async with Yard(tmp_path, ask) as yard:
        async with yard.serve() as first:
            port = int(first.base.rpartition(":")[2])
            server, variables = await way(yard, first, transport)
            agents = yard.agent(server, ALLOWED, **variables)
            agent = await agents.__aenter__()
            raised = await next_ask(first.hub.desk)
        try:
            async with yard.serve(port) as second:
                await second.hub.desk.answer(raised.id, Choices((Choice(("A",)),)))
                assert await agent.result() == "False: User selected: A"
        finally:
            await agents.__aexit__(None, None, None)


async def test_without_a_hub_the_agent_is_told_at_once_and_goes_on(tmp_path: Path) -> None:
    async with Yard(tmp_path, ask) as yard, yard.agent(yard.stdio(), ALLOWED) as agent:
        heard = await agent.result()
        assert heard.startswith("True: No hub of Handraise answers")


async def test_a_server_that_does_not_start_leaves_claude_without_the_tool_and_at_work(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        yield [say(f"{qualified(ASK_USER) in told.tools}, going on.")]

    missing = {"command": str(tmp_path / "no-such-program"), "args": ["mcp"]}
    async with Yard(tmp_path, script) as yard, yard.agent(missing, ALLOWED) as agent:
        assert await agent.result() == "False, going on."


async def test_nobody_decides_in_time_and_nothing_is_allowed(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [use("Write", file_path=f"{told.directory}/a.txt", content="one\n")]
        first = told.result().text
        told = yield [use("AskUserQuestion", questions=[QUESTION])]
        yield [say(f"{first} / {told.result().is_error}: {told.result().text}")]

    yard = Yard(tmp_path, script, options=Options(patience=Patience(question=1, permission=1)))
    async with reached(yard, "stdio", PROMPT_TOOL) as (served, agent):
        heard = await agent.result()
        assert f"{NOBODY_ALLOWED} / True: {NOBODY}" in heard
        assert [ask.state for ask in await served.hub.desk.asks(state=None)] == ["expired", "expired"]
        assert not (yard.work / "a.txt").exists()


async def test_an_agents_token_opens_nothing_but_the_counter(tmp_path: Path) -> None:
    async with Yard(tmp_path, ask) as yard, yard.serve() as served:
        server = await yard.over_http(served)
        wrong = {**server, "headers": {"Authorization": "Bearer nobody"}}
        async with yard.agent(wrong, ALLOWED) as agent:
            await agent.result()
            began = next(frame for frame in agent.frames if frame.get("subtype") == "init")
            assert [each["status"] for each in began["mcp_servers"]] == ["failed"]
        assert json.dumps(await served.hub.desk.asks(state=None)) == "[]"


async def test_a_directorys_own_rules_hold_for_agents_outside_too(tmp_path: Path) -> None:
    def own_file(_: str) -> OwnFile:
        return OwnFile(rules=(Rule("own", "deny", tool="Write", message="Nothing is written here."),))

    yard = Yard(tmp_path, write, rules=[Rule("r", "allow", tool="Write")], own_file=own_file)
    async with reached(yard, "stdio", PROMPT_TOOL) as (_, agent):
        assert "Nothing is written here." in await agent.result()
        assert not (yard.work / "a.txt").exists()
