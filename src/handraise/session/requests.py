"""Claude's requests: parsed into the body of an ask, or answered by our own MCP server. Pure."""

from typing import Any, assert_never

import msgspec
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

import handraise
from handraise.model.agent_replies import ask_user_reply
from handraise.model.asks import Ask, Body, Form, Permission, Terms, Withdrawn
from handraise.model.inputs import MalformedInput, read_plan, read_questions
from handraise.model.own_tools import ASK_USER, ASK_USER_TOOL, SERVER, qualified
from handraise.model.tools import tool_named
from handraise.session.dialogs import body_of_dialog
from handraise.wire import mcp
from handraise.wire.frames import CanUseTool, Elicitation, McpMessage, ToolCall, UserDialog

# Without `alwaysLoad` the model never sees the tool: it is hidden behind ToolSearch.
SERVERS: dict[str, dict[str, Any]] = {SERVER: {"type": "sdk", "name": SERVER, "alwaysLoad": True}}
ALLOWED = qualified(ASK_USER)
"""Allowed in advance, or Claude would ask for permission to ask."""
_RULE, _CLASSIFIER, _UNKNOWN = "rule", "classifier", "unknown"
_CAUSES = frozenset({
    "", _RULE, _CLASSIFIER, "mode", "subcommandResults", "permissionPromptTool", "hook", "asyncAgent",
    "sandboxOverride", "workingDir", "safetyCheck", "other",
})  # fmt: skip
"""Why Claude Code 2.1.325 asks, by its own names. A name that isn't among them needs a person."""
_LONGEST = 300


def body_of(request: CanUseTool | Elicitation | UserDialog) -> Body:
    """The body of the ask; raises MalformedInput."""
    if isinstance(request, Elicitation):
        return _form(request)
    if isinstance(request, UserDialog):
        return body_of_dialog(request.dialog_kind, request.payload)
    fields = _read(request)
    match tool_named(request.tool_name).kind:
        case "question":
            return replace(read_questions(fields), terms=terms_of_request(request))
        case "plan":
            return replace(read_plan(fields), terms=terms_of_request(request))
        case _:
            return _permission(request, fields)


def call_of(call: ToolCall) -> Permission:
    """A call that Claude is about to make, as rules see it; raises MalformedInput."""
    if not call.tool_name:
        raise MalformedInput("The call names no tool.")
    return Permission(call.tool_name, _decode(call.tool_name, call.tool_input))


def _read(request: CanUseTool) -> dict[str, Any]:
    return _decode(request.tool_name, request.input)


def _decode(tool: str, raw: Raw) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedInput(f"The input of {tool} cannot be read: {error}.") from error
    if not isinstance(value, dict):
        raise MalformedInput(f"The input of {tool} is not an object.")
    return value


def _permission(request: CanUseTool, fields: dict[str, Any]) -> Permission:
    return Permission(
        tool=request.tool_name,
        input=fields,
        description=request.description or "",
        reason=request.decision_reason or "",
        blocked_path=request.blocked_path,
        suggestions=tuple(request.permission_suggestions or ()),
        terms=terms_of_request(request),
    )


def terms_of_request(request: CanUseTool) -> Terms | UnsetType:
    """What Claude Code says about how it may be answered. What we don't know counts as the strictest."""
    kind = request.decision_reason_type
    cause = "" if kind is None else kind if isinstance(kind, str) else _UNKNOWN
    rule = _ask_rule(request.matched_ask_rule)
    person = _is_set(request.requires_user_interaction) or cause == _CLASSIFIER or cause not in _CAUSES
    approvable = request.classifier_approvable
    terms = Terms(
        person=person,
        once=person
        or _is_set(request.suppress_always_allow_rule)
        or (approvable is not None and approvable is not True)
        or cause == _RULE
        or bool(rule),
        deny_first=_is_set(request.default_to_no),
        cause=cause[:_LONGEST],
        ask_rule=rule,
        classifier_approvable=approvable if isinstance(approvable, bool) else None,
        title=request.title or "",
    )
    return UNSET if terms == Terms() else terms


def _is_set(value: object) -> bool:
    return value is not None and value is not False


def _ask_rule(matched: object) -> str:
    """The rule as people write it in Claude's settings, for example `Bash(date:*)`."""
    match matched:
        case None:
            return ""
        case {"tool_name": str(tool), "rule_content": str(content)}:
            return f"{tool}({content})"[:_LONGEST]
        case {"tool_name": str(tool)}:
            return tool[:_LONGEST] or _UNKNOWN
        case _:
            return _UNKNOWN


def _form(request: Elicitation) -> Form:
    schema = request.requested_schema or {}
    if request.mode == "url":
        if not request.url:
            raise MalformedInput("The server asked for a link to be visited and sent none.")
        return Form(request.message, request.mcp_server_name, {}, request.url)
    if request.mode != "form":
        raise MalformedInput(f"An elicitation of mode {request.mode!r} cannot be shown as a form.")
    if not isinstance(schema.get("properties", {}), dict):
        raise MalformedInput("The form's schema has no properties.")
    return Form(request.message, request.mcp_server_name, schema)


def reply(message: mcp.Message) -> dict[str, Any]:
    """The server's immediate reply."""
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
        case mcp.MalformedMessage(reply=answer):
            return answer
        case _:
            assert_never(message)


def result(ask: Ask) -> dict[str, Any] | None:
    """The result of the call that raised this ask; None if it is open, or was not raised by a call."""
    if ask.tool != ASK_USER or isinstance(ask.settlement, Withdrawn | None):
        return None
    request = msgspec.json.decode(ask.origin.request, type=McpMessage)
    call = mcp.read(request.message)
    if not isinstance(call, mcp.CallTool):
        return None
    text, is_error = ask_user_reply(ask.settlement)
    return mcp.tool_result(call.id, text, is_error=is_error)
