"""Makes an ask's body of what Claude requests, or says why it is malformed. Nothing empty passes for a question."""

from typing import Any

import msgspec
from msgspec import Raw

from handraise.model.asks import Body, Form, Permission
from handraise.model.inputs import MalformedInput, read_plan, read_questions
from handraise.wire.requests import CanUseTool, Elicitation, ToolCall


def body_of(request: CanUseTool | Elicitation) -> Body:
    """What to put to people; raises Malformed."""
    if isinstance(request, Elicitation):
        return _form(request)
    told = _read(request)
    match request.tool_name:
        case "AskUserQuestion":
            return read_questions(told)
        case "ExitPlanMode":
            return read_plan(told)
        case _:
            return _permission(request, told)


def call_of(call: ToolCall) -> Permission:
    """A call that Claude is about to make, as the rules see it; raises Malformed."""
    if not call.tool_name:
        raise MalformedInput("The call names no tool.")
    return Permission(call.tool_name, _decode(call.tool_name, call.tool_input))


def _read(request: CanUseTool) -> dict[str, Any]:
    return _decode(request.tool_name, request.input)


def _decode(tool: str, raw: Raw) -> dict[str, Any]:
    try:
        told = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedInput(f"The input of {tool} cannot be read: {error}.") from error
    if not isinstance(told, dict):
        raise MalformedInput(f"The input of {tool} is not an object.")
    return told


def _permission(request: CanUseTool, told: dict[str, Any]) -> Permission:
    return Permission(
        tool=request.tool_name,
        input=told,
        description=request.description or "",
        reason=request.decision_reason or "",
        blocked_path=request.blocked_path,
        suggestions=tuple(request.permission_suggestions or ()),
    )


def _form(request: Elicitation) -> Form:
    schema = request.requested_schema or {}
    if request.mode != "form":
        raise MalformedInput(f"An elicitation of mode {request.mode!r} cannot be shown as a form.")
    if not isinstance(schema.get("properties", {}), dict):
        raise MalformedInput("The form's schema has no properties.")
    return Form(request.message, request.mcp_server_name, schema)
