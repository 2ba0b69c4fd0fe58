"""What Claude asks on the control channel. Each request needs one answer."""

from typing import Any

from msgspec import Raw, Struct


class CanUseTool(Struct, frozen=True, tag_field="subtype", tag="can_use_tool"):
    """May this tool be used? Questions (`AskUserQuestion`) and plans (`ExitPlanMode`) come this way too."""

    tool_name: str
    input: Raw = Raw(b"{}")
    tool_use_id: str | None = None
    display_name: str | None = None
    description: str | None = None
    permission_suggestions: list[dict[str, Any]] | None = None
    blocked_path: str | None = None
    decision_reason: str | None = None
    agent_id: str | None = None


class Elicitation(Struct, frozen=True, tag_field="subtype", tag="elicitation"):
    """An MCP server wants a form filled."""

    mcp_server_name: str
    message: str = ""
    mode: str = "form"
    requested_schema: dict[str, Any] | None = None
    url: str | None = None


class McpMessage(Struct, frozen=True, tag_field="subtype", tag="mcp_message"):
    """JSON-RPC for an MCP server that lives on our side of the pipe."""

    server_name: str
    message: Raw


class ToolCall(Struct, frozen=True):
    """What a `PreToolUse` hook receives about a call."""

    tool_name: str = ""
    tool_input: Raw = Raw(b"null")
    tool_use_id: str = ""
    agent_id: str | None = None


class HookCallback(Struct, frozen=True, tag_field="subtype", tag="hook_callback"):
    """Claude is about to use a tool, in whatever mode. To it an error is no objection: never answer with one."""

    callback_id: str
    input: ToolCall


class UnknownRequest(Struct, frozen=True):
    """A request that we do not know, or whose shape we do not; it still waits for an answer."""

    subtype: str
    request: Any


Known = CanUseTool | Elicitation | McpMessage | HookCallback
Request = Known | UnknownRequest
