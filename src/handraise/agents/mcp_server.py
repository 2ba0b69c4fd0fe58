"""Speaks MCP with external agents through the official SDK, on any pair of streams. Knows no sockets, no HTTP."""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

import handraise
from handraise.agents import tool_calls
from handraise.agents.calls import AgentCalls, Caller
from handraise.inbox.errors import InboxError
from handraise.model.agent_replies import Reply
from handraise.model.inputs import MalformedInput
from handraise.model.own_tools import APPROVAL_PROMPT_TOOL, ASK_USER_TOOL, SERVER

_TOOLS = tuple(types.Tool.model_validate(each) for each in (ASK_USER_TOOL, APPROVAL_PROMPT_TOOL))
_FAULT = "The hub can't ask anyone right now ({why}). Continue with your best judgment."
_LISTING_SECONDS = 10.0
"""How long a new agent waits to hear which tools are turned on. Agents give up on a server after about 30 s."""

log = logging.getLogger("handraise.agents")

Context = ServerRequestContext[Any, Any]


class McpServer:
    """`caller_of` says who calls; `reference_of` names a call, the same whenever it is repeated."""

    def __init__(
        self, agent_calls: AgentCalls, caller_of: Callable[[Context], Caller], reference_of: Callable[[Context], str]
    ) -> None:
        self._agent_calls = agent_calls
        self._caller_of = caller_of
        self._reference_of = reference_of
        self.server: Server[Any] = Server(
            SERVER, version=handraise.__version__, on_list_tools=self._list, on_call_tool=self._call
        )
        self.server.middleware[:] = [self._watch]

    async def _list(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        caller = self._caller_of(context)
        try:
            async with asyncio.timeout(_LISTING_SECONDS):
                tools = [each for each in _TOOLS if await self._agent_calls.offers(caller, each.name)]
        except TimeoutError:
            # The database is away. A call of a tool that turns out to be off is refused later, with that reason.
            tools = list(_TOOLS)
        return types.ListToolsResult(tools=tools)

    async def _call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        reply = await self._answer(context, params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(text=reply.text)], is_error=reply.is_error)

    async def _answer(self, context: Context, tool: str, arguments: dict[str, Any]) -> Reply:
        async def waited(seconds: float, total: float | None) -> None:
            await context.session.report_progress(seconds, total, "Waiting for a person")

        caller = self._caller_of(context)
        try:
            if not await self._agent_calls.offers(caller, tool):
                return tool_calls.refused(tool, f"{tool} is turned off in this project.")
            return await self._agent_calls.call(caller, self._reference_of(context), tool, arguments, waited)
        except MalformedInput as error:
            return tool_calls.refused(tool, str(error))
        except InboxError as error:
            return tool_calls.refused(tool, str(error))
        except Exception:  # the outer boundary: an agent gets a sentence, and nothing is allowed by accident
            log.exception("a call of %s failed", tool)
            why = self._agent_calls.trouble.rstrip(".") or "see its log"
            return tool_calls.refused(tool, _FAULT.format(why=why))

    async def _watch(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """The SDK ends a cancelled call by itself; its ask is withdrawn here."""
        if ctx.method == "notifications/cancelled":
            request = (ctx.params or {}).get("requestId")
            self._agent_calls.cancel(self._caller_of(ctx), spelled(request))
        return await call_next(ctx)


def server_for_lines(agent_calls: AgentCalls) -> McpServer:
    """For persistent connections: a call is identified by its id within the conversation."""
    return McpServer(agent_calls, lambda context: context.lifespan_context, lambda context: spelled(context.request_id))


async def serve(
    mcp_server: McpServer,
    read: ReadStream[SessionMessage | Exception],
    write: WriteStream[SessionMessage],
    caller: Caller,
) -> None:
    """Runs until the agent closes its end."""
    await serve_dual_era_loop(mcp_server.server, read, write, lifespan_state=caller)


def read_line(line: bytes) -> SessionMessage | Exception:
    """A line as the SDK expects it; the SDK itself answers what isn't JSON-RPC."""
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


def write_line(message: SessionMessage) -> bytes:
    """A message from the SDK as a line."""
    return message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def spelled(request_id: object) -> str:
    """A JSON-RPC id as text: 1 and "1" differ."""
    return json.dumps(request_id)
