"""Says our verbs as lines. Whatever the text holds, the outcome is one whole line of valid JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

_ANY = msgspec.json.Decoder()


def line(message: Mapping[str, Any]) -> bytes:
    """One line. JSON escapes newlines and NUL by itself; half a surrogate pair becomes U+FFFD."""
    try:
        text = msgspec.json.encode(message)
        _ANY.decode(text)  # a Raw goes in unread
    except (UnicodeError, msgspec.DecodeError):
        text = msgspec.json.encode(_well_formed(message))
    # Only a Raw can hold a line break, and only between its words: within them it is escaped.
    return text.replace(b"\n", b" ") + b"\n"


def user(content: str | Sequence[Mapping[str, Any]], uuid: str) -> bytes:
    """What a person says. The uuid comes back when Claude takes it."""
    return line({"type": "user", "uuid": uuid, "message": {"role": "user", "content": content}})


def control_request(request_id: str, subtype: str, **fields: object) -> bytes:
    """Something that we want of Claude: `initialize`, `interrupt`, `set_permission_mode`, `set_model`, …"""
    return line({"type": "control_request", "request_id": request_id, "request": {"subtype": subtype, **fields}})


def control_response(request_id: str, response: Mapping[str, Any], mark: str = "") -> bytes:
    """The answer to something that Claude wants of us. The mark comes back when Claude takes it."""
    inside = {"subtype": "success", "request_id": request_id, "response": response}
    marked = {"mark": mark} if mark else {}
    return line({"type": "control_response", **marked, "response": inside})


def control_error(request_id: str, error: str) -> bytes:
    """We cannot answer: the tool fails with this text, and Claude goes on."""
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
