"""A message for ntfy: within its limits, whatever it is made of."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.counterparts import MESSAGE
from channels.ntfy_server import NtfyServer
from handraise.channels.model import ChannelButton, ChannelMessage
from handraise.channels.ntfy_messages import MOST_JSON, authorization, publication, refusal, sequence_id


def published(message: ChannelMessage) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(publication("shop", message))
    return found


def buttons(count: int, **changes: str) -> tuple[ChannelButton, ...]:
    made = (ChannelButton(f"Choice {each}", f"https://hub.example/{each}", f'{{"n":{each}}}') for each in range(count))
    return tuple(msgspec.structs.replace(each, **changes) for each in made)


def test_a_message_has_priority_link_and_buttons_that_answer() -> None:
    assert published(msgspec.structs.replace(MESSAGE, urgency="high")) == {
        "topic": "shop",
        "sequence_id": "n_1",
        "priority": 4,
        "tags": ["rotating_light"],
        "title": "Claude needs you in `shop`",
        "message": "Run the tests?\n\nnpm test",
        "click": "https://hub.example/asks/a_1",
        "actions": [
            {
                "action": "http",
                "label": "Allow once",
                "url": "https://hub.example/answer",
                "method": "POST",
                "headers": {"Content-Type": "application/json"},
                "body": '{"secret":"one-use"}',
                "clear": True,
            }
        ],
    }


def test_three_buttons_are_the_most() -> None:
    assert len(published(msgspec.structs.replace(MESSAGE, buttons=buttons(5)))["actions"]) == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "javascript:x"},
        {"url": "https://x\ny"},
        {"label": " \n"},
        {"body": "x" * 1001},
        {"body": "a\nb"},
        {"content_type": "text/plain\r\nX: 1"},
    ],
)
def test_a_button_that_could_not_answer_is_left_out(changes: dict[str, str]) -> None:
    assert "actions" not in published(msgspec.structs.replace(MESSAGE, buttons=buttons(1, **changes)))


def test_an_empty_text_is_its_title() -> None:
    assert published(ChannelMessage("n_1", "Title", "", ""))["message"] == "Title"
    assert published(ChannelMessage("n_1", "", "", ""))["message"] == "…"


def test_the_largest_buttons_leave_room_for_text() -> None:
    large = buttons(3, url="https://hub.example/" + "x" * 1900, body="y" * 1000)
    message = ChannelMessage("n_1", "t" * 300, '"' * 9000, "https://hub.example/" + "z" * 1900, buttons=large)
    made = publication("t" * 64, message)
    assert len(made) <= MOST_JSON
    assert NtfyServer().publish(made)[0] == 200


@given(st.text(st.characters(), max_size=40), st.integers(1, 300), st.integers(0, 4))
def test_ntfy_accepts_whatever_is_sent(piece: str, times: int, count: int) -> None:
    title, text = piece * (times // 8), piece * times
    message = ChannelMessage(title, title, text, title, buttons=buttons(count, label=title, body=title))
    assert NtfyServer().publish(publication("shop", message))[0] == 200


@pytest.mark.parametrize("given_id", ["a/b", "", "x" * 65, "ä", "a b", "\ud83d", "a\nb"])
def test_an_id_that_ntfy_would_refuse_becomes_one_that_it_takes(given_id: str) -> None:
    assert sequence_id(given_id) == sequence_id(given_id)
    assert len(sequence_id(given_id)) == 32
    assert sequence_id(given_id) != sequence_id(given_id + "x")


def test_a_sign_in_is_a_header() -> None:
    assert authorization("", "", "tk_1") == {"authorization": "Bearer tk_1"}
    assert authorization("phil", "pässword", "") == {"authorization": "Basic cGhpbDpww6Rzc3dvcmQ="}
    assert authorization("", "", "") == {}


@pytest.mark.parametrize(
    ("status", "permanent", "words"),
    [
        (400, True, "refused the message"),
        (401, True, "refused the sign-in"),
        (403, True, "access rules"),
        (404, True, "no ntfy server"),
        (405, True, "no ntfy server"),
        (413, True, "message-size-limit"),
        (301, True, "redirects"),
        (429, False, "limit"),
        (500, False, "a problem"),
        (502, False, "a problem"),
        (507, False, "a problem"),
    ],
)
def test_each_refusal_is_a_sentence(status: int, permanent: bool, words: str) -> None:
    error = refusal(status, {"retry-after": "7"}, "ntfy.example")
    assert words in error.sentence
    assert error.permanent == permanent
    assert error.retry_after == (None if permanent else 7.0)


@pytest.mark.parametrize(("header", "pause"), [("9999999", 3600.0), ("soon", None), ("٣", None), ("", None)])
def test_a_pause_is_seconds_within_reason(header: str, pause: float | None) -> None:
    assert refusal(429, {"retry-after": header}, "ntfy.example").retry_after == pause
