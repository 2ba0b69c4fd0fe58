"""Translates frames to feed contents, including "not signed in". Pure; remembers only actions in progress."""

import shlex
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from handraise.model.items import (
    ActionChecked,
    ActionEnded,
    ActionKind,
    ActionStarted,
    Content,
    Frame,
    Notice,
    Text,
    Thinking,
    TurnEnded,
)
from handraise.model.plain_line import first_plain_line
from handraise.model.tools import tool_named
from handraise.present.actions import name_action
from handraise.texts import t
from handraise.wire import frames
from handraise.wire.frames import (
    Block,
    ImageBlock,
    ServerToolUse,
    TextBlock,
    ThinkingBlock,
    ToolResult,
    ToolUse,
    UnknownBlock,
)

_CODE = "authentication_failed"
_NO_KEY = ("", "none")
_OF_THE_HUB = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
"""Keys that Claude inherits from the hub's environment."""
OUTPUT = 64 * 1024
"""How many characters of a tool's output go into the feed; the rest is counted, and stays in the journal."""
_ABORTED = "aborted"
"""How the reason of an interrupted turn starts: in a reply or in a tool."""
_CHECKING = "checking"
_URGENT = ("high", "immediate")
_LONGEST_NOTICE = 2000
_FULL = {"ENOSPC": "full", "EDQUOT": "quota"}
_LOST = {"transcript": "transcript", "global_config": "settings"}
_TROUBLES = {
    401: "sessions.retry.sign_in",
    429: "sessions.retry.rate",
    500: "sessions.retry.internal",
    529: "sessions.retry.overloaded",
}
"""What each status of the model's API means."""
_LINES = {
    frames.NOT_A_FRAME: "sessions.line.not_a_frame",
    frames.CUT_OFF: "sessions.line.cut_off",
    frames.TOO_LONG: "sessions.line.too_long",
    frames.NOT_UTF8: "sessions.line.not_utf8",
    frames.NOISE: "sessions.line.noise",
}
"""Why a line could not be read."""
BACKGROUND = "task:"
"""The prefix of background actions."""
_UNDER_WAY = 1000
"""How many actions are remembered; some never end, so the oldest are forgotten."""
_NAME = 80
_SYNTHETIC = "<synthetic>"
"""The model of what Claude Code writes itself."""
_SHOWN = frozenset((frames.Assistant, frames.User, frames.Task, frames.RateLimit, frames.ApiRetry))


def is_refused(frame: frames.Assistant | frames.ApiRetry) -> bool:
    """Whether the frame says that Claude isn't signed in, or that the API refused its sign-in."""
    return frame.error == _CODE


def advice(program: str, key_source: str, own: str = "") -> str:
    """What to do, with the exact program that the hub runs. `key_source` is where Claude says its key is from.

    `own` is Claude's own text about it: a key may be refused for several reasons.
    """
    if key_source in _NO_KEY:
        command = f"{shlex.quote(program)} auth login"
        return t("sessions.sign_in.missing", command=command)
    of_the_hub = key_source in _OF_THE_HUB
    text = t("sessions.sign_in.hub_key" if of_the_hub else "sessions.sign_in.key", source=key_source[:100])
    return f"{text}\n{own}" if own else text


_SHOWN |= {frames.UnknownFrame, frames.Unreadable, frames.PermissionCheck, frames.CornerNotice, frames.WritesLost}
"""All frames that `translate` handles. Most frames are not among them, and cost nothing more."""


class Action(Struct, frozen=True):
    """An action in progress."""

    kind: ActionKind
    title: str
    parent: str | None = None
    named: str = ""
    """How Claude describes the sub-agent that it starts."""


def translate(frame: frames.Frame, under_way: dict[str, Action]) -> list[Content]:
    """The contents that a frame adds to the timeline; updates `under_way`."""
    if type(frame) not in _SHOWN:
        return []
    match frame:
        case frames.Assistant() if is_refused(frame):
            return []  # "Please run /login" is no help here: the end of the turn says what to do
        case frames.Assistant(message=message, parent_tool_use_id=parent):
            written = [each for block in message.content for each in _block(block, message.id, parent, under_way)]
            return [_as_own(each) for each in written] if message.model == _SYNTHETIC else written
        case frames.User(is_replay=False, parent_tool_use_id=parent, message=user_message) if not isinstance(
            user_message.content, str
        ):
            return [each for block in user_message.content for each in _resulted(block, parent, under_way)]
        case frames.Task():
            return _task(frame, under_way)
        case frames.RateLimit(rate_limit_info=left):
            return _rate_limit(left)
        case frames.ApiRetry(attempt=attempt, max_retries=most, error_status=status, error=error):
            what = " ".join(str(each) for each in (status, error) if each)
            trouble = _TROUBLES.get(status or 0, "sessions.retry.unreachable")
            return [Notice("warning", t(trouble, what=what, attempt=attempt, most=most), "retry")]
        case frames.PermissionCheck(tool_use_id=action, status=state) if action in under_way:
            return [ActionChecked(action, state == _CHECKING)]
        case frames.CornerNotice(text=text, priority=priority) if text.strip():
            return [Notice("warning" if priority in _URGENT else "info", text[:_LONGEST_NOTICE], "notification")]
        case frames.WritesLost():
            return [Notice("error", _lost(frame), "writes lost")]
        case frames.UnknownFrame(fields=fields):
            return [Frame(fields)]
        case frames.Unreadable(why=why, head=head, size=size):
            key = _LINES.get(why, "sessions.line.broken")
            return [Notice("warning", t(key, size=size, head=head[:200].decode(errors="replace")), "line")]
        case _:
            return []


def turn_ended(result: frames.Result, turn: int, last_text: str, cost_before: float) -> TurnEnded:
    """What a turn cost, and its error as reported. `is_error` decides; an empty result means the last text."""
    interrupted = (result.terminal_reason or "").startswith(_ABORTED)
    error = t("sessions.turn.interrupted") if interrupted else None
    if result.is_error and not interrupted:
        errors = "; ".join(str(each) for each in result.errors or []) or result.result
        error = errors or result.subtype or t("sessions.turn.no_reason")
    return TurnEnded(
        turn=turn,
        cost_usd=max(0.0, result.total_cost_usd - cost_before),
        duration_ms=int(result.duration_ms),
        usage=result.usage or {},
        is_error=result.is_error,
        error=error,
        result=result.result or last_text,
        denials=len(result.permission_denials or []),
        interrupted=interrupted,
    )


def _block(block: Block, message: str, parent: str | None, under_way: dict[str, Action]) -> list[Content]:
    match block:
        case TextBlock(text):
            return [Text(text, message, parent)] if text else []
        case ThinkingBlock(thinking):
            return [Thinking(thinking, message, parent)] if thinking else []
        case ToolUse(id=action, name=tool, input=raw) | ServerToolUse(id=action, name=tool, input=raw):
            tool_input = _object(raw)
            kind, title = name_action(tool, tool_input)
            named = tool_named(tool).subject_of(tool_input) if tool_named(tool).kind == "agent" else ""
            _remember(under_way, action, Action(kind, title, parent, first_plain_line(named)[:_NAME]))
            return [ActionStarted(action, kind, title, tool, tool_input, parent)]
        case ToolResult():
            return _resulted(block, parent, under_way)
        case UnknownBlock(fields=fields):
            return [Frame({"block": fields})]
        case ImageBlock():
            return [Notice("info", t("sessions.notice.image"), "image")]


def _as_own(content: Content) -> Content:
    return replace(content, own=True) if isinstance(content, Text) else content


def _remember(under_way: dict[str, Action], action: str, begun: Action) -> None:
    under_way[action] = begun
    if len(under_way) > _UNDER_WAY:
        del under_way[next(iter(under_way))]


def _resulted(block: Block, parent: str | None, under_way: dict[str, Action]) -> list[Content]:
    match block:
        case ToolResult(tool_use_id=action, content=content, is_error=failed):
            begun = under_way.pop(action, None) or Action("tool", t("sessions.tool"), parent)
            text, images = _output(content)
            return [
                ActionEnded(
                    action,
                    begun.kind,
                    begun.title,
                    not failed,
                    text[:OUTPUT],
                    max(0, len(text) - OUTPUT),
                    images,
                    begun.parent,
                )
            ]
        case UnknownBlock(fields=fields):
            return [Frame({"block": fields})]
        case _:
            return []


class _Piece(Struct):
    type: str = ""
    text: str = ""


def _output(content: str | list[Raw] | None) -> tuple[str, int]:
    if content is None or isinstance(content, str):
        return content or "", 0
    texts, images = [], 0
    for raw in content:
        piece = _piece(raw)
        match piece.type:
            case "text":
                texts.append(piece.text)
            case "image":
                images += 1
            case _:
                texts.append(bytes(raw).decode(errors="replace"))
    return "\n".join(texts), images


def _piece(raw: Raw) -> _Piece:
    try:
        return msgspec.json.decode(raw, type=_Piece)
    except (msgspec.DecodeError, RecursionError):
        return _Piece()


def _object(raw: Raw) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        value = bytes(raw).decode(errors="replace")
    return value if isinstance(value, dict) else {"input": value}


def _task(task: frames.Task, under_way: dict[str, Action]) -> list[Content]:
    """A background task is its own action, below the tool call that started it."""
    action = BACKGROUND + task.task_id
    match task.subtype:
        case "task_started":
            title = task.description or task.task_type or t("sessions.notice.background")
            _remember(under_way, action, Action("tool", title, task.tool_use_id))
            return [ActionStarted(action, "tool", title, task.task_type or "task", {}, task.tool_use_id)]
        case "task_notification":
            begun = under_way.pop(action, None) or Action(
                "tool", task.description or t("sessions.notice.background"), task.tool_use_id
            )
            ok = task.status in (None, "completed")
            return [ActionEnded(action, begun.kind, begun.title, ok, task.summary or "", parent=begun.parent)]
        case _:
            return []


def _lost(frame: frames.WritesLost) -> str:
    """Why Claude could not save everything, and what that means."""
    kinds = dict.fromkeys(_LOST.get(each, "unknown") for each in frame.lost or [""])
    what = " ".join(t(f"sessions.lost_writes.lost.{each}") for each in kinds)
    return t(f"sessions.lost_writes.{_FULL.get(frame.error_code, 'unnamed')}", what=what)


def _rate_limit(left: dict[str, Any]) -> list[Content]:
    status = left.get("status")
    if status == "allowed":
        return []
    kind, resets = left.get("rateLimitType") or t("sessions.limit.usage"), _moment(left.get("resetsAt"))
    if status == "rejected":
        return [Notice("error", t("sessions.limit.used_up", kind=kind, at=resets), "limit")]
    return [Notice("warning", t("sessions.limit.nearly", kind=kind, status=status, at=resets), "limit")]


def _moment(seconds: object) -> str:
    try:
        return f"{datetime.fromtimestamp(float(str(seconds)), UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError, OSError):
        return t("sessions.limit.unknown_time")
