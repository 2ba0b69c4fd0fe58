import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from handraise.wire import encode

NASTY = [
    "\n",
    "\r\n",
    "\0",
    "\ud83d",
    "\ude00\ud83d",
    "\u2028\u2029",
    "\x85",
    "\x7f",
    "/clear",
    "-p",
    "{",
    '"',
    "\\",
    "🎈",
    "",
]
texts = st.lists(st.text(st.characters(exclude_categories=[]), max_size=5) | st.sampled_from(NASTY)).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def read(line: bytes) -> Any:
    """What one whole line of valid JSON says; fails if it is not one."""
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    return json.loads(line.decode(), parse_constant=pytest.fail)


def mended(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@given(texts, texts)
def test_whatever_is_said_is_one_line_and_arrives_as_it_was(text: str, say_id: str) -> None:  # lessons 15 and 16
    contents = read(encode.user(text, say_id))
    assert contents == {"type": "user", "uuid": mended(say_id), "message": {"role": "user", "content": mended(text)}}


@given(values)
def test_whatever_is_in_an_answer_is_one_line(value: object) -> None:
    response = read(encode.control_response("r", {"behavior": "allow", "updatedInput": {"x": value}}))
    assert response["response"]["request_id"] == "r"


@given(texts, texts, texts)
def test_whatever_the_words_are_requests_and_refusals_are_one_line(one: str, two: str, three: str) -> None:
    assert read(encode.control_request(one, two, mode=three))["request"] == {
        "subtype": mended(two),
        "mode": mended(three),
    }
    assert read(encode.control_error(one, two))["response"]["error"] == mended(two)


@pytest.mark.parametrize("text", NASTY)
def test_no_text_breaks_the_line(text: str) -> None:  # lesson 16
    assert read(encode.user(f"a{text}b", "u"))["message"]["content"] == mended(f"a{text}b")


def test_blocks_may_be_said_and_megabytes_too() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 20_000_000}}
    content: list[dict[str, Any]] = [{"type": "text", "text": "look"}, picture]
    assert read(encode.user(content, "u"))["message"]["content"] == content


@pytest.mark.parametrize(
    ("raw", "meaning"),
    [
        (b'{"a":1}', {"a": 1}),
        (b'{\n "a":\r\n 1\n}', {"a": 1}),
        (rb'{"a":"\ud83d"}', {"a": "\ufffd"}),
        (b'{"a":"caf\xe9"}', {"a": "caf\ufffd"}),
        (b'{"a":1e999}', {"a": None}),
        (b'{"a":123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ],
)
def test_a_raw_piece_comes_out_as_valid_json_on_one_line(raw: bytes, meaning: object) -> None:
    response = read(encode.control_response("r", {"behavior": "allow", "updatedInput": Raw(raw)}))
    assert response["response"]["response"]["updatedInput"] == meaning


@pytest.mark.parametrize("raw", [b"", b"{", b'{"a":"\n"}', b"{} {}", b'"}\n{"type":"user"'])
def test_a_raw_piece_that_is_no_json_is_not_said(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"Expecting|Extra|Unterminated|Invalid"):
        encode.control_response("r", {"behavior": "allow", "updatedInput": Raw(raw)})


def test_every_verb_of_the_wire_has_its_shape() -> None:
    assert read(encode.control_request("ours-1", "initialize", hooks=None)) == {
        "type": "control_request",
        "request_id": "ours-1",
        "request": {"subtype": "initialize", "hooks": None},
    }
    assert read(encode.control_response("r", {"behavior": "deny", "message": "no"})) == {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": "r", "response": {"behavior": "deny", "message": "no"}},
    }
    assert read(encode.control_error("r", "we cannot")) == {
        "type": "control_response",
        "response": {"subtype": "error", "request_id": "r", "error": "we cannot"},
    }
