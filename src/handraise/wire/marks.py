"""The mark on an answer: by it we know our own when Claude echoes it. Pure; says nothing about what was answered."""

from hashlib import blake2b

import msgspec

_BYTES = 16
_TOO_DEEP = b"too deep"


def mark(key: str, request_id: str, response: object) -> str:
    """For exactly this answer to exactly this request; `response` is decoded JSON."""
    try:
        encoded = msgspec.json.encode(_as_claude_reads(response), order="deterministic")
    except RecursionError:
        encoded = _TOO_DEEP
    return blake2b(request_id.encode() + b"\n" + encoded, digest_size=_BYTES, key=key.encode()).hexdigest()


def _as_claude_reads(value: object) -> object:
    """Claude parses the line and writes it again: numbers are doubles there, and what is none of them is null."""
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
