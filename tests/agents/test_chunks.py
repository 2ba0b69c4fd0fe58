"""The relay's HTTP: whatever the pieces, the lines come whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.agents import chunks
from handraise.agents.chunks import Answer, BadAnswer

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"


@given(st.lists(st.binary(min_size=1).map(lambda text: text.replace(b"\n", b"") + b"."), max_size=5), st.data())
def test_lines_come_whole_however_they_are_cut(lines: list[bytes], cuts: st.DataObject) -> None:
    whole = HEAD + b"".join(chunks.chunk(line + b"\n") for line in lines) + chunks.END
    places = sorted(cuts.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    answer = Answer()
    received = []
    for start, end in zip([0, *places], [*places, len(whole)], strict=True):
        received += answer.receive(whole[start:end])

    assert received == [line + b"\n" for line in lines if line.strip()]
    assert answer.has_ended


def test_a_refusal_is_read_to_its_end() -> None:
    answer = Answer()

    assert answer.receive(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 5\r\n\r\nNot y") == []
    assert (answer.status, answer.rest) == (403, b"Not y")


@pytest.mark.parametrize("piece", [b"SSH-2.0\r\n\r\n", HEAD + b"what\r\nis this\r\n"])
def test_somebody_else_is_not_mistaken_for_a_hub(piece: bytes) -> None:
    with pytest.raises(BadAnswer):
        Answer().receive(piece)


def test_the_head_names_everything() -> None:
    head = chunks.head("/mcp/lines", {"Host": "localhost"})

    assert head.startswith(b"POST /mcp/lines HTTP/1.1\r\n")
    assert head.endswith(b"Host: localhost\r\n\r\n")
