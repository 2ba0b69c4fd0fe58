"""Stories of a `claude -p` that we did not start: it asks over stdio, over HTTP, and in a run."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from handraise.cli.client import HubClient
from handraise.demo.pieces import Script, Scripted, say, use
from handraise.demo.request import Conversation
from handraise.demo.scenarios import propose
from handraise.model.actors import ByRule
from handraise.model.agent_replies import NOBODY, NOBODY_ALLOWED
from handraise.model.answers import Allow, Approve, Choice, Choices, Deny, Revise
from handraise.model.asks import Answered, Ask, Permission, Plan, Question
from handraise.model.own_tools import APPROVAL_PROMPT, ASK_USER, qualified
from handraise.model.projects import Options, OwnFile, Patience
from handraise.model.rules import Rule
from handraise.serving.serve import RunningHub
from stories.outsiders import Yard, next_ask, until_settled

ALLOWED = f"--allowedTools={qualified(ASK_USER)}"
PROMPT_TOOL = f"--permission-prompt-tool={qualified(APPROVAL_PROMPT)}"
QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}
FILES = ("changed.txt", "denied.txt", "ruled.txt", "ruled-out.txt")


def asking(heard: list[str]) -> Scripted:
    """A model that asks in every possible way, and records what Claude sent it about each answer."""

    def script(conversation: Conversation) -> Script:
        ways = [
            use(qualified(ASK_USER), question="Which?", options=[{"label": "A"}, {"label": "B"}]),
            use(qualified(ASK_USER), question="Which now?", options=[{"label": "A"}, {"label": "B"}]),
            *(use("Write", file_path=f"{conversation.directory}/{name}", content="one\n") for name in FILES),
            use("AskUserQuestion", questions=[]),
            use("AskUserQuestion", questions=[QUESTION]),
            use(qualified(ASK_USER), question="Still there?"),
        ]
        for way in ways:
            conversation = yield [way]
            heard.append(f"{conversation.result().is_error}: {conversation.result().text}")
        yield [say("Nobody hears this.")]

    return script


async def way(yard: Yard, served: RunningHub, transport: str) -> tuple[dict[str, Any], dict[str, str]]:
    """How an agent reaches the hub: its server, and the variables that Claude passes to it."""
    if transport == "http":
        return await yard.over_http(served), {}
    if transport == "stdio":
        return yard.stdio(), {}
    await served.hub.desk.add_project(str(yard.work), "work", Options())
    run = await asyncio.to_thread(HubClient(yard.state).post, "/api/runs", {"project": "work"})
    return yard.stdio(yard.tmp / "nowhere"), {"ASK_USER_CONFIG": run["path"]}


@pytest.mark.parametrize("transport", ["stdio", "http", "run"])
async def test_an_agent_asks_in_every_way_and_reads_each_answer(tmp_path: Path, transport: str) -> None:
    def own_file(_: str) -> OwnFile:
        return OwnFile(rules=(Rule("own", "deny", path=f"{work}/ruled-out.txt", message="Nothing is written here."),))

    work = tmp_path / "work"
    heard: list[str] = []
    rules = [Rule("r", "allow", tool="Write", path=f"{work}/ruled*.txt")]
    async with Yard(tmp_path, asking(heard), rules=rules, own_file=own_file) as yard, AsyncExitStack() as agents:
        async with yard.serve() as first:
            desk = first.hub.desk
            port = int(first.base.rpartition(":")[2])
            server, variables = await way(yard, first, transport)
            agent = await agents.enter_async_context(yard.agent(server, ALLOWED, PROMPT_TOOL, variables=variables))
            asked = await next_ask(desk)
            assert (asked.asker, asked.session, asked.tool) == ("agent", None, ASK_USER)
            await desk.answer(asked.id, Choices((Choice(("B",)),)), asked.digest)
            restarted = await next_ask(desk)

        # The agent notices nothing of a hub that is restarted.
        async with yard.serve(port) as second:
            desk = second.hub.desk
            await desk.answer(restarted.id, Choices((Choice(("A",)),)))
            changed = await next_ask(desk)
            assert heard == ["False: User selected: B", "False: User selected: A"]
            assert (await desk.ask(asked.id)).delivered_at is not None

            assert isinstance(changed.body, Permission)
            assert changed.body.diff is not None
            await desk.answer(changed.id, Allow(input={**changed.body.input, "content": "two\n"}))
            denied = await next_ask(desk)
            assert heard[2].startswith("False: ")
            await desk.answer(denied.id, Deny("Not in this folder."))

            # A standing rule answers without a person, and the directory's own rules hold, too.
            question = await next_ask(desk)
            assert "Not in this folder." in heard[3]
            assert heard[4].startswith("False: ")
            assert "Nothing is written here." in heard[5]
            written = {name: (work / name).read_text() for name in FILES if (work / name).exists()}
            assert written == {"changed.txt": "two\n", "ruled.txt": "one\n"}
            answered = await desk.asks(state="answered")
            assert ruled(answered) == [f"{work}/ruled.txt", f"{work}/ruled-out.txt"]
            # An empty question is denied at once, and nobody saw it.  # lesson 14
            assert heard[6].startswith("True: ")
            assert len(answered) == 6
            assert len(await desk.asks(state=None)) == 7

            assert isinstance(question.body, Question)
            await desk.answer(question.id, Choices((Choice(("Postgres",)),)))
            last = await next_ask(desk)
            assert '"Which database?"="Postgres"' in heard[7]
            agent.process.kill()
            assert (await until_settled(desk, last.id)).state == "withdrawn"
        assert yard.model.errors == []


def ruled(asks: Sequence[Ask]) -> list[str]:
    """The files of those that a rule answered."""
    return [
        each.body.input["file_path"]
        for each in asks
        if isinstance(each.body, Permission)
        and isinstance(each.settlement, Answered)
        and isinstance(each.settlement.by, ByRule)
    ]


async def test_nobody_decides_in_time_and_nothing_is_allowed_and_a_plan_has_all_the_time(tmp_path: Path) -> None:
    def script(conversation: Conversation) -> Script:
        conversation = yield [use("Write", file_path=f"{conversation.directory}/a.txt", content="one\n")]
        first = conversation.result().text
        conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
        second = conversation.result()
        conversation = yield [use("EnterPlanMode")]
        conversation = yield from propose(conversation, "1. Look")
        third = conversation.result().text
        conversation = yield from propose(conversation, "1. Look\n2. Leap")
        yield [say(f"{first} / {second.is_error}: {second.text} / {third} / {conversation.result().text}")]

    options = Options(patience=Patience(question=1, permission=1))
    async with Yard(tmp_path, script, options=options) as yard, yard.serve() as served:
        desk = served.hub.desk
        # An unknown token opens nothing.
        wrong = {**await yard.over_http(served), "headers": {"Authorization": "Bearer nobody"}}
        async with yard.agent(yard.stdio(), PROMPT_TOOL, beside={"wrong": wrong}) as agent:
            sent_back = await until_asked(served, Plan)
            assert [ask.state for ask in await desk.asks(state=None)][:2] == ["expired", "expired"]
            assert not (yard.work / "a.txt").exists()
            await desk.answer(sent_back, Revise("And then?"))
            await desk.answer(await until_asked(served, Plan), Approve("acceptEdits"))

            heard = await agent.result()
            assert f"{NOBODY_ALLOWED} / True: {NOBODY}" in heard
            assert "And then?" in heard
            assert "approved" in heard.rpartition("And then?")[2]
            assert agent.servers() == {"handraise": "connected", "wrong": "failed"}


async def until_asked(served: RunningHub, kind: type[Plan]) -> str:
    """The next open ask of this kind."""
    others: set[str] = set()
    while True:
        ask = await next_ask(served.hub.desk, frozenset(others))
        if isinstance(ask.body, kind):
            return ask.id
        others.add(ask.id)


async def test_without_a_hub_or_without_a_server_the_agent_is_told_and_goes_on(tmp_path: Path) -> None:
    def script(conversation: Conversation) -> Script:
        missing = [name for name in conversation.tools if name.startswith("mcp__missing__")]
        conversation = yield [use(qualified(ASK_USER), question="Which?", options=[{"label": "A"}, {"label": "B"}])]
        yield [say(f"{missing} {conversation.result().is_error}: {conversation.result().text}")]

    missing = {"type": "stdio", "command": str(tmp_path / "no-such-program"), "args": ["mcp"]}
    async with Yard(tmp_path, script) as yard, yard.agent(yard.stdio(), ALLOWED, beside={"missing": missing}) as agent:
        assert (await agent.result()).startswith("[] True: No Handraise hub is running")
        assert agent.servers() == {"handraise": "connected", "missing": "failed"}
