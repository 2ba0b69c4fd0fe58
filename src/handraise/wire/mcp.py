"""JSON-RPC for an MCP server on our side of the pipe: Claude's messages, and the replies. Pure, never raises.

A `McpMessage` holds the JSON-RPC; every message, even a notification, needs a reply through `Connection.send_mcp`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import msgspec
from msgspec import Raw, Struct

RequestId = str | int

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602

_TOOL_USE_ID = "claudecode/toolUseId"
_OLDEST_PROTOCOL = "2024-11-05"


class Initialize(Struct, frozen=True):
    """The handshake, with the MCP version that Claude proposes."""

    id: RequestId
    protocol: str


class ListTools(Struct, frozen=True):
    """Lists the tools."""

    id: RequestId


class CallTool(Struct, frozen=True):
    """A tool call; `tool_use_id` is its id in the conversation."""

    id: RequestId
    name: str
    arguments: dict[str, Any]
    tool_use_id: str | None


class Cancelled(Struct, frozen=True):
    """A call was cancelled because the turn was interrupted. No `ControlCancel` comes for it."""

    call_id: RequestId


class Notification(Struct, frozen=True):
    """A message without a JSON-RPC reply. The pipe still needs a response: `acknowledgement`."""

    method: str


class Unknown(Struct, frozen=True):
    """A request for something we don't have; the reply is `method_not_found`."""

    id: RequestId
    method: str


class MalformedMessage(Struct, frozen=True):
    """Not valid JSON-RPC or MCP; `reply` says so."""

    reply: dict[str, Any]


Message = Initialize | ListTools | CallTool | Cancelled | Notification | Unknown | MalformedMessage


def read(message: Raw | bytes) -> Message:
    """Parses one JSON-RPC message."""
    try:
        content = msgspec.json.decode(message)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return MalformedMessage(error(None, PARSE_ERROR, "this is not JSON"))
    if not isinstance(content, dict):
        return MalformedMessage(error(None, INVALID_REQUEST, "a message is an object"))
    request_id, method, params = content.get("id"), content.get("method"), content.get("params", {})
    if not _is_id(request_id) and "id" in content:
        return MalformedMessage(error(None, INVALID_REQUEST, "an id is a text or a whole number"))
    if not isinstance(method, str):
        return MalformedMessage(error(request_id, INVALID_REQUEST, "a method is a text"))
    if not isinstance(params, dict):
        return MalformedMessage(error(request_id, INVALID_PARAMS, "params is an object"))
    if request_id is None:
        return _notification(method, params)
    return _request(request_id, method, params)


def initialized(request: Initialize, name: str, version: str) -> dict[str, Any]:
    """The reply to `Initialize`: this server only has tools."""
    return _result(
        request.id,
        {
            "protocolVersion": request.protocol,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": name, "version": version},
        },
    )


def tools(request: ListTools, offered: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The reply to `ListTools`; each tool has `name`, `description` and `inputSchema`."""
    return _result(request.id, {"tools": list(offered)})


def tool_result(call_id: RequestId, text: str, *, is_error: bool = False) -> dict[str, Any]:
    """The reply to `CallTool`: what the model reads."""
    return _result(call_id, {"content": [{"type": "text", "text": text}], "isError": is_error})


def acknowledgement() -> dict[str, Any]:
    """The response to a `Notification` or `Cancelled`: empty, but the pipe needs one."""
    return {"jsonrpc": "2.0", "result": {}}


def method_not_found(request: Unknown) -> dict[str, Any]:
    """The reply to `Unknown`."""
    return error(request.id, METHOD_NOT_FOUND, f"there is no method {request.method}")


def error(request_id: RequestId | None, code: int, message: str) -> dict[str, Any]:
    """A JSON-RPC error; without an id if the request's own could not be read."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


def _request(request_id: RequestId, method: str, params: dict[str, Any]) -> Message:
    match method:
        case "initialize":
            protocol = params.get("protocolVersion")
            return Initialize(request_id, protocol if isinstance(protocol, str) else _OLDEST_PROTOCOL)
        case "tools/list":
            return ListTools(request_id)
        case "tools/call":
            return _call(request_id, params)
        case _:
            return Unknown(request_id, method)


def _call(request_id: RequestId, params: dict[str, Any]) -> CallTool | MalformedMessage:
    name, arguments, meta = params.get("name"), params.get("arguments"), params.get("_meta")
    if not isinstance(name, str):
        return MalformedMessage(error(request_id, INVALID_PARAMS, "the name of the tool is missing"))
    if not isinstance(arguments, dict | None):
        return MalformedMessage(error(request_id, INVALID_PARAMS, "arguments is an object"))
    tool_use_id = meta.get(_TOOL_USE_ID) if isinstance(meta, dict) else None
    return CallTool(request_id, name, arguments or {}, tool_use_id if isinstance(tool_use_id, str) else None)


def _notification(method: str, params: dict[str, Any]) -> Cancelled | Notification:
    call_id = params.get("requestId")
    if method == "notifications/cancelled" and _is_id(call_id):
        return Cancelled(call_id)
    return Notification(method)


def _is_id(value: object) -> TypeGuard[RequestId]:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _result(request_id: RequestId, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}
