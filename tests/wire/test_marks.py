"""The mark on an answer."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.wire.connection import Connection
from handraise.wire.frames import ControlResponse
from wire.corpus import ALL

KEY = "a key"
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def written(key: str | None, given: dict[str, Any]) -> bytes:
    wire = Connection(key=key)
    wire.receive(ALL["permission"] + b"\n")
    return wire.send_allow("r-1", given)


def echoed(line: bytes, key: str | None = KEY, **changed: Any) -> bool:
    wire = Connection(key=key)
    [echo] = wire.receive(json.dumps({**json.loads(line), **changed}).encode() + b"\n")
    assert isinstance(echo.frame, ControlResponse)
    return wire.is_ours(echo.frame)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_our_own_answer_is_known_when_it_comes_back(given: dict[str, Any]) -> None:
    assert echoed(written(KEY, given))


@pytest.mark.parametrize("number", ["1.0", "-0", "1e400", "123456789012345678901234567890", "0.1"])
def test_numbers_come_back_as_claude_writes_them(number: str) -> None:
    line = written(KEY, json.loads(f'{{"number": {number}}}'))
    response = json.loads(line)
    text = response["response"]["response"]["updatedInput"]["number"]
    as_double = None if text is None or abs(float(text)) == float("inf") else float(text) + 0.0
    response["response"]["response"]["updatedInput"]["number"] = (
        int(as_double) if as_double is not None and as_double.is_integer() else as_double
    )

    assert echoed(json.dumps(response).encode())


def test_what_was_changed_or_is_for_another_request_is_not_ours() -> None:
    line = written(KEY, {"command": "ls"})
    response = json.loads(line)["response"]
    other = {**response, "response": {"behavior": "allow", "updatedInput": {"command": "rm"}}}

    assert not echoed(line, response=other)
    assert not echoed(line, response={**response, "request_id": "r-2"})
    assert not echoed(line, mark="")
    assert not echoed(written("another key", {"command": "ls"}))
    assert not echoed(written(None, {"command": "ls"}))


def test_without_a_key_nothing_is_marked_and_everything_is_ours() -> None:
    line = written(None, {"command": "ls"})

    assert b"mark" not in line
    assert echoed(line, key=None)


def test_a_deep_answer_is_marked_all_the_same() -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]

    assert echoed(written(KEY, {"deep": deep}))
