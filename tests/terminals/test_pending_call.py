"""The call that a Claude in a terminal waits for: named only where its transcript leaves no doubt."""

import json
from typing import Any

from handraise.terminals.pending_call import PendingCall


def line(kind: str, content: Any, **more: Any) -> bytes:
    return json.dumps({"type": kind, "message": {"content": content}, **more}).encode()


def used(call: str, tool: str = "Bash", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": tool, "input": fields or {"command": f"touch {call}"}}


def result(call: str) -> bytes:
    return line("user", [{"type": "tool_result", "tool_use_id": call, "content": "done"}])


def title(*lines: bytes) -> str:
    pending = PendingCall()
    pending.read(lines)
    return pending.title


def test_the_call_without_a_result_is_the_one() -> None:
    assert title(line("user", "Begin."), line("assistant", [used("one")])) == "$ touch one"
    assert title(line("assistant", [used("one")]), result("one"), line("assistant", [used("two")])) == "$ touch two"
    assert title(line("assistant", [used("one")]), result("one")) == ""


def test_several_calls_at_once_are_not_guessed_at() -> None:
    both = line("assistant", [used("one"), used("two")])

    assert title(both) == ""
    assert title(both, result("one")) == "$ touch two"


def test_what_an_earlier_process_left_unfinished_is_over_with_the_next_message() -> None:
    left = line("assistant", [used("one")])

    assert title(left, line("user", "Again.")) == ""
    assert title(left, line("user", [{"type": "text", "text": "Again."}]), line("assistant", [used("two")])) == (
        "$ touch two"
    )


def test_a_sub_agent_and_its_own_calls_are_not_named() -> None:
    assert title(line("assistant", [used("one", "Agent", description="Look around", prompt="x")])) == ""
    assert title(line("assistant", [used("one")], isSidechain=True)) == ""


def test_no_line_does_harm() -> None:
    odd = [b"", b"{", b"[]", b"null", line("assistant", None), line("assistant", [None, 1, {"type": "tool_use"}])]
    hostile = line("assistant", [used("one", command="ls\n\x1b[2J\u202e")])

    assert title(*odd, hostile) == "$ ls ⟨U+001B⟩[2J⟨U+202E⟩"
