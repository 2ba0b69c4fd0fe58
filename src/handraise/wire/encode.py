"""Encodes lines, and marks answers so that we recognize our own when Claude echoes them. Pure."""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Raw

_BYTES = 16
_TOO_DEEP = b"too deep"
_ANY = msgspec.json.Decoder()


def mark(key: str, request_id: str, response: object) -> str:
    """For exactly this answer to exactly this request; `response` is decoded JSON."""
    try:
        encoded = msgspec.json.encode(_as_claude_reads(response), order="deterministic")
    except RecursionError:
        encoded = _TOO_DEEP
    return blake2b(request_id.encode() + b"\n" + encoded, digest_size=_BYTES, key=key.encode()).hexdigest()


def _as_claude_reads(value: object) -> object:
    """Claude parses the line and writes it again: its numbers are doubles, and non-finite ones become null."""
    match value:
        case bool():
            return value
        case int() | float():
            try:
                number = float(value) + 0.0  # -0 is written as 0
            except OverflowError:
                return None
            return number if abs(number) != float("inf") else None
        case dict():
            return {key: _as_claude_reads(each) for key, each in value.items()}
        case list() | tuple():
            return [_as_claude_reads(each) for each in value]
        case _:
            return value


def line(message: Mapping[str, Any]) -> bytes:
    """One line. JSON escapes newlines and NUL by itself; half a surrogate pair becomes U+FFFD."""
    try:
        text = msgspec.json.encode(message)
        _ANY.decode(text)  # a Raw is inserted undecoded
    except (UnicodeError, msgspec.DecodeError):
        text = msgspec.json.encode(_well_formed(message))
    # Only a Raw can contain a line break, and only between tokens: inside strings it is escaped.
    return text.replace(b"\n", b" ") + b"\n"


def user(content: str | Sequence[Mapping[str, Any]], uuid: str) -> bytes:
    """A person's message. The uuid comes back when Claude receives it."""
    return line({"type": "user", "uuid": uuid, "message": {"role": "user", "content": content}})


def control_request(request_id: str, subtype: str, **fields: object) -> bytes:
    """A request to Claude: `initialize`, `interrupt`, `set_permission_mode`, `set_model`, …"""
    return line({"type": "control_request", "request_id": request_id, "request": {"subtype": subtype, **fields}})


def control_response(request_id: str, response: Mapping[str, Any], mark: str = "") -> bytes:
    """The answer to a request from Claude. The mark comes back when Claude receives it."""
    inside = {"subtype": "success", "request_id": request_id, "response": response}
    marked = {"mark": mark} if mark else {}
    return line({"type": "control_response", **marked, "response": inside})


def control_error(request_id: str, error: str) -> bytes:
    """We can't answer: the tool fails with this text, and Claude continues."""
    inside = {"subtype": "error", "request_id": request_id, "error": error}
    return line({"type": "control_response", "response": inside})


def _well_formed(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case Raw():
            return _well_formed(json.loads(bytes(value).decode(errors="replace")))
        case Mapping():
            return {_well_formed(key): _well_formed(each) for key, each in value.items()}
        case list() | tuple():
            return [_well_formed(each) for each in value]
        case _:
            return value
