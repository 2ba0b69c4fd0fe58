"""The official SDK between an agent and our calls: the SDK's own client calls, and errors allow nothing."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp import Client

from agents.test_calls import AGENT, WHICH, CallDesk, desk
from handraise.agents.mcp_server import McpServer, read_line, spelled
from handraise.model.own_tools import APPROVAL_PROMPT, APPROVAL_PROMPT_TOOL, ASK_USER, ASK_USER_TOOL
from handraise.model.projects import Options
from handraise.store.interface import StoreFull
from handraise.store.memory.store import MemoryStore

BASH = {"tool_name": "Bash", "input": {"command": "ls"}}


class FullStore(MemoryStore):
    """Stores nothing."""

    async def apply(self, changes: Any) -> Any:
        raise StoreFull("The disk is full.")


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    async with MemoryStore() as opened:
        yield opened


def client_of(here: CallDesk) -> Client:
    mcp_server = McpServer(here.agent_calls, lambda _: AGENT, lambda context: spelled(context.request_id))
    return Client(mcp_server.server)


async def called(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[bool | None, str]:
    result = await client.call_tool(tool, arguments)
    [block] = result.content
    assert result.structured_content is None
    return result.is_error, getattr(block, "text", "")


async def test_both_tools_are_shown_as_they_are(store: MemoryStore) -> None:
    async with desk(store) as here, client_of(here) as client:
        shown = (await client.list_tools()).tools

        assert [(tool.name, tool.input_schema) for tool in shown] == [
            (each["name"], each["inputSchema"]) for each in (ASK_USER_TOOL, APPROVAL_PROMPT_TOOL)
        ]


async def test_switched_off_it_is_neither_shown_nor_called(store: MemoryStore) -> None:
    async with desk(store, options=Options(ask_user_enabled=False)) as here, client_of(here) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [APPROVAL_PROMPT]
        assert await called(client, ASK_USER, WHICH) == (True, "ask_user is turned off in this project.")


async def test_a_call_that_cannot_be_shown_says_why(store: MemoryStore) -> None:
    async with desk(store) as here, client_of(here) as client:
        assert await called(client, ASK_USER, {"question": " "}) == (True, "The question has no text.")
        for wrong, words in (
            ({**BASH, "tool_name": " "}, "`tool_name` must name a tool"),
            (
                {"tool_name": "AskUserQuestion", "input": {"questions": []}},
                "There are no questions in this call",
            ),  # lesson 14
            ({"tool_name": "ExitPlanMode", "input": {}}, "The plan is empty"),
        ):
            is_error, text = await called(client, APPROVAL_PROMPT, wrong)
            response = json.loads(text)
            assert (is_error, response["behavior"], words in response["message"]) == (False, "deny", True)
        assert await store.asks() == []


async def test_an_unexpected_error_denies_and_hides_its_text() -> None:  # lesson 37
    async with FullStore() as store, desk(store) as here, client_of(here) as client:
        is_error, text = await called(client, APPROVAL_PROMPT, BASH)
        assert not is_error
        assert json.loads(text)["behavior"] == "deny"
        is_error, text = await called(client, ASK_USER, WHICH)
        assert is_error
        assert "disk" not in text


async def test_progress_is_reported_to_who_wants_it(store: MemoryStore) -> None:
    calls: list[tuple[float, float | None, str | None]] = []
    async with desk(store, progress=0.0) as here, client_of(here) as client:

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            calls.append((progress, total, message))
            here.room.clock.forward(15)

        call = asyncio.create_task(client.call_tool(ASK_USER, WHICH, progress_callback=progressed))
        async with asyncio.timeout(60):
            while not calls:
                await asyncio.sleep(0)
        [ask] = await store.asks()
        await here.answer(ask)
        await call

    assert calls[0] == (0.0, 300.0, "Waiting for a person")


def test_what_is_no_message_is_left_to_the_sdk_to_answer() -> None:
    assert isinstance(read_line(b"what?"), ValueError)


def test_an_id_that_is_text_is_another_one() -> None:
    assert spelled(1) != spelled("1")
