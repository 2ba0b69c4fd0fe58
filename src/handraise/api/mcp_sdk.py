"""Everything that needs the official MCP SDK: importing it takes a second and 40 MB.

A relay's lines of JSON-RPC travel in both directions, in one HTTP exchange whose bodies stay open.
"""

import asyncio
from collections.abc import MutableMapping
from contextlib import AbstractContextManager, AsyncExitStack
from typing import Any, Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from handraise.agents import mcp_server
from handraise.agents.calls import AgentCalls, Caller
from handraise.api import mcp

LONGEST_LINE = 64 * 1024 * 1024
_AHEAD = 16
"""How many messages may be queued in each direction; then the sender waits."""


class RelayConnection(Response):
    """Ends when the relay or its run does, and when the hub stops.

    The end of the body means that the relay is done; a lost connection doesn't.
    """

    media_type = "application/x-ndjson"

    def __init__(
        self,
        agent_calls: AgentCalls,
        caller: Caller,
        closing: asyncio.Event,
        alive: AbstractContextManager[asyncio.Event | None],
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._agent_calls = agent_calls
        self._caller = caller
        self._closing = closing
        self._alive = alive

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        with self._alive as ended:
            await self._carry(receive, send, ended)

    async def _carry(self, receive: Receive, send: Send, ended: asyncio.Event | None) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](_AHEAD)
        outgoing, replies = anyio.create_memory_object_stream[SessionMessage](_AHEAD)
        async with incoming, received, outgoing, replies, anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, receive, incoming)
            tasks.start_soon(_write, replies, send)
            for over in (self._closing, ended):
                if over is not None:
                    tasks.start_soon(_close, over, tasks.cancel_scope)
            await mcp_server.serve(mcp_server.server_for_lines(self._agent_calls), received, outgoing, self._caller)
            tasks.cancel_scope.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _read(self, receive: Receive, incoming: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        # Only new bytes are searched: otherwise a long line in small pieces would take quadratic time.
        begun = bytearray()
        async with incoming:
            while True:
                event: MutableMapping[str, Any] = await receive()
                if event["type"] == "http.disconnect":
                    return
                piece: bytes = event.get("body", b"")
                begun += piece
                if b"\n" in piece:
                    *lines, begun = begun.split(b"\n")
                    for line in lines:
                        if line.strip():
                            await incoming.send(mcp_server.read_line(bytes(line)))
                if not event.get("more_body"):
                    self._agent_calls.leave(self._caller)
                    return
                if len(begun) > LONGEST_LINE:
                    return


async def _close(over: asyncio.Event, scope: anyio.CancelScope) -> None:
    await over.wait()
    scope.cancel()


async def _write(replies: MemoryObjectReceiveStream[SessionMessage], send: Send) -> None:
    async for message in replies:
        await send({"type": "http.response.body", "body": mcp_server.write_line(message), "more_body": True})


class McpSdk:
    """Entered with `async with`, and left by the same task. What it creates ends when `closing` is set."""

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
        """A relay's connection; `alive` is entered while it lasts."""
        return RelayConnection(self._agent_calls, caller, self._closing, alive)

    def exchange(self, caller: Caller, content: bytes, fallback: str) -> Response:
        """A POST; `fallback` names a call without a name of its own."""
        reference = mcp.reference_of(content, fallback)
        return mcp.Exchange(self._manager, caller, reference, content, self._closing)

    async def resume(self, caller: Caller, event: str) -> Response:
        """A GET that continues a call; raises NoSuchAsk."""
        return await mcp.resume(self._agent_calls, caller, event, self._closing)
