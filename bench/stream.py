"""A realistic Claude stream: from the recordings if there are any, else generated in the real format.

Recorded stories are short: a scripted model's text comes in a piece or two. A real model's comes in a hundred, so that
95 of 100 frames are deltas; here each recorded delta is repeated a hundred times.
"""

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path

RECORDINGS = Path(__file__).parent.parent / "tests" / "recordings"
_WORDS = ["the", "a", "file", "test", "change", "look", "into", "because", "which", "session", "writes", "reads"] * 5
_WORDS += ["naïve", '"so"', "line\n"]
DELTAS = 100
_SESSION = "ac440566-0684-433a-ba7a-9a30f9486654"


def stream(at_least: int) -> bytes:
    """Whole lines: this many frames or a few more."""
    recorded = sorted(RECORDINGS.glob("*.ndjson"))
    source = _recorded(recorded) if recorded else _made_up(random.Random(7))
    return b"".join(itertools.islice(source, at_least))


def _recorded(paths: list[Path]) -> Iterator[bytes]:
    lines = [line for path in paths for line in path.read_bytes().splitlines(keepends=True) if _is_message(line)]
    while True:
        for line in lines:
            yield from [line] * (DELTAS if b'"content_block_delta"' in line else 1)


def _is_message(line: bytes) -> bool:
    # The other reader answers control frames itself, and refuses lines over 1 MB and what isn't JSON.
    try:
        frame = json.loads(line)
    except ValueError:
        return False
    # A mode that nobody chose in this session would raise an alarm.
    strict = frame.get("permissionMode", "default") in ("default", "plan")
    return strict and line.endswith(b"\n") and len(line) < 1_000_000 and not frame["type"].startswith("control_")


def _made_up(dice: random.Random) -> Iterator[bytes]:
    """Turns with some text and a tool call each; as in a recorded turn, 95 of 100 frames are deltas."""
    for number in itertools.count(1):
        for frame in _turn(dice, f"msg_{number:016x}", f"toolu_{number:016x}"):
            yield json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _turn(dice: random.Random, message_id: str, tool_use_id: str) -> Iterator[dict[str, object]]:
    usage = {"input_tokens": 12791, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}
    message: dict[str, object] = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "usage": usage,
    }
    words = [dice.choice(_WORDS) + " " for _ in range(120)]
    yield _event(dice, {"type": "message_start", "message": {**message, "content": []}})
    yield _event(dice, {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    for word in words:
        delta = {"type": "text_delta", "text": word}
        yield _event(dice, {"type": "content_block_delta", "index": 0, "delta": delta})
    yield _assistant(dice, message, {"type": "text", "text": "".join(words)})
    yield _event(dice, {"type": "content_block_stop", "index": 0})
    call: dict[str, object] = {
        "type": "tool_use",
        "id": tool_use_id,
        "name": "Bash",
        "input": {"command": "cat notes.txt", "timeout": 5},
    }
    for _ in range(20):
        piece = {"type": "input_json_delta", "partial_json": '{"comm'}
        yield _event(dice, {"type": "content_block_delta", "index": 1, "delta": piece})
    yield _assistant(dice, message, call)
    text = " ".join(dice.choices(_WORDS, k=dice.choice((50, 200, 2000))))
    result = {"tool_use_id": tool_use_id, "type": "tool_result", "content": text, "is_error": False}
    yield {
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "parent_tool_use_id": None,
        "session_id": _SESSION,
        "uuid": _uuid(dice),
        "tool_use_result": {"stdout": text, "stderr": "", "interrupted": False, "isImage": False},
    }


def _event(dice: random.Random, event: dict[str, object]) -> dict[str, object]:
    return {
        "type": "stream_event",
        "event": event,
        "session_id": _SESSION,
        "parent_tool_use_id": None,
        "uuid": _uuid(dice),
        "user_message_uuids": ["6c5afc3b-5ed6-409b-a0e6-7cd1ead0ab0b"],
    }


def _assistant(dice: random.Random, message: dict[str, object], block: dict[str, object]) -> dict[str, object]:
    return {
        "type": "assistant",
        "message": {**message, "content": [block], "stop_reason": None},
        "parent_tool_use_id": None,
        "session_id": _SESSION,
        "uuid": _uuid(dice),
    }


def _uuid(dice: random.Random) -> str:
    return f"{dice.getrandbits(32):08x}-5ed6-409b-a0e6-{dice.getrandbits(48):012x}"
