import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from handraise.wire.lines import HEAD, Line, Lines, TooLong


def cut(stream: bytes, *ends: int, limit: int = 64) -> tuple[list[Line], int, Line | None]:
    """The result for a stream that is cut at these positions: the lines, the offset, and the rest."""
    lines = Lines(limit=limit)
    found: list[Line] = []
    start = 0
    for end in [*sorted(ends), len(stream)]:
        found += lines.receive(stream[start:end])
        start = end
    return found, lines.offset, lines.close()


def test_a_line_comes_when_its_newline_does() -> None:
    lines = Lines()
    assert lines.receive(b"on") == []
    assert lines.receive(b"e\ntwo\nthr") == [b"one", b"two"]
    assert lines.offset == len(b"one\ntwo\n")
    assert lines.receive(b"ee\n") == [b"three"]
    assert lines.close() is None


def test_an_offset_goes_on_from_where_it_began() -> None:
    lines = Lines(offset=1000)
    lines.receive(b"one\ntw")
    assert lines.offset == 1004


def test_what_is_left_is_told_once_and_the_offset_stays_before_it() -> None:
    lines = Lines()
    lines.receive(b"one\ntw")
    assert lines.close() == b"tw"
    assert lines.offset == 4
    assert lines.close() is None


def test_a_line_beyond_the_limit_is_kept_as_its_head_and_the_next_one_is_whole() -> None:
    long = b"x" * 10_000
    assert cut(long + b"\nnext\n", limit=9_999)[0] == [TooLong(b"x" * HEAD, 10_000), b"next"]
    assert cut(long + b"\nnext\n", limit=10_000)[0] == [long, b"next"]


def test_a_carriage_return_and_other_separators_end_no_line() -> None:
    assert cut("a\rb\x0bc\x85d\u2028e\n".encode())[0] == ["a\rb\x0bc\x85d\u2028e".encode()]


@given(st.lists(st.binary(max_size=40), max_size=12), st.lists(st.integers(0, 500), max_size=12), st.integers(1, 50))
def test_wherever_the_chunks_end_the_lines_are_the_same(texts: list[bytes], ends: list[int], limit: int) -> None:
    stream = b"\n".join(texts)
    ends = [min(end, len(stream)) for end in ends]
    assert cut(stream, *ends, limit=limit) == cut(stream, limit=limit)


@given(st.lists(st.integers(0, 3 * HEAD), max_size=8), st.integers(1, 2 * HEAD))
def test_the_head_of_a_too_long_line_does_not_depend_on_the_chunks(ends: list[int], limit: int) -> None:
    stream = bytes(range(33, 127)) * 130 + b"\nnext\n"
    assert cut(stream, *ends, limit=limit) == cut(stream, limit=limit)


@given(st.binary(max_size=200), st.integers(1, 300))
def test_no_byte_is_lost(stream: bytes, limit: int) -> None:
    lines, offset, rest = cut(stream, limit=limit)
    assert offset == sum(len(each) + 1 for each in lines)
    assert offset + (len(rest) if rest is not None else 0) == len(stream)


def test_memory_stays_bounded_however_long_a_line_is() -> None:
    chunk = b"x" * 65_536
    lines = Lines(limit=1024 * 1024)
    tracemalloc.start()
    try:
        for _ in range(200 * 16):
            assert lines.receive(chunk) == []
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000
    assert lines.receive(b"\n") == [TooLong(chunk[:HEAD], 200 * 16 * 65_536)]


def test_memory_stays_bounded_however_small_the_pieces_are() -> None:
    lines = Lines(limit=64 * 1024)
    tracemalloc.start()
    try:
        for _ in range(40_000):
            lines.receive(b"xy")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 300_000
