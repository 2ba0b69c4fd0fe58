"""Claude's messages to an MCP server on our side of the pipe, and the replies."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.wire import mcp

TOOL = {"name": "ask_user", "description": "Asks", "inputSchema": {"type": "object"}}


def written(**message: object) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **message})


def test_the_greeting_is_returned_in_the_version_that_claude_speaks() -> None:
    message = mcp.read(written(id=0, method="initialize", params={"protocolVersion": "2025-11-25"}))

    assert message == mcp.Initialize(0, "2025-11-25")
    assert mcp.initialized(message, "handraise", "1.2")["result"] == {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "handraise", "version": "1.2"},
    }


def test_a_greeting_without_a_version_gets_the_oldest_one() -> None:
    assert mcp.read(written(id="a", method="initialize")) == mcp.Initialize("a", "2024-11-05")


def test_the_tools_are_listed_under_the_id_of_the_request() -> None:
    message = mcp.read(written(id=1, method="tools/list"))

    assert message == mcp.ListTools(1)
    assert mcp.tools(message, [TOOL]) == {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}}


def test_a_call_names_the_tool_use_that_the_conversation_knows() -> None:
    params = {"name": "ask_user", "arguments": {"q": "?"}, "_meta": {"claudecode/toolUseId": "toolu_1"}}

    assert mcp.read(written(id=2, method="tools/call", params=params)) == mcp.CallTool(
        2, "ask_user", {"q": "?"}, "toolu_1"
    )


@pytest.mark.parametrize("meta", [{}, {"_meta": None}, {"_meta": []}, {"_meta": {"claudecode/toolUseId": 3}}])
def test_a_call_may_come_without_arguments_and_without_a_tool_use(meta: dict[str, Any]) -> None:
    message = mcp.read(written(id=2, method="tools/call", params={"name": "ask_user", **meta}))

    assert message == mcp.CallTool(2, "ask_user", {}, None)


@pytest.mark.parametrize("is_error", [True, False])
def test_a_tool_result_is_one_text(is_error: bool) -> None:
    assert mcp.tool_result("a", "nobody answered", is_error=is_error) == {
        "jsonrpc": "2.0",
        "id": "a",
        "result": {"content": [{"type": "text", "text": "nobody answered"}], "isError": is_error},
    }


def test_a_cancelled_call_is_named_by_its_id() -> None:
    params = {"requestId": 3, "reason": "AbortError: remote-cancel"}

    assert mcp.read(written(method="notifications/cancelled", params=params)) == mcp.Cancelled(3)


@pytest.mark.parametrize("params", [{}, {"requestId": None}, {"requestId": True}])
def test_a_cancellation_of_nothing_is_any_notification(params: dict[str, Any]) -> None:
    message = mcp.read(written(method="notifications/cancelled", params=params))

    assert message == mcp.Notification("notifications/cancelled")


def test_a_notification_has_no_id_and_its_acknowledgement_neither() -> None:
    assert mcp.read(written(method="notifications/initialized")) == mcp.Notification("notifications/initialized")
    assert "id" not in mcp.acknowledgement()


def test_a_method_that_we_do_not_have_is_said_to_be_missing() -> None:
    message = mcp.read(written(id=9, method="resources/list"))

    assert message == mcp.Unknown(9, "resources/list")
    assert mcp.method_not_found(message)["error"] == {"code": -32601, "message": "there is no method resources/list"}


@pytest.mark.parametrize(
    ("message", "request_id", "code"),
    [
        (b"{", None, mcp.PARSE_ERROR),
        (b"\xff", None, mcp.PARSE_ERROR),
        (b'"\\ud83d"', None, mcp.PARSE_ERROR),
        (b"[" * 100_000, None, mcp.PARSE_ERROR),
        (b"[]", None, mcp.INVALID_REQUEST),
        (b"null", None, mcp.INVALID_REQUEST),
        (written(id=None, method="tools/list"), None, mcp.INVALID_REQUEST),
        (written(id=True, method="tools/list"), None, mcp.INVALID_REQUEST),
        (written(id=1.5, method="tools/list"), None, mcp.INVALID_REQUEST),
        (written(id=1), 1, mcp.INVALID_REQUEST),
        (written(id=1, method=7), 1, mcp.INVALID_REQUEST),
        (written(id=1, method="tools/list", params=[]), 1, mcp.INVALID_PARAMS),
        (written(id=1, method="tools/call"), 1, mcp.INVALID_PARAMS),
        (written(id=1, method="tools/call", params={"name": 4}), 1, mcp.INVALID_PARAMS),
        (written(id=1, method="tools/call", params={"name": "a", "arguments": "b"}), 1, mcp.INVALID_PARAMS),
    ],
)
def test_a_bad_shape_is_answered_with_an_error_of_json_rpc(message: bytes, request_id: int | None, code: int) -> None:
    contents = mcp.read(message)

    assert isinstance(contents, mcp.MalformedMessage)
    assert (contents.reply["id"], contents.reply["error"]["code"]) == (request_id, code)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from(["name", "_meta", "x"]), inside),
    max_leaves=6,
)
_METHODS = st.sampled_from(["initialize", "tools/list", "tools/call", "notifications/cancelled", "ping"])


@given(st.fixed_dictionaries({}, optional={"id": _JSON, "method": _METHODS | _JSON, "params": _JSON}))
def test_whatever_comes_is_told_and_never_raises(message: dict[str, Any]) -> None:
    assert isinstance(mcp.read(msgspec.json.encode(message)), mcp.Message)


@given(st.binary(max_size=40))
def test_bytes_that_mean_nothing_are_told_and_never_raise(message: bytes) -> None:
    assert isinstance(mcp.read(message), mcp.Message)
