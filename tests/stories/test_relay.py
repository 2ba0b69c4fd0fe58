"""Stories of the relay on stdio: the SDK's own client at one end, people at the other, and hubs that come and go."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from handraise.cli.client import HubClient
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Ask, Question, Withdrawn
from handraise.model.own_tools import APPROVAL_PROMPT, ASK_USER
from handraise.model.projects import Options
from handraise.serving.serve import ServeConfig, serving
from stories.outsiders import DEADLINE, RELAY, next_ask, until_settled

HUB = """
import asyncio, sys
from pathlib import Path
from handraise.serving.serve import ServeConfig, serving

async def main():
    async with serving(ServeConfig(Path(sys.argv[1]), Path("/bin/false"), {}, port=0)):
        print("up", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""
Era = Literal["auto", "legacy"]


def words(text: str) -> Choices:
    return Choices((Choice(text=text),))


def serve(state: Path, **settings: Any) -> Any:
    return serving(ServeConfig(state, Path("/bin/false"), {}, port=settings.pop("port", 0), **settings))


def relay_to(state: Path, **variables: str) -> StdioServerParameters:
    # The client gives its own few variables to what it starts, and no others.
    return StdioServerParameters(
        command=sys.executable, args=["-c", RELAY, "mcp", "--state", str(state)], env=variables or None
    )


async def result_of(call: asyncio.Task[Any]) -> tuple[bool, str]:
    async with asyncio.timeout(DEADLINE):
        result = await call
    [block] = result.content
    return result.is_error, block.text


def ask(client: Client, question: str = "Which?") -> asyncio.Task[Any]:
    return asyncio.create_task(client.call_tool(ASK_USER, {"question": question}))


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    return request.param  # type: ignore[no-any-return]


async def test_the_sdks_own_client_finds_both_tools_and_gets_answers(tmp_path: Path, era: Era) -> None:
    async with serve(tmp_path / "state") as served, Client(relay_to(tmp_path / "state"), mode=era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [ASK_USER, APPROVAL_PROMPT]
        # A call that is cancelled withdraws its question, and the next one works.
        call = ask(client)
        raised = await next_ask(served.hub.desk)
        call.cancel()
        assert reason(await until_settled(served.hub.desk, raised.id)) == "the agent cancelled it"
        again = ask(client, "And now?")
        await served.hub.desk.answer((await next_ask(served.hub.desk)).id, words("yes"))
        assert await result_of(again) == (False, "yes")

        # Several calls at once are several asks.
        calls = [ask(client, "First?"), ask(client, "Second?")]
        one = await next_ask(served.hub.desk)
        other = await next_ask(served.hub.desk, frozenset({one.id}))
        for raised in (other, one):
            assert isinstance(raised.body, Question)
            await served.hub.desk.answer(raised.id, words(f"to {raised.body.questions[0].question}"))
        assert [await result_of(call) for call in calls] == [(False, "to First?"), (False, "to Second?")]


async def test_the_sdks_own_client_gets_an_answer_over_http(tmp_path: Path, era: Era) -> None:
    async with serve(tmp_path / "state") as served:
        made = await served.auth.make("agent", "agent", served.hub.desk.person, "test")
        headers = {"Authorization": f"Bearer {made.secret}"}
        async with create_mcp_http_client(headers=headers) as http:
            transport = streamable_http_client(f"{served.base}/mcp", http_client=http)
            async with Client(transport, mode=era) as client:
                call = ask(client)
                raised = await next_ask(served.hub.desk)
                assert raised.agent == "agent"
                await served.hub.desk.answer(raised.id, words("this one"))

                assert await result_of(call) == (False, "this one")


async def test_a_hub_that_is_killed_and_started_again_finds_the_questions_and_their_answers(tmp_path: Path) -> None:
    state = tmp_path / "state"
    eras: tuple[Era, ...] = ("auto", "legacy")
    async with AsyncExitStack() as stack:
        async with hub_process(state) as hub:
            clients = [await stack.enter_async_context(Client(relay_to(state), mode=era)) for era in eras]
            calls = [ask(client, f"Which, {era}?") for client, era in zip(clients, eras, strict=True)]
            raised = await open_asks(state, 2)
            # This relay is stopped, so that it cannot take its answer before the hub is gone.
            relay = await stack.enter_async_context(relay_process(state))
            await relay.greet()
            relay.send(id=1, method="tools/call", params={"name": ASK_USER, "arguments": {"question": "Which?"}})
            known = {each["id"] for each in raised}
            [stopped] = [each for each in await open_asks(state, 3) if each["id"] not in known]
            relay.process.send_signal(signal.SIGSTOP)
            await answer(state, stopped["id"], "in time")
            hub.send_signal(signal.SIGKILL)
            await hub.wait()
        async with hub_process(state):
            relay.process.send_signal(signal.SIGCONT)
            found = await open_asks(state, 2)
            assert {each["id"] for each in found} == known
            for each in known:
                await answer(state, each, "still here")

            assert [await result_of(call) for call in calls] == [(False, "still here")] * 2
            assert (await relay.hear())["result"]["content"][0]["text"] == "in time"


async def test_a_relay_that_is_killed_or_left_by_its_agent_withdraws_its_question(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with serve(state) as served, relay_process(state) as relay, relay_process(state) as left:
        raised: list[Ask] = []
        for each in (relay, left):
            await each.greet()
            each.send(id=1, method="tools/call", params={"name": ASK_USER, "arguments": {"question": "Which?"}})
            raised.append(await next_ask(served.hub.desk, frozenset(one.id for one in raised)))
        relay.process.kill()
        assert left.process.stdin
        left.process.stdin.close()

        # At once, where the agent closed its end.
        assert reason(await until_settled(served.hub.desk, raised[1].id)) == "the agent is gone"
        assert await left.process.wait() == 0
        settled = await until_settled(served.hub.desk, raised[0].id)
        assert reason(settled) == "the agent went away and did not come back"


async def test_nobody_answers_in_time(tmp_path: Path) -> None:
    options = Options(ask_user_timeout=1)
    async with serve(tmp_path / "state", options=options), Client(relay_to(tmp_path / "state")) as client:
        assert await result_of(ask(client)) == (
            True,
            "User did not respond within the timeout period. Proceeding with your best judgment.",
        )


async def test_no_hub_is_an_error_result_at_once_and_a_hub_that_comes_later_is_found(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with Client(relay_to(state), mode="legacy") as client:
        is_error, text = await result_of(ask(client))
        assert is_error
        assert text.startswith("No Handraise hub is running")

        async with serve(state) as served:
            call = ask(client)
            await served.hub.desk.answer((await next_ask(served.hub.desk)).id, words("here I am"))
            assert await result_of(call) == (False, "here I am")


async def test_a_run_reaches_the_hub_as_its_file_says(tmp_path: Path) -> None:
    state, nowhere = tmp_path / "state", tmp_path / "nowhere"
    async with serve(state) as served:
        project = await served.hub.desk.add_project(str(tmp_path), "here", Options())
        run = await asyncio.to_thread(HubClient(state).post, "/api/runs", {"project": "here", "timeout": 60})
        response = json.loads(Path(run["path"]).read_text())
        assert response["projectId"] == project.id
        for without in ("neither", "socket"):
            own = tmp_path / f"without-{without}.json"
            own.touch(0o600)
            own.write_text(json.dumps({key: response[key] for key in response if key != without}))
            async with Client(relay_to(nowhere, ASK_USER_CONFIG=str(own))) as client:
                call = ask(client)
                raised = await next_ask(served.hub.desk)
                assert raised.project == project.id
                assert raised.expires_at is not None
                assert (raised.expires_at - raised.opened_at).total_seconds() == pytest.approx(60, abs=1)
                await served.hub.desk.answer(raised.id, words("by file"))
                assert await result_of(call) == (False, "by file")

        # One that has ended is told so.
        await asyncio.to_thread(HubClient(state).delete, f"/api/runs/{run['streamToken']}")
        assert not Path(run["path"]).exists()
        async with relay_process(state, ASK_USER_CONFIG=str(own)) as relay:
            relay.send(id=1, method="tools/call", params={"name": ASK_USER, "arguments": {"question": "Which?"}})
            heard = await relay.hear()

            assert heard["result"]["isError"]
            assert "isn't active" in heard["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("change", "words"), [({"apiUrl": "http://example.org"}, "must name this machine"), ({"timeout": 5}, "timeout")]
)
async def test_a_configuration_that_is_wrong_is_refused_before_anything_is_said(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    good = {
        "apiUrl": "http://127.0.0.1:9",
        "streamToken": "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
        "userId": 0,
        "projectId": 1,
    }
    file = tmp_path / "run.json"
    file.touch(0o600)
    file.write_text(json.dumps({**good, **change}))
    async with relay_process(tmp_path, ASK_USER_CONFIG=str(file)) as relay:
        assert await relay.process.wait() == 2
        assert relay.process.stderr
        assert words in (await relay.process.stderr.read()).decode()


class RelayProcess:
    """A relay process, and lines to and from it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def send(self, **message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        async with asyncio.timeout(DEADLINE):
            response: dict[str, Any] = json.loads(await self.process.stdout.readline())
        return response

    async def greet(self) -> None:
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.send(id=0, method="initialize", params=about)
        await self.hear()
        self.send(method="notifications/initialized")


@asynccontextmanager
async def relay_process(state: Path, **variables: str) -> AsyncIterator[RelayProcess]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", RELAY, "mcp", "--state", str(state)),
        env={**os.environ, **variables},
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )
    try:
        yield RelayProcess(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@asynccontextmanager
async def hub_process(state: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    hub = await asyncio.create_subprocess_exec(sys.executable, "-c", HUB, str(state), stdout=asyncio.subprocess.PIPE)
    try:
        assert hub.stdout
        async with asyncio.timeout(DEADLINE):
            assert await hub.stdout.readline() == b"up\n"
        yield hub
    finally:
        if hub.returncode is None:
            hub.kill()
        await hub.communicate()


def owner(state: Path) -> httpx2.AsyncClient:
    transport = httpx2.AsyncHTTPTransport(uds=str(state / "hub.sock"))
    return httpx2.AsyncClient(transport=transport, base_url="http://hub", timeout=DEADLINE)


async def open_asks(state: Path, many: int) -> list[dict[str, Any]]:
    """As soon as there are this many."""
    async with owner(state) as client, client.stream("GET", "/api/feed", params={"after": 0}) as feed:
        async for line in feed.aiter_lines():
            if '"ask.opened"' in line:
                found = list((await client.get("/api/asks", params={"state": "open"})).json()["asks"])
                if len(found) == many:
                    return found
    raise AssertionError("the feed ended")


async def answer(state: Path, ask_id: str, text: str) -> None:
    async with owner(state) as client:
        response = await client.post(f"/api/asks/{ask_id}/answer", json={"answer": {"answers": [{"text": text}]}})
        assert response.status_code == 200, response.text


def reason(ask: Ask) -> str:
    assert isinstance(ask.settlement, Withdrawn)
    return ask.settlement.reason
