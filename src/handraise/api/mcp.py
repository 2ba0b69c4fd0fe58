"""MCP over streamable HTTP: the official SDK behind our API, and calls that outlive the hub.

A call's stream starts with an event that names its ask. A hub that stops ends the stream cleanly; the agent comes back
with that name as `Last-Event-ID`, and the next hub continues the wait.
"""

import asyncio
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from handraise.agents import tool_calls
from handraise.agents.calls import AgentCalls, Caller, ask_id
from handraise.agents.mcp_server import Context, McpServer
from handraise.api.long_requests import is_event_stream
from handraise.inbox.errors import NoSuchAsk
from handraise.model.asks import Ask

_CALL = "handraise.call"
_RETRY = 500
_KEEP_ALIVE = 15.0
_UNREADABLE = (ValueError, KeyError, TypeError, RecursionError)
_EVENT_STREAM = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]


@asynccontextmanager
async def session_manager(agent_calls: AgentCalls) -> AsyncIterator[StreamableHTTPSessionManager]:
    """The SDK's own manager, which keeps no state between requests."""
    mcp_server = McpServer(agent_calls, lambda context: _call(context)[0], lambda context: _call(context)[1])
    manager = StreamableHTTPSessionManager(mcp_server.server, stateless=True)
    async with manager.run():
        yield manager


class Exchange(Response):
    """One POST: passed to the SDK, and ended cleanly when the hub stops."""

    def __init__(
        self,
        manager: StreamableHTTPSessionManager,
        caller: Caller,
        reference: str,
        content: bytes,
        closing: asyncio.Event,
    ) -> None:
        super().__init__()
        self._manager = manager
        self._caller = caller
        self._reference = reference
        self._content = content
        self._closing = closing
        self._begun = False
        self._streams = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": self._content, "more_body": False}]

        async def receive_again() -> MutableMapping[str, Any]:
            return body.pop() if body else await receive()

        async def send_named(message: MutableMapping[str, Any]) -> None:
            self._begun = True
            await send(message)
            if message["type"] == "http.response.start" and is_event_stream(message):
                self._streams = True
                await send(self._name())

        inside = {**scope, _CALL: (self._caller, self._reference)}
        exchange = asyncio.create_task(self._manager.handle_request(inside, receive_again, send_named))
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait([exchange, closing], return_when=asyncio.FIRST_COMPLETED)
        finally:
            closing.cancel()
            is_over = exchange.done()
            exchange.cancel()
            await asyncio.gather(exchange, closing, return_exceptions=True)
        if is_over:
            exchange.result()
        else:
            await self._end(send)

    async def _end(self, send: Send) -> None:
        """The hub stops: tells the agent where to continue, and ends the stream."""
        if not self._begun:
            await send({"type": "http.response.start", "status": 200, "headers": _EVENT_STREAM})
            await send(self._name())
        if self._streams or not self._begun:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _name(self) -> MutableMapping[str, Any]:
        event = f"id: {event_id(self._caller, self._reference, self._content)}\nretry: {_RETRY}\ndata: \n\n"
        return {"type": "http.response.body", "body": event.encode(), "more_body": True}


class Resumption(Response):
    """One GET with `Last-Event-ID`: the result of a call made to an earlier hub."""

    media_type = "text/event-stream"

    def __init__(self, agent_calls: AgentCalls, ask: Ask, event: str, closing: asyncio.Event) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self._agent_calls = agent_calls
        self._ask = ask
        self._event = event
        self._closing = closing

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})

        async def keep_alive(_seconds: float, _total: float | None) -> None:
            await send({"type": "http.response.body", "body": b": waiting\n\n", "more_body": True})

        await send({"type": "http.response.body", "body": self._piece(""), "more_body": True})
        waiting = asyncio.create_task(self._agent_calls.settled(self._ask, keep_alive))
        others = [asyncio.create_task(self._closing.wait()), asyncio.create_task(_gone(receive))]
        try:
            await asyncio.wait([waiting, *others], return_when=asyncio.FIRST_COMPLETED)
        finally:
            is_settled = waiting.done()
            for task in (waiting, *others):
                task.cancel()
            await asyncio.gather(waiting, *others, return_exceptions=True)
        last = self._piece(self._result(waiting.result())) if is_settled else b""
        await send({"type": "http.response.body", "body": last, "more_body": False})

    def _result(self, ask: Ask) -> str:
        reply = tool_calls.result_of(ask)
        result = {"content": [{"type": "text", "text": reply.text}], "isError": reply.is_error}
        return json.dumps({"jsonrpc": "2.0", "id": read_event_id(self._event)[1], "result": result})

    def _piece(self, content: str) -> bytes:
        return f"id: {self._event}\nretry: {_RETRY}\ndata: {content}\n\n".encode()


async def resume(agent_calls: AgentCalls, caller: Caller, event: str, closing: asyncio.Event) -> Response:
    """Continues a wait by the name that an earlier hub gave it; raises NoSuchAsk."""
    ask_name, _ = read_event_id(event)
    ask = await agent_calls.find(ask_name)
    if not ask.origin.reference.startswith(f"{caller.conversation}/"):
        raise NoSuchAsk(ask_name)
    return Resumption(agent_calls, ask, event, closing)


def reference_of(content: bytes, fallback: str) -> str:
    """The name of a call: Claude's own, if it sends one, else the fallback."""
    try:
        message = json.loads(content)
        named = message["params"]["_meta"]["claudecode/toolUseId"]
    except _UNREADABLE:
        return fallback
    return f"{named}/{json.dumps(message.get('id'))}" if isinstance(named, str) else fallback


def event_id(caller: Caller, reference: str, content: bytes) -> str:
    """Names a call's ask, and the request id that its result must have."""
    try:
        request_id = json.loads(content)["id"]
    except _UNREADABLE:
        request_id = None
    spelled = urlsafe_b64encode(json.dumps(request_id).encode()).decode().rstrip("=")
    return f"{ask_id(caller, reference)}.{spelled}"


def read_event_id(event: str) -> tuple[str, Any]:
    """The ask, and the id of the request; raises NoSuchAsk."""
    ask, _, spelled = event.partition(".")
    try:
        return ask, json.loads(urlsafe_b64decode(spelled + "=" * (-len(spelled) % 4)))
    except _UNREADABLE:
        raise NoSuchAsk(ask[:40]) from None


def _call(context: Context) -> tuple[Caller, str]:
    if context.request is None:
        raise TypeError("a call over HTTP without its request")
    called: tuple[Caller, str] = context.request.scope[_CALL]
    return called


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
