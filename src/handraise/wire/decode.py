"""Decodes one line to one frame. Loosely: whatever does not fit its type is kept as it is."""

import json
from typing import Any

import msgspec
from msgspec import Raw, Struct

from handraise.wire import blocks, frames, requests
from handraise.wire.frames import Frame, UnknownFrame, Unreadable
from handraise.wire.lines import HEAD


def decode(text: bytes) -> list[Frame]:
    """One frame, as a rule. A line that is not UTF-8 gives a record of that and the frame that could be rescued."""
    try:
        if _has_bad_text(text):
            return _rescue(text)
        return [_decode_strictly(text)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _rescue(text)


class _Head(Struct):
    type: str
    subtype: str | None = None


class _AnyMessage(Struct):
    content: tuple[Raw, ...]
    id: str = ""
    model: str = ""
    usage: dict[str, Any] | None = None
    stop_reason: str | None = None


class _AnyControlRequest(Struct):
    request_id: str
    request: Raw


class _KnownMessage(frames.Message, frozen=True):
    content: tuple[blocks.Known, ...]


class _KnownAssistant(frames.Assistant, frozen=True):
    message: _KnownMessage


class _KnownUserMessage(frames.UserMessage, frozen=True):
    content: str | tuple[blocks.Known, ...]


class _KnownUser(frames.User, frozen=True):
    message: _KnownUserMessage


def _decoder(shape: Any) -> msgspec.json.Decoder[Any]:  # noqa: ANN401 (msgspec takes unions too)
    return msgspec.json.Decoder(shape)


_HEAD = _decoder(_Head)
_BLOCK = _decoder(blocks.Known)
_CONTROL = _decoder(_AnyControlRequest)
_REQUEST = _decoder(requests.Known)
_ANY = msgspec.json.Decoder()

_SHAPES: dict[str, type[Struct]] = {
    "assistant": _KnownAssistant,
    "user": _KnownUser,
    "stream_event": frames.StreamEvent,
    "tool_progress": frames.ToolProgress,
    "rate_limit_event": frames.RateLimit,
    "result": frames.Result,
    "control_response": frames.ControlResponse,
    "control_cancel_request": frames.ControlCancel,
    "command_lifecycle": frames.Lifecycle,
}
_SYSTEM_SHAPES: dict[str | None, type[Struct]] = {
    "init": frames.Init,
    "status": frames.Status,
    "task_started": frames.Task,
    "task_progress": frames.Task,
    "task_updated": frames.Task,
    "task_notification": frames.Task,
    "api_retry": frames.ApiRetry,
}
_REQUEST_SHAPES: dict[str, type[Struct]] = {
    "can_use_tool": requests.CanUseTool,
    "elicitation": requests.Elicitation,
    "mcp_message": requests.McpMessage,
}
_DECODERS = {kind: _decoder(shape) for kind, shape in _SHAPES.items()}
_SYSTEM_DECODERS = {subtype: _decoder(shape) for subtype, shape in _SYSTEM_SHAPES.items()}

# The frames that come by the thousand have their type first, so that one pass is enough; a miss does no harm.
_QUICK = (
    (b'{"type":"stream_event"', _DECODERS["stream_event"]),
    (b'{"type":"assistant"', _DECODERS["assistant"]),
    (b'{"type":"user"', _DECODERS["user"]),
)


def _has_bad_text(text: bytes) -> bool:
    # A Raw is passed on unread: without this look, half a surrogate pair or a bad byte in it would come out again
    # where somebody reads it, or writes it back to Claude.
    if not text.isascii():
        text.decode()
    return b"\\ud" in text or b"\\uD" in text


def _decode_strictly(text: bytes) -> Frame:
    try:
        return _decode_typed(text)
    except msgspec.ValidationError:
        return _decode_loosely(text)


def _decode_typed(text: bytes) -> Frame:
    for start, decoder in _QUICK:
        if text.startswith(start):
            quick: Frame = decoder.decode(text)
            return quick
    head = _HEAD.decode(text)
    if head.type == "control_request":
        return _decode_request(text)
    known = _SYSTEM_DECODERS.get(head.subtype) if head.type == "system" else _DECODERS.get(head.type)
    if known is None:
        return UnknownFrame(head.type, head.subtype, _ANY.decode(text))
    frame: Frame = known.decode(text)
    return frame


def _decode_request(text: bytes) -> Frame:
    control = _CONTROL.decode(text)
    try:
        return frames.ControlRequest(control.request_id, _REQUEST.decode(control.request))
    except msgspec.ValidationError:
        return frames.ControlRequest(control.request_id, _loose_request(_ANY.decode(control.request)))


def _decode_loosely(text: bytes) -> Frame:
    """For a frame of a known type with something unexpected inside: keeps each field that fits."""
    told = _ANY.decode(text)
    if not isinstance(told, dict):
        return Unreadable(frames.NOT_A_FRAME, text[:HEAD], len(text))
    kind, subtype = told.get("type"), told.get("subtype")
    unknown = UnknownFrame(kind if isinstance(kind, str) else "", subtype if isinstance(subtype, str) else None, told)
    if kind in ("assistant", "user"):
        return _loose_message(str(kind), told) or unknown
    if kind == "control_request" and isinstance(request_id := told.get("request_id"), str):
        return frames.ControlRequest(request_id, _loose_request(told.get("request")))
    shape = _SYSTEM_SHAPES.get(unknown.subtype) if kind == "system" else _SHAPES.get(unknown.type)
    return _loose(shape, told) or unknown if shape else unknown


def _loose(shape: type[Struct], told: dict[str, Any]) -> Any:  # noqa: ANN401 (a frame of that shape, or None)
    kept = {}
    for each in msgspec.structs.fields(shape):
        if each.encode_name not in told:
            if each.required:
                return None
            continue
        try:
            kept[each.name] = _decoder(each.type).decode(msgspec.json.encode(told[each.encode_name]))
        except msgspec.ValidationError:
            if each.required:
                return None
    return shape(**kept)


def _loose_message(kind: str, told: dict[str, Any]) -> Frame | None:
    message = told.get("message")
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return None
    known = tuple(_loose_block(block) for block in content)
    rest = {key: value for key, value in told.items() if key != "message"}
    if kind == "user":
        user = _loose(frames.User, {**rest, "message": {"content": ""}})
        return msgspec.structs.replace(user, message=frames.UserMessage(known)) if user else None
    inside = _loose(_AnyMessage, {**message, "content": []})
    whole = frames.Message(known, inside.id, inside.model, inside.usage, inside.stop_reason)
    assistant = _loose(_KnownAssistant, {**rest, "message": {"content": []}})
    return msgspec.structs.replace(assistant, message=whole) if assistant else None


def _loose_request(told: object) -> requests.Request:
    fields = told if isinstance(told, dict) else {}
    subtype = str(fields.get("subtype", ""))
    shape = _REQUEST_SHAPES.get(subtype)
    loose: requests.Request | None = _loose(shape, fields) if shape else None
    return loose or requests.UnknownRequest(subtype, told)


def _loose_block(told: object) -> blocks.Block:
    try:
        known: blocks.Block = _BLOCK.decode(msgspec.json.encode(told))
        return known
    except msgspec.ValidationError:
        fields = told if isinstance(told, dict) else {"value": told}
        return blocks.UnknownBlock(str(fields.get("type", "")), fields)


def _rescue(text: bytes) -> list[Frame]:
    """For what a strict reader refuses: half surrogate pairs, bytes that are not UTF-8, lines that are no JSON."""
    try:
        return [_mend(text.decode())]
    except UnicodeDecodeError:
        damaged = Unreadable(frames.NOT_UTF8, text[:HEAD], len(text))
        try:
            return [damaged, _mend(text.decode(errors="replace"))]
        except (ValueError, msgspec.DecodeError, RecursionError):
            return [damaged]
    except (ValueError, msgspec.DecodeError, RecursionError):
        why = frames.BROKEN if text.lstrip().startswith(b"{") else frames.NOISE
        return [Unreadable(why, text[:HEAD], len(text))]


def _mend(text: str) -> Frame:
    # The standard library takes half a surrogate pair; from here on it is U+FFFD, as Node itself writes it to a file.
    told = json.loads(text, parse_constant=str)
    whole = json.dumps(told, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _decode_strictly(whole.encode())
