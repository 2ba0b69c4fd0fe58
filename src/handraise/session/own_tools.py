"""Our own MCP server at Claude's pipe: how it is offered, and what it replies. Never awaits."""

from typing import Any, assert_never

import msgspec

import handraise
from handraise.model.asks import Ask, Withdrawn
from handraise.model.tools import ASK_USER, ASK_USER_TOOL, SERVER, qualified
from handraise.model.wording import ask_user_reply
from handraise.wire import mcp
from handraise.wire.requests import McpMessage

# Without `alwaysLoad` the model never sees the tool: it hides behind ToolSearch.
SERVERS: dict[str, dict[str, Any]] = {SERVER: {"type": "sdk", "name": SERVER, "alwaysLoad": True}}
ALLOWED = qualified(ASK_USER)
"""Allowed beforehand, or Claude would ask for permission to ask."""


def reply(message: mcp.Message) -> dict[str, Any]:
    """What the server says at once."""
    match message:
        case mcp.Initialize():
            return mcp.initialized(message, SERVER, handraise.__version__)
        case mcp.ListTools():
            return mcp.tools(message, [ASK_USER_TOOL])
        case mcp.CallTool(id=call_id, name=name):
            return mcp.error(call_id, mcp.INVALID_PARAMS, f"There is no tool {name!r} here.")
        case mcp.Cancelled() | mcp.Notification():
            return mcp.acknowledgement()
        case mcp.Unknown():
            return mcp.method_not_found(message)
        case mcp.MalformedMessage(reply=told):
            return told
        case _:
            assert_never(message)


def result(ask: Ask) -> dict[str, Any] | None:
    """The result of the call that raised this ask; None if it is open, or was not raised by one."""
    if ask.tool != ASK_USER or isinstance(ask.settlement, Withdrawn | None):
        return None
    request = msgspec.json.decode(ask.origin.request, type=McpMessage)
    call = mcp.read(request.message)
    if not isinstance(call, mcp.CallTool):
        return None
    text, is_error = ask_user_reply(ask.settlement)
    return mcp.tool_result(call.id, text, is_error=is_error)
