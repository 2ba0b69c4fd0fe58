"""Where an external agent works, as far as it says so, and what applies there."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner, Result
from mcp import Client, StdioServerParameters

from api.served import PLAIN
from handraise.cli.main import main
from handraise.model.asks import Answered, Ask, Permission
from handraise.model.own_tools import APPROVAL_PROMPT
from handraise.model.projects import Options
from handraise.model.rules import ProjectRule
from handraise.serving.serve import RunningHub, ServeConfig, serving
from stories.outsiders import DEADLINE, RELAY

JSON = {"accept": "application/json, text/event-stream"}


@dataclass
class Street:
    """A hub, and an agent's own connection to it."""

    served: RunningHub
    agent: httpx2.AsyncClient

    async def prompt(self, tool: str, text: dict[str, Any], **query: str) -> httpx2.Response:
        """The response to an agent over HTTP; it waits until someone decides."""
        return await self.agent.post("/mcp", params=query, json=call(tool, text))

    async def raised(self, tool: str, text: dict[str, Any], **query: str) -> Ask:
        """The open ask, whose asker leaves again."""
        asking = asyncio.create_task(self.prompt(tool, text, **query))
        try:
            async with asyncio.timeout(DEADLINE), self.served.hub.desk.follow(0) as follower:
                async for _ in follower:
                    for ask in await self.served.hub.desk.asks():
                        return ask
            raise AssertionError("the feed ended")
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)


def call(tool: str, text: dict[str, Any]) -> dict[str, Any]:
    arguments = {"tool_name": tool, "input": text}
    params = {"name": APPROVAL_PROMPT, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def decided(text: httpx2.Response) -> dict[str, Any]:
    """The result of a call that a rule decided."""
    assert text.status_code == 200, text.text
    last = [line.removeprefix("data: ") for line in text.text.splitlines() if line.startswith("data: {")][-1]
    found: dict[str, Any] = json.loads(json.loads(last)["result"]["content"][0]["text"])
    return found


@asynccontextmanager
async def opened(tmp_path: Path, **settings: Any) -> AsyncIterator[Street]:
    async with serving(ServeConfig(tmp_path / "state", Path("/bin/false"), {}, port=0, **settings)) as served:
        made = await served.auth.make("agent", "agent", served.hub.desk.person, "test")
        bearer = {"authorization": f"Bearer {made.secret}", **JSON}
        async with httpx2.AsyncClient(base_url=served.base, headers=bearer, timeout=DEADLINE, verify=PLAIN) as agent:
            yield Street(served, agent)


@pytest.fixture
async def street(tmp_path: Path) -> AsyncIterator[Street]:
    async with opened(tmp_path) as found:
        yield found


async def test_who_names_no_project_is_nowhere_and_reads_nothing_unasked(street: Street) -> None:
    ask = await street.raised("Read", {"file_path": "/etc/hostname"})

    assert ask.project is None
    assert ask.why == "No rule allows `Read` on `/etc/hostname`, which is outside the project."
    assert isinstance(ask.body, Permission)
    assert ask.body.offers == ()


@pytest.mark.parametrize("text", [{"file_path": "notes.txt"}, {"file_path": "/dev/null"}, {}])
async def test_nowhere_holds_nothing_that_could_be_read(street: Street, text: dict[str, Any]) -> None:
    assert (await street.raised("Read", text)).state == "open"


@pytest.mark.parametrize("text", [{"pattern": "x"}, {"pattern": "x", "path": "."}])
async def test_nowhere_is_not_searched_unasked(street: Street, text: dict[str, Any]) -> None:
    assert (await street.raised("Grep", text)).state == "open"


async def test_who_names_a_project_works_there(street: Street, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    deny = ProjectRule("deny", command="git push *", message="Not from here.")
    project = await street.served.hub.desk.add_project(str(shop), "shop", Options(rules=(deny,)))

    for named in (project.id, "shop", str(shop)):
        read = await street.prompt("Read", {"file_path": str(shop / "a.txt")}, p=named)
        assert decided(read)["behavior"] == "allow"
    push = await street.prompt("Bash", {"command": "git push origin"}, p="shop")
    assert decided(push) == {"behavior": "deny", "message": "Not from here."}
    outside = await street.raised("Read", {"file_path": "/etc/hostname"}, p="shop")
    assert outside.project == project.id


async def test_a_project_that_is_not_there_is_refused_before_anything_is_asked(street: Street) -> None:
    result = await street.prompt("Read", {"file_path": "/etc/hostname"}, p="shpo")

    assert (result.status_code, result.json()["error"]["message"]) == (404, "There is no project shpo.")
    assert await street.served.hub.desk.asks(state=None) == []


async def test_a_token_that_is_bound_to_a_project_works_there_and_nowhere_else(street: Street, tmp_path: Path) -> None:
    desk = street.served.hub.desk
    (tmp_path / "shop").mkdir()
    shop = await desk.add_project(str(tmp_path / "shop"), "shop", Options())
    lax = Options(rules=(ProjectRule("allow", tool="Bash"),))
    await desk.add_project(str(tmp_path), "lax", lax)
    made = await street.served.auth.make("bound", "agent", desk.person, "test", project=shop.id)
    street.agent.headers["authorization"] = f"Bearer {made.secret}"
    push = {"command": "git push"}

    ask = await street.raised("Bash", push)
    assert (ask.project, ask.state) == (shop.id, "open")
    assert (await street.raised("Bash", push, p="shop")).project == shop.id
    result = await street.prompt("Bash", push, p="lax")
    assert (result.status_code, result.json()["error"]["message"]) == (403, "This token is limited to another project.")


async def test_a_token_is_bound_from_the_command_line(tmp_path: Path) -> None:
    async with opened(tmp_path) as street:
        shop = await street.served.hub.desk.add_project(str(tmp_path), "shop", Options())

        def create(*words: str) -> Result:
            calls = ["token", "create", "bot", *words, "--json", "--state", str(tmp_path / "state")]
            return CliRunner().invoke(main, calls)

        made = await asyncio.to_thread(create, "--role=agent", "--project=shop")
        assert json.loads(made.output)["token"]["project"] == shop.id
        for words, sentence in (
            (("--role=agent", "--project=shpo"), "There is no project shpo."),
            (("--role=admin", "--project=shop"), "Only agent tokens can be limited to a project."),
        ):
            refused = await asyncio.to_thread(create, *words)
            assert (refused.exit_code, sentence in refused.output) == (1, True)


@pytest.mark.parametrize("below", ["", "api", "api/v2"])
async def test_below_a_projects_directory_its_rules_hold_and_mean_what_they_mean_above(
    tmp_path: Path, below: str
) -> None:
    shop, link = tmp_path / "shop", tmp_path / "link"
    (shop / "api" / "v2").mkdir(parents=True)
    link.symlink_to(shop)
    rules = (ProjectRule("deny", path="keep/**", message="Keep out."), ProjectRule("allow", path="src/**"))
    async with opened(tmp_path) as street:
        project = await street.served.hub.desk.add_project(str(link), "shop", Options(rules=rules))
        assert project.path == str(shop)
        directory = str(link / below) if below else str(link)

        record = await by_relay(street, tmp_path / "state", directory, "Edit", str(shop / "keep" / "a.txt"))
        assert (record.project, record.why) == (project.id, "Rule project shop#1 denies `Edit` on `keep/**`.")
        source = await by_relay(street, tmp_path / "state", directory, "Edit", str(shop / "src" / "a.txt"))
        assert isinstance(source.settlement, Answered)
        other = await by_relay(
            street, tmp_path / "state", directory, "Edit", str(shop / "api" / "v2" / "src" / "a.txt")
        )
        assert other.settlement is None


async def by_relay(street: Street, state: Path, directory: str, tool: str, path: str) -> Ask:
    """The ask of an agent on this machine that works in a directory."""
    desk = street.served.hub.desk
    before = {ask.id for ask in await desk.asks(state=None)}
    words = ["-c", RELAY, "mcp", "--state", str(state)]
    arguments = {"tool_name": tool, "input": {"file_path": path, "old_string": "a", "new_string": "b"}}
    async with Client(StdioServerParameters(command=sys.executable, args=words, cwd=directory)) as client:
        calling = asyncio.create_task(client.call_tool(APPROVAL_PROMPT, arguments))
        try:
            async with asyncio.timeout(DEADLINE), desk.follow(0) as follower:
                async for _ in follower:
                    for ask in await desk.asks(state=None):
                        if ask.id not in before:
                            return ask
            raise AssertionError("the feed ended")
        finally:
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)
