"""What Claude sends: frames with their content blocks, and control requests, with the fields that we use.

Unknown parts are kept, never an error.
"""

from typing import TYPE_CHECKING, Any

from msgspec import Raw, Struct, field

NOISE = "not JSON"
BROKEN = "broken JSON"
NOT_A_FRAME = "JSON, but no object"
CUT_OFF = "cut off before its end"
TOO_LONG = "longer than the limit"
NOT_UTF8 = "not UTF-8"


class TextBlock(Struct, frozen=True, tag_field="type", tag="text"):
    """Text."""

    text: str


class ThinkingBlock(Struct, frozen=True, tag_field="type", tag="thinking"):
    """Thinking."""

    thinking: str


class ToolUse(Struct, frozen=True, tag_field="type", tag="tool_use"):
    """A tool call. `input` stays encoded until it is needed."""

    id: str
    name: str
    input: Raw = Raw(b"{}")


class ServerToolUse(Struct, frozen=True, tag_field="type", tag="server_tool_use"):
    """A call to a tool that runs on the model's side."""

    id: str
    name: str
    input: Raw = Raw(b"{}")


class ImageBlock(Struct, frozen=True, tag_field="type", tag="image"):
    """An image, as it was sent."""

    source: Raw = Raw(b"{}")


class UnknownBlock(Struct, frozen=True):
    """An unknown block, complete."""

    type: str
    fields: dict[str, Any]


class ToolResult(Struct, frozen=True, tag_field="type", tag="tool_result"):
    """A tool's result: text, or blocks."""

    tool_use_id: str
    content: str | list[Raw] | None = None
    is_error: bool | None = None


KnownBlock = TextBlock | ThinkingBlock | ToolUse | ServerToolUse | ImageBlock | ToolResult
Block = KnownBlock | UnknownBlock


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
    title: str | None = None
    # How it may be answered. Any value is read, so that an odd one can't make the request unreadable.
    decision_reason_type: Any = None
    requires_user_interaction: Any = None
    suppress_always_allow_rule: Any = None
    default_to_no: Any = None
    matched_ask_rule: Any = None
    classifier_approvable: Any = None


class Elicitation(Struct, frozen=True, tag_field="subtype", tag="elicitation"):
    """An MCP server wants a form filled in, or with the mode `url`, a link visited."""

    mcp_server_name: str
    message: str = ""
    mode: str = "form"
    requested_schema: dict[str, Any] | None = None
    url: str | None = None
    elicitation_id: str | None = None
    """The server's own ID for a link, by which it says that the link was completed."""


class UserDialog(Struct, frozen=True, tag_field="subtype", tag="request_user_dialog"):
    """Claude Code itself wants a dialog shown. Only the kinds that were declared may be answered."""

    dialog_kind: str
    payload: dict[str, Any]
    tool_use_id: str | None = None


class McpMessage(Struct, frozen=True, tag_field="subtype", tag="mcp_message"):
    """JSON-RPC for an MCP server on our side of the pipe."""

    server_name: str
    message: Raw


class ToolCall(Struct, frozen=True):
    """What a `PreToolUse` hook receives about a call."""

    tool_name: str = ""
    tool_input: Raw = Raw(b"null")
    tool_use_id: str = ""
    cwd: str = ""
    agent_id: str | None = None


class HookCallback(Struct, frozen=True, tag_field="subtype", tag="hook_callback"):
    """Claude is about to use a tool, in any mode. It reads an error as no objection: never answer with one."""

    callback_id: str
    input: ToolCall


class UnknownRequest(Struct, frozen=True):
    """An unknown request, or one of unknown shape; it still waits for an answer."""

    subtype: str
    request: Any


KnownRequest = CanUseTool | Elicitation | UserDialog | McpMessage | HookCallback
Request = KnownRequest | UnknownRequest


if TYPE_CHECKING:
    Blocks = tuple[Block, ...]
else:
    # The decoder tells known requests apart by their tags and rejects the rest; decode.py adds the unknown ones.
    Blocks = tuple[KnownBlock, ...]


class Init(Struct, frozen=True):
    """`system/init`: a turn starts."""

    session_id: str = ""
    cwd: str = ""
    model: str = ""
    mode: str = field(default="default", name="permissionMode")
    tools: list[str] = field(default_factory=list)
    mcp_servers: list[dict[str, Any]] = field(default_factory=list)
    version: str = field(default="", name="claude_code_version")
    key_source: str = field(default="", name="apiKeySource")


class Lifecycle(Struct, frozen=True, tag_field="type", tag="command_lifecycle"):
    """`command_lifecycle`: a message's progress: queued, started, completed or cancelled."""

    command_uuid: str
    state: str


class Status(Struct, frozen=True):
    """`system/status`: what Claude is busy with, or its current mode."""

    status: str | None = None
    mode: str | None = field(default=None, name="permissionMode")


class Task(Struct, frozen=True):
    """`system/task_started`, `task_progress`, `task_updated` and `task_notification`: a background task."""

    subtype: str
    task_id: str = ""
    tool_use_id: str | None = None
    description: str = ""
    task_type: str = ""
    status: str | None = None
    summary: str | None = None
    last_tool_name: str | None = None
    patch: dict[str, Any] | None = None


class BackgroundTasks(Struct, frozen=True):
    """`system/background_tasks_changed`: what runs in the background; it also follows a second `initialize`."""

    tasks: list[Any] = field(default_factory=list)


class ApiRetry(Struct, frozen=True):
    """`system/api_retry`: the model could not be reached; Claude will retry."""

    attempt: int = 0
    max_retries: int = 0
    retry_delay_ms: float = 0
    error_status: int | None = None
    error: str | None = None


class ElicitationComplete(Struct, frozen=True):
    """`system/elicitation_complete`: an MCP server says that a link was completed, whether we answered it or not."""

    mcp_server_name: str
    elicitation_id: str


class PermissionDenied(Struct, frozen=True):
    """`system/permission_denied`: Claude Code denied a call without asking. Its input came with the call."""

    tool_name: str = ""
    tool_use_id: str = ""
    decision_reason_type: str | None = None
    decision_reason: str | None = None
    decision_reason_code: str | None = None
    message: str | None = None


class PermissionCheck(Struct, frozen=True):
    """`system/permission_check_status`: a call has waited for its automatic check for some seconds, or no longer."""

    tool_use_id: str = ""
    status: str = ""


class TitleChanged(Struct, frozen=True):
    """`system/session_title_changed`: Claude's own name for the session. The same one may come again."""

    title: str = ""


class CornerNotice(Struct, frozen=True):
    """`system/notification`: what Claude Code would show in a corner of its own screen."""

    text: str = ""
    priority: str = ""


class WritesLost(Struct, frozen=True):
    """`system/session_writes_lost`: the disk was full, or its quota was used up. Sent as Claude exits."""

    error_code: str = ""
    lost: list[str] = field(default_factory=list)


class StateChanged(Struct, frozen=True):
    """`system/session_state_changed`: `running`, `requires_action` or `idle`, if the environment asks for it."""

    state: str = ""


class Message(Struct, frozen=True):
    """The Messages API's own message."""

    content: Blocks
    id: str = ""
    model: str = ""
    usage: dict[str, Any] | None = None
    stop_reason: str | None = None


class Assistant(Struct, frozen=True, tag_field="type", tag="assistant"):
    """Claude writes or does something. One message comes as several frames, one per block."""

    message: Message
    parent_tool_use_id: str | None = None
    agent_id: str | None = None
    uuid: str | None = None
    error: str | None = None


class UserMessage(Struct, frozen=True):
    """What Claude received: from a person, or from a tool."""

    content: str | Blocks


class User(Struct, frozen=True, tag_field="type", tag="user"):
    """A tool's result, or the echo of what a person said (`is_replay`)."""

    message: UserMessage
    parent_tool_use_id: str | None = None
    agent_id: str | None = None
    uuid: str | None = None
    is_replay: bool = field(default=False, name="isReplay")
    is_synthetic: bool = field(default=False, name="isSynthetic")


class Delta(Struct, frozen=True, gc=False):
    """A piece of a block. Nearly all frames have one, so it has no field that nobody reads."""

    text: str | None = None
    thinking: str | None = None


class Event(Struct, frozen=True, gc=False):
    """An event of the model's own stream."""

    type: str
    index: int | None = None
    delta: Delta | None = None
    message: Raw = Raw(b"null")
    content_block: Raw = Raw(b"null")


class StreamEvent(Struct, frozen=True, gc=False, tag_field="type", tag="stream_event"):
    """A piece of a message that is still being written."""

    event: Event
    parent_tool_use_id: str | None = None


class ToolProgress(Struct, frozen=True, tag_field="type", tag="tool_progress"):
    """The heartbeat of a long tool call."""

    tool_use_id: str = ""
    tool_name: str = ""
    parent_tool_use_id: str | None = None
    elapsed: float = field(default=0.0, name="elapsed_time_seconds")


class RateLimit(Struct, frozen=True, tag_field="type", tag="rate_limit_event"):
    """`rate_limit_event`: how much is left; the fields are Claude's own."""

    rate_limit_info: dict[str, Any] = field(default_factory=dict)


class Result(Struct, frozen=True, tag_field="type", tag="result"):
    """A turn is over; the process stays. `is_error` decides failure, not `subtype`."""

    subtype: str = ""
    is_error: bool = False
    result: str | None = None
    errors: list[Any] | None = None
    session_id: str = ""
    duration_ms: float = 0
    num_turns: int = 0
    total_cost_usd: float = 0.0
    usage: dict[str, Any] | None = None
    model_usage: dict[str, Any] | None = field(default=None, name="modelUsage")
    permission_denials: list[Any] | None = None
    terminal_reason: str | None = None


class ControlRequest(Struct, frozen=True):
    """Claude wants something of us and waits for the answer."""

    request_id: str
    request: Request


class Acknowledged(Struct, frozen=True):
    """The contents of a control response."""

    request_id: str
    subtype: str = "success"
    response: Any = None
    error: str | None = None
    pending_permission_requests: Any = None
    """In the answer to `initialize`: the permission requests that Claude waits on. Older versions may omit it."""


class ControlResponse(Struct, frozen=True, tag_field="type", tag="control_response"):
    """Claude acknowledges a request of ours, or echoes the answer it received."""

    response: Acknowledged
    mark: str = ""
    """On an echo: the mark of our answer."""


class ControlCancel(Struct, frozen=True, tag_field="type", tag="control_cancel_request"):
    """Claude cancels a request."""

    request_id: str


class UnknownFrame(Struct, frozen=True):
    """An unknown frame, or one of unknown shape; `fields` is all of it."""

    type: str
    subtype: str | None
    fields: dict[str, Any]


class Unreadable(Struct, frozen=True):
    """A line that isn't a frame. `why` names the problem; `head` is its start, the rest is in the journal."""

    why: str
    head: bytes
    size: int


Frame = (
    Init
    | Lifecycle
    | Status
    | Task
    | BackgroundTasks
    | ApiRetry
    | ElicitationComplete
    | PermissionDenied
    | PermissionCheck
    | TitleChanged
    | CornerNotice
    | WritesLost
    | StateChanged
    | Assistant
    | User
    | StreamEvent
    | ToolProgress
    | RateLimit
    | Result
    | ControlRequest
    | ControlResponse
    | ControlCancel
    | UnknownFrame
    | Unreadable
)
