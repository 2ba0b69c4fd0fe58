"""Decodes one line to one frame. Loosely: what doesn't fit its type is kept as it is."""

import json
import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any, Union

import msgspec
from msgspec import Raw, Struct

from handraise.wire import frames
from handraise.wire.frames import Frame, UnknownFrame, Unreadable
from handraise.wire.lines import HEAD

LookCloser = Callable[[bytes], Sequence[Frame]]


def decode_many(text: bytes, look_closer: LookCloser) -> list[Frame]:
    """The frames of a text of whole lines. `look_closer` gets the lines that need more than a quick look.

    Those include Claude's requests and cancellations.
    """
    found: list[Frame] = []
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + _GROUP) + 1 or len(text)
        found += _decode_group(text[start:end], look_closer)
        start = end
    return found


def decode(text: bytes) -> list[Frame]:
    """Usually one frame; a blank line gives none.

    A line that isn't UTF-8 gives an `Unreadable` and the frame that could be rescued.
    """
    # A Raw is passed on undecoded. Without this check, half a surrogate pair or a bad byte in it would surface later,
    # where it is read or written back to Claude.
    if not _is_sound(text):
        return _rescue(text)
    try:
        return [_decode_sound(text)]
    except (msgspec.DecodeError, RecursionError):
        return _rescue(text)


def pending_requests(listed: object) -> tuple[list[frames.ControlRequest], bool]:
    """The requests in an answer to `initialize` that Claude waits on, and whether all of the list could be read."""
    if not isinstance(listed, list):
        return [], False
    found = [each for entry in listed for each in decode(msgspec.json.encode(entry))]
    requests = [each for each in found if isinstance(each, frames.ControlRequest)]
    return requests, len(requests) == len(listed)


class _RawRequest(Struct, tag_field="type", tag="control_request"):
    """A frame identified by the subtype of its contents."""

    request_id: str
    request: Raw


class _System(Struct, tag_field="type", tag="system"):
    """A frame identified by its subtype."""

    subtype: str = ""


_NAMED_BY_TYPE = (
    frames.StreamEvent,
    frames.Assistant,
    frames.User,
    frames.Result,
    frames.ToolProgress,
    frames.RateLimit,
    frames.Lifecycle,
    frames.ControlResponse,
    frames.ControlCancel,
)
_QUICK = frozenset(_NAMED_BY_TYPE) - {frames.ControlCancel}
_SHAPES: dict[str, type[Struct]] = {str(each.__struct_config__.tag): each for each in _NAMED_BY_TYPE}
_SYSTEM_SHAPES: dict[str, type[Struct]] = {
    "init": frames.Init,
    "status": frames.Status,
    "task_started": frames.Task,
    "task_progress": frames.Task,
    "task_updated": frames.Task,
    "task_notification": frames.Task,
    "background_tasks_changed": frames.BackgroundTasks,
    "api_retry": frames.ApiRetry,
    "elicitation_complete": frames.ElicitationComplete,
    "permission_denied": frames.PermissionDenied,
    "permission_check_status": frames.PermissionCheck,
    "session_title_changed": frames.TitleChanged,
    "notification": frames.CornerNotice,
    "session_writes_lost": frames.WritesLost,
    "session_state_changed": frames.StateChanged,
}
_REQUEST_SHAPES: dict[str, type[Struct]] = {
    "can_use_tool": frames.CanUseTool,
    "elicitation": frames.Elicitation,
    "request_user_dialog": frames.UserDialog,
    "mcp_message": frames.McpMessage,
    "hook_callback": frames.HookCallback,
}


def _decoder(shape: Any) -> msgspec.json.Decoder[Any]:  # noqa: ANN401 (msgspec takes unions too)
    return msgspec.json.Decoder(shape)


_TAGGED = _decoder(Union[(*_NAMED_BY_TYPE, _System, _RawRequest)])
_SYSTEM = {subtype: _decoder(shape) for subtype, shape in _SYSTEM_SHAPES.items()}
_BLOCK = _decoder(frames.KnownBlock)
_REQUEST = _decoder(frames.KnownRequest)
_ANY = msgspec.json.Decoder()
_GROUP = 8 * 1024
"""Bytes decoded at once, up to the end of a line. One bad line slows down all of them."""
_BACKSLASH = ord("\\")
_MAY_BE_HALF = re.compile(rb"\\u[dD][89a-fA-F]").search


def _decode_group(text: bytes, look_closer: LookCloser) -> list[Frame]:
    quick = _decode_quickly(text)
    if quick and _QUICK.issuperset(map(type, quick)):
        return quick
    found: list[Frame] = []
    for frame, line in zip_longest(quick, text.removesuffix(b"\n").split(b"\n")):
        if type(frame) in _QUICK:
            found.append(frame)
        elif system := _decode_system(frame, line):
            found.append(system)
        else:
            found += look_closer(line)
    return found


def _decode_system(recognized: object, line: bytes) -> Frame | None:
    """What a sound line says that was recognized as a system frame; None if it needs a closer look."""
    decoder = _SYSTEM.get(recognized.subtype) if isinstance(recognized, _System) else None
    try:
        system: Frame | None = decoder.decode(line) if decoder else None
    except msgspec.ValidationError:
        return None
    return system


def _decode_quickly(text: bytes) -> list[Frame]:
    """One frame per line, or none at all; frames that are not in `_QUICK` are only recognized."""
    try:
        quick: list[Frame] = _TAGGED.decode_lines(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    # Each frame ends with its line, so equal counts mean one frame per line.
    return quick if len(quick) == text.count(b"\n") and _is_sound(text) else []


def _is_sound(text: bytes) -> bool:
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError:
            return False
    return _BACKSLASH not in text or not _MAY_BE_HALF(text)


def _decode_sound(text: bytes) -> Frame:
    try:
        match _TAGGED.decode(text):
            case _System(subtype) if subtype in _SYSTEM:
                system: Frame = _SYSTEM[subtype].decode(text)
                return system
            case _System():
                return _decode_loosely(text)
            case _RawRequest(request_id, request):
                return frames.ControlRequest(request_id, _decode_request(request))
            case frame:
                known: Frame = frame
                return known
    except msgspec.ValidationError:
        return _decode_loosely(text)


def _decode_request(text: Raw) -> frames.Request:
    try:
        known: frames.Request = _REQUEST.decode(text)
        return known
    except msgspec.ValidationError:
        return _loose_request(_ANY.decode(text))


def _decode_loosely(text: bytes) -> Frame:
    """Keeps each field that fits if the type is known, and everything if not."""
    fields = _ANY.decode(text)
    if not isinstance(fields, dict):
        return Unreadable(frames.NOT_A_FRAME, text[:HEAD], len(text))
    kind, subtype = fields.get("type"), fields.get("subtype")
    unknown = UnknownFrame(kind if isinstance(kind, str) else "", subtype if isinstance(subtype, str) else None, fields)
    if kind in ("assistant", "user"):
        return _loose_message(str(kind), fields) or unknown
    if kind == "control_request" and isinstance(request_id := fields.get("request_id"), str):
        return frames.ControlRequest(request_id, _loose_request(fields.get("request")))
    shape = _SYSTEM_SHAPES.get(unknown.subtype or "") if kind == "system" else _SHAPES.get(unknown.type)
    return _loose(shape, fields) or unknown if shape else unknown


def _loose(shape: type[Struct], fields: dict[str, Any]) -> Any:  # noqa: ANN401 (a frame of that shape, or None)
    known = {}
    for each in msgspec.structs.fields(shape):
        if each.encode_name not in fields:
            if each.required:
                return None
            continue
        try:
            known[each.name] = _decoder(each.type).decode(msgspec.json.encode(fields[each.encode_name]))
        except msgspec.ValidationError:
            if each.required:
                return None
    return shape(**known)


def _loose_message(kind: str, fields: dict[str, Any]) -> Frame | None:
    message = fields.get("message")
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return None
    known = tuple(_loose_block(block) for block in content)
    rest = {key: value for key, value in fields.items() if key != "message"}
    if kind == "user":
        user: frames.User = _loose(frames.User, {**rest, "message": {"content": []}})
        return msgspec.structs.replace(user, message=frames.UserMessage(known))
    inside: frames.Message = _loose(frames.Message, {**message, "content": []})
    assistant: frames.Assistant = _loose(frames.Assistant, {**rest, "message": {"content": []}})
    return msgspec.structs.replace(assistant, message=msgspec.structs.replace(inside, content=known))


def _loose_request(value: object) -> frames.Request:
    fields = value if isinstance(value, dict) else {}
    subtype = str(fields.get("subtype", ""))
    shape = _REQUEST_SHAPES.get(subtype)
    loose: frames.Request | None = _loose(shape, fields) if shape else None
    return loose or frames.UnknownRequest(subtype, value)


def _loose_block(value: object) -> frames.Block:
    try:
        known: frames.Block = _BLOCK.decode(msgspec.json.encode(value))
        return known
    except msgspec.ValidationError:
        fields = value if isinstance(value, dict) else {"value": value}
        return frames.UnknownBlock(str(fields.get("type", "")), fields)


def _rescue(text: bytes) -> list[Frame]:
    """For what a strict decoder refuses: half surrogate pairs, bytes that aren't UTF-8, lines that aren't JSON."""
    if not text.strip():
        return []
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
    # The standard library accepts half a surrogate pair; here it becomes U+FFFD, as Node itself writes it to a file.
    value = json.loads(text, parse_constant=str)
    whole = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _decode_sound(whole.encode())
