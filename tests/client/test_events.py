"""Server-sent events from bytes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from handraise.client.events import EventParser, ServerEvent

STREAM = (
    b'retry: 1000\nevent: place\nid: 4\ndata: {"cursor":4}\n\n'
    b": a comment\n\n"
    b'id: 5\ndata: {"text":"a"}\n\n'
    b"event: ping\ndata: {}\r\n\r\n"
    b"data: one\ndata:two\nunknown: x\n\n"
    b'id: 6\ndata: {"text":"half'
)
WHOLE = [
    ServerEvent("place", "4", b'{"cursor":4}'),
    ServerEvent("message", "5", b'{"text":"a"}'),
    ServerEvent("ping", None, b"{}"),
    ServerEvent("message", None, b"one\ntwo"),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_events_are_the_same_in_whatever_pieces_they_come(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    events = EventParser()
    found = [each for a, b in pairwise(places) for each in events.receive(STREAM[a:b])]
    assert found == WHOLE
