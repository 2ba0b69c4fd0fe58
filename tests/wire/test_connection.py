import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from handraise.wire import frames
from handraise.wire.connection import (
    AlreadyAnswered,
    Connection,
    LocalWireError,
    NeverAsked,
    Received,
    WasCancelled,
)
from handraise.wire.frames import CanUseTool, ControlRequest, Unreadable
from handraise.wire.lines import HEAD
from wire.corpus import ALL, STREAM, request, streams
from wire.test_decode import plain


def asked(*names: str) -> Connection:
    wire = Connection()
    for name in names:
        wire.receive(ALL[name] + b"\n")
    return wire


def response(line: bytes) -> Any:
    assert line.count(b"\n") == 1
    body = json.loads(line)
    assert body["type"] == "control_response"
    return body["response"]


def received(stream: bytes, *ends: int, limit: int = 1_000_000) -> list[Any]:
    wire = Connection(limit=limit)
    found: list[Received] = []
    start = 0
    for end in [*sorted(ends), len(stream)]:
        found += wire.receive(stream[start:end])
        start = end
    found += wire.receive_end()
    return [(plain(each.frame), each.text, each.end) for each in found]


WHOLE = {name: (stream, received(stream)) for name, stream in streams().items()}


@pytest.mark.parametrize("name", WHOLE)
@given(data=st.data())
def test_any_chunking_gives_the_same_frames(name: str, data: st.DataObject) -> None:
    stream, whole = WHOLE[name]
    ends = data.draw(st.lists(st.integers(0, len(stream)), max_size=30))
    assert received(stream, *ends) == whole


def test_byte_by_byte_gives_the_same_frames() -> None:
    stream = b"".join(text + b"\n" for text in ALL.values())
    assert received(stream, *range(len(stream))) == received(stream)


@given(st.lists(st.integers(0, len(STREAM)), max_size=10), st.integers(1, 600))
def test_any_chunking_gives_the_same_frames_whatever_the_limit(ends: list[int], limit: int) -> None:
    assert received(STREAM, *ends, limit=limit) == received(STREAM, limit=limit)


@pytest.mark.parametrize("name", WHOLE)
@given(data=st.data())
def test_many_frames_at_once_are_the_same_wherever_the_chunks_end(name: str, data: st.DataObject) -> None:
    stream, _ = WHOLE[name]
    ends = data.draw(st.lists(st.integers(0, len(stream)), max_size=10))
    limit = data.draw(st.sampled_from((100, 5000, 1_000_000)))
    one_by_one, at_once = Connection(7, limit=limit), Connection(7, limit=limit)
    start = 0
    for end in [*sorted(ends), len(stream)]:
        chunk = stream[start:end]
        found = [plain(each.frame) for each in one_by_one.receive(chunk)]
        assert plain(at_once.receive_frames(chunk)) == found
        assert (at_once.offset, at_once.open_requests) == (one_by_one.offset, one_by_one.open_requests)
        start = end
    assert at_once.receive_end() == one_by_one.receive_end()


@pytest.mark.parametrize("name", WHOLE)
def test_going_on_from_the_end_of_any_line_gives_the_rest(name: str) -> None:
    stream, whole = WHOLE[name]
    for end in sorted({end for _, _, end in whole})[:-1:7]:
        wire = Connection(offset=end)
        found = [*wire.receive(stream[end:]), *wire.receive_end()]
        assert [(plain(each.frame), each.end) for each in found] == [
            (frame, place) for frame, _, place in whole if place > end
        ]


def test_every_frame_comes_with_its_line_and_where_it_ends() -> None:
    wire = Connection(offset=100)
    found = wire.receive(ALL["text"] + b"\n" + ALL["permission"] + b"\n{")
    ends = [100 + len(ALL["text"]) + 1, 100 + len(ALL["text"]) + len(ALL["permission"]) + 2]
    assert [(each.text, each.end) for each in found] == [(ALL["text"], ends[0]), (ALL["permission"], ends[1])]
    assert wire.offset == ends[1]


def test_a_cut_off_last_line_is_recorded_once_when_claude_is_gone() -> None:
    wire = Connection()
    wire.receive(ALL["text"] + b'\n{"type":"us')
    assert wire.receive_end() == [
        Received(Unreadable(frames.CUT_OFF, b'{"type":"us', 11), b'{"type":"us', 12 + len(ALL["text"]))
    ]
    assert wire.receive_end() == []
    assert wire.offset == len(ALL["text"]) + 1


def test_a_line_beyond_the_limit_is_recorded_and_the_stream_goes_on() -> None:
    long = b'{"type":"user","message":{"content":"' + b"x" * 10_000 + b'"}}'
    wire = Connection(limit=5000)
    first, second = wire.receive(long + b"\n" + ALL["result"] + b"\n")
    assert first.frame == Unreadable(frames.TOO_LONG, long[:HEAD], len(long))
    assert first.end == len(long) + 1
    assert isinstance(second.frame, frames.Result)


def test_a_frame_hidden_in_the_head_of_a_too_long_line_is_no_frame() -> None:
    wire = Connection(limit=5000)
    (found,) = wire.receive(b'{"type":"result"}' + b" " * 10_000 + b"\n")
    assert isinstance(found.frame, Unreadable)
    assert found.frame.why == frames.TOO_LONG


def test_memory_stays_bounded_while_two_hundred_megabytes_of_one_line_go_by() -> None:
    wire = Connection(limit=1024 * 1024)
    chunk = b"x" * 65_536
    tracemalloc.start()
    try:
        for _ in range(200 * 16):
            assert wire.receive(chunk) == []
        (found,) = wire.receive(b"\n")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000
    assert found.frame == Unreadable(frames.TOO_LONG, chunk[:HEAD], 200 * 16 * 65_536)


def test_an_allowed_request_always_gets_an_input_back() -> None:  # lesson 2
    wire = asked("permission")
    assert wire.open_requests == {"r-1"}
    body = response(wire.send_allow("r-1", {"command": "ls"}))
    assert body == {
        "subtype": "success",
        "request_id": "r-1",
        "response": {"behavior": "allow", "updatedInput": {"command": "ls"}},
    }
    assert wire.open_requests == frozenset()


def test_an_allowed_request_may_carry_permissions() -> None:
    permissions = [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
    body = response(asked("permission").send_allow("r-1", {}, permissions))
    assert body["response"]["updatedPermissions"] == permissions


def test_a_denial_carries_its_reason_and_may_end_the_turn() -> None:
    assert response(asked("permission").send_deny("r-1", "not today"))["response"] == {
        "behavior": "deny",
        "message": "not today",
    }
    body = response(asked("permission").send_deny("r-1", "stop", interrupt=True))
    assert body["response"]["interrupt"] is True


def test_forms_tools_and_refusals_are_answered() -> None:
    assert response(asked("form").send_filled("r-3", "accept", {"name": "Robin"}))["response"] == {
        "action": "accept",
        "content": {"name": "Robin"},
    }
    assert response(asked("form").send_filled("r-3", "decline"))["response"] == {"action": "decline"}
    assert response(asked("mcp").send_mcp("r-4", {"id": 1}))["response"] == {"mcp_response": {"id": 1}}
    assert response(asked("hook").send_refusal("r-5", "we know no hooks")) == {
        "subtype": "error",
        "request_id": "r-5",
        "error": "we know no hooks",
    }


def answers(wire: Connection, request_id: str) -> dict[str, Any]:
    return {
        "allow": lambda: wire.send_allow(request_id, {}),
        "deny": lambda: wire.send_deny(request_id, "no"),
        "filled": lambda: wire.send_filled(request_id, "cancel"),
        "mcp": lambda: wire.send_mcp(request_id, {}),
        "refusal": lambda: wire.send_refusal(request_id, "no"),
    }


@pytest.mark.parametrize("first", ["allow", "deny", "filled", "mcp", "refusal"])
@pytest.mark.parametrize("second", ["allow", "deny", "filled", "mcp", "refusal"])
def test_a_second_answer_is_our_own_error(first: str, second: str) -> None:
    wire = asked("permission")
    answers(wire, "r-1")[first]()
    with pytest.raises(AlreadyAnswered, match="r-1 was answered before"):
        answers(wire, "r-1")[second]()


@pytest.mark.parametrize("how", ["allow", "deny", "filled", "mcp", "refusal"])
def test_an_answer_to_what_was_cancelled_or_never_asked_is_our_own_error(how: str) -> None:
    wire = asked("question", "cancel")
    with pytest.raises(WasCancelled, match="cancelled by Claude"):
        answers(wire, "r-2")[how]()
    with pytest.raises(NeverAsked):
        answers(wire, "r-7")[how]()
    assert issubclass(WasCancelled, LocalWireError)


def test_what_cannot_be_said_leaves_the_request_open() -> None:  # lesson 7
    wire = asked("permission")
    with pytest.raises(ValueError, match="Expecting"):
        wire.send_allow("r-1", Raw(b"{"))
    assert wire.open_requests == {"r-1"}
    wire.send_allow("r-1", Raw(b"{}"))


def test_several_requests_are_open_at_once_and_answered_in_any_order() -> None:
    wire = asked("permission", "question", "form", "mcp", "hook")
    assert wire.open_requests == {"r-1", "r-2", "r-3", "r-4", "r-5"}
    for request_id in ("r-4", "r-1", "r-5", "r-3", "r-2"):
        assert response(wire.send_deny(request_id, "no"))["request_id"] == request_id
    assert wire.open_requests == frozenset()


def test_a_request_made_again_after_its_cancellation_is_open_again() -> None:
    wire = asked("question", "cancel", "question")
    (request_id,) = wire.open_requests
    wire.reopen(request_id)
    assert response(wire.send_deny(request_id, "no"))["request_id"] == request_id


def test_a_cancellation_of_what_was_answered_changes_nothing() -> None:
    wire = asked("question")
    wire.send_deny("r-2", "no")
    wire.receive(ALL["cancel"] + b"\n")
    with pytest.raises(AlreadyAnswered):
        wire.send_deny("r-2", "no")


def test_requests_from_before_our_time_can_be_answered() -> None:
    wire = Connection(offset=5000, open_requests=["r-2"])
    wire.send_deny("r-2", "no")
    with pytest.raises(AlreadyAnswered):
        wire.send_deny("r-2", "no")


def test_finished_requests_are_not_remembered_for_ever() -> None:
    wire = Connection()
    for number in range(1000):
        wire.receive(request(f"r-{number}", subtype="can_use_tool", tool_name="Bash", input={}) + b"\n")
        wire.send_deny(f"r-{number}", "no")
    with pytest.raises(AlreadyAnswered):
        wire.send_deny("r-999", "no")
    with pytest.raises(NeverAsked):
        wire.send_deny("r-0", "no")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.text(), st.dictionaries(st.text(), values, max_size=5))
def test_decoding_then_encoding_an_input_is_faithful(request_id: str, tool_input: dict[str, Any]) -> None:
    wire = Connection()
    (got,) = wire.receive(request(request_id, subtype="can_use_tool", tool_name="Write", input=tool_input) + b"\n")
    assert isinstance(got.frame, ControlRequest)
    assert isinstance(got.frame.request, CanUseTool)
    assert got.frame.request_id == request_id
    body = response(wire.send_allow(request_id, got.frame.request.input))
    assert body["request_id"] == request_id
    assert body["response"]["updatedInput"] == tool_input
    # To the letter: numbers too keep their spelling.
    assert json.dumps(body["response"]["updatedInput"]) == json.dumps(tool_input)


def test_what_is_said_and_asked_of_claude_keeps_its_ids() -> None:
    wire = Connection()
    assert json.loads(wire.send_say("hello", "u-1"))["uuid"] == "u-1"
    body = json.loads(wire.send_request("ours-1", "set_permission_mode", mode="plan"))
    assert (body["request_id"], body["request"]) == ("ours-1", {"subtype": "set_permission_mode", "mode": "plan"})
    assert json.loads(wire.send_farewell("ours-2"))["request"]["subtype"] == "end_session"
