"""Previews: partial text, merged, never more than 25 a second, and never after the whole."""

from typing import Any

import msgspec
import pytest

from handraise.model.items import Preview
from handraise.session.previews import INTERVAL, Previews
from handraise.wire.connection import Connection
from handraise.wire.frames import StreamEvent


def event(kind: str, parent: str | None = None, **fields: Any) -> StreamEvent:
    line = {"type": "stream_event", "event": {"type": kind, **fields}, "parent_tool_use_id": parent}
    (received,) = Connection().receive(msgspec.json.encode(line) + b"\n")
    assert isinstance(received.frame, StreamEvent)
    return received.frame


def begin(message: str = "m_1", parent: str | None = None) -> StreamEvent:
    return event("message_start", parent, message={"id": message, "content": []})


def words(text: str, index: int = 0, parent: str | None = None) -> StreamEvent:
    return event("content_block_delta", parent, index=index, delta={"type": "text_delta", "text": text})


def speaking() -> Previews:
    previews = Previews("s_1")
    previews.add(begin())
    return previews


def test_the_first_words_are_shown_at_once_and_the_next_are_joined() -> None:
    previews = speaking()
    previews.add(words("One"))
    assert previews.due(10.0) == [Preview("s_1", "m_1", 0, "text", "One")]

    previews.add(words(", two"))
    previews.add(words(", three"))
    assert previews.due(10.01) == []
    assert previews.wait(10.01) == pytest.approx(0.03)
    assert previews.due(10.0 + INTERVAL) == [Preview("s_1", "m_1", 0, "text", "One, two, three")]
    assert previews.wait(10.05) is None


def test_a_fast_stream_gives_at_most_twenty_five_a_second() -> None:
    previews = speaking()
    previews.add(begin("m_2", "t_1"))
    shown = 0
    for step in range(10_000):
        previews.add(words("x"))
        previews.add(words("y", parent="t_1"))
        shown += len(previews.due(step / 1000))

    assert 10 * 25 - 3 <= shown <= 10 * 25 + 2


def test_thoughts_and_words_are_told_apart() -> None:
    previews = speaking()
    previews.add(event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "hm"}))
    previews.add(words("Yes.", 1))

    assert previews.due(0.0) == [Preview("s_1", "m_1", 0, "thinking", "hm"), Preview("s_1", "m_1", 1, "text", "Yes.")]


def test_what_is_held_back_is_dropped_when_the_block_is_whole() -> None:
    previews = speaking()
    previews.add(words("One"))
    previews.due(0.0)
    previews.add(words(", two"))

    previews.whole(None)

    assert previews.due(1.0) == []
    assert previews.wait(1.0) is None
    previews.add(words("Next block", 1))
    assert previews.due(1.0) == [Preview("s_1", "m_1", 1, "text", "Next block")]


def test_a_whole_block_of_one_speaker_leaves_the_others_alone() -> None:
    previews = speaking()
    previews.add(begin("m_2", "t_1"))
    previews.add(words("Claude"))
    previews.add(words("scout", parent="t_1"))

    previews.whole(None)
    previews.whole("t_9")

    assert previews.due(0.0) == [Preview("s_1", "m_2", 0, "text", "scout", "t_1")]


def test_a_message_that_stopped_has_no_more_previews() -> None:
    previews = speaking()
    previews.add(words("One"))
    previews.add(event("message_stop"))

    assert previews.due(0.0) == []


def test_a_message_whose_beginning_was_missed_is_not_shown_in_part() -> None:
    previews = Previews("s_1")
    previews.add(words("…and so on"))

    assert previews.due(0.0) == []


@pytest.mark.parametrize(
    "odd",
    [
        event("message_start"),
        event("message_start", message=[1]),
        event("content_block_delta"),
        event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": "{"}),
        event("ping"),
    ],
)
def test_an_odd_event_shows_nothing_and_breaks_nothing(odd: StreamEvent) -> None:
    previews = speaking()
    previews.add(odd)

    assert previews.due(0.0) == []
