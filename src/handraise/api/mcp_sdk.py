"""Everything that needs the official SDK, in one module: importing it takes a second and 40 MB."""

import asyncio
from contextlib import AbstractContextManager, AsyncExitStack
from typing import Self

from starlette.responses import Response

from handraise.agents.calls import AgentCalls, Caller
from handraise.api import mcp
from handraise.api.relay_lines import RelayConnection


class McpSdk:
    """Entered with `async with`, and left by the same task. What it makes ends when `closing` is set."""

    def __init__(self, agent_calls: AgentCalls, closing: asyncio.Event) -> None:
        self._agent_calls = agent_calls
        self._closing = closing
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._manager = await self._stack.enter_async_context(mcp.session_manager(self._agent_calls))
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._stack.aclose()

    def lines(self, caller: Caller, alive: AbstractContextManager[asyncio.Event | None]) -> Response:
        """A connection of a relay; `alive` is entered as long as it lasts."""
        return RelayConnection(self._agent_calls, caller, self._closing, alive)

    def exchange(self, caller: Caller, content: bytes, fallback: str) -> Response:
        """A POST; `fallback` names a call that has no name of its own."""
        reference = mcp.reference_of(content, fallback)
        return mcp.Exchange(self._manager, caller, reference, content, self._closing)

    async def resume(self, caller: Caller, event: str) -> Response:
        """A GET that continues a call; raises NoSuchAsk."""
        return await mcp.resume(self._agent_calls, caller, event, self._closing)
