"""HTTP on the standard library: however it is split, the body is complete."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.client import http
from handraise.client.http import BadResponse, ResponseParser

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"


@given(st.lists(st.binary(min_size=1), max_size=5), st.data())
def test_the_body_is_the_same_however_it_is_cut(pieces: list[bytes], cuts: st.DataObject) -> None:
    whole = HEAD + b"".join(http.chunk(piece) for piece in pieces) + http.LAST_CHUNK
    places = sorted(cuts.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    response = ResponseParser()
    body = b""
    for start, end in zip([0, *places], [*places, len(whole)], strict=True):
        body += response.receive(whole[start:end])

    assert body == b"".join(pieces)
    assert response.has_ended
    response.close()


def test_a_body_with_a_length_ends_with_it() -> None:
    response = ResponseParser()

    assert response.receive(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 7\r\n\r\nNot y") == b"Not y"
    assert not response.has_ended
    assert (response.receive(b"ou, and more"), response.status, response.has_ended) == (b"ou", 403, True)


def test_a_body_without_a_length_lasts_as_long_as_the_connection() -> None:
    response = ResponseParser()

    assert response.receive(b"HTTP/1.1 200 OK\r\n\r\none ") + response.receive(b"two") == b"one two"
    response.close()


@pytest.mark.parametrize(
    ("response", "can_continue"),
    [
        (HEAD + b"2\r\nok\r\n0\r\n\r\n", True),
        (HEAD + b"2;x=y\r\nok\r\n0\r\nTrailer: x\r\n\r\n", True),
        (HEAD + b"2\r\nok\r\n0\r\n\r\nmore", False),
        (b"HTTP/1.1 204 No Content\r\n\r\n", True),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nmore", False),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", True),
    ],
)
def test_it_knows_whether_the_connection_can_carry_another_request(response: bytes, can_continue: bool) -> None:
    parser = ResponseParser()
    for at in range(len(response)):
        assert not (parser.has_ended and can_continue)
        parser.receive(response[at : at + 1])

    assert parser.has_ended
    assert parser.can_continue == can_continue


def test_a_head_is_bounded() -> None:
    response = ResponseParser()
    response.receive(b"HTTP/1.1 200 OK\r\nX: " + b"x" * (http.LARGEST_HEAD - 20))

    with pytest.raises(BadResponse, match="too large"):
        response.receive(b"x")


@pytest.mark.parametrize(
    "piece",
    [
        b"SSH-2.0\r\n\r\n",
        HEAD + b"what\r\nis this\r\n",
        HEAD + b"-1\r\n\r\n",
        HEAD + b"0x1\r\na\r\n",
        HEAD + b"1\r\nab\r\n",
        HEAD + b"1" * 2000,
        HEAD + b"0\r\n" + b"x" * 200_000,
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1_0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
    ],
)
def test_somebody_else_is_not_mistaken_for_a_hub(piece: bytes) -> None:
    with pytest.raises(BadResponse):
        ResponseParser().receive(piece)


@pytest.mark.parametrize(
    "piece", [b"", b"HTTP/1.1 2", HEAD + b"5\r\nhal", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"]
)
def test_half_a_response_is_not_taken_for_a_whole_one(piece: bytes) -> None:
    response = ResponseParser()
    response.receive(piece)

    with pytest.raises(BadResponse):
        response.close()


def test_the_head_names_everything() -> None:
    head = http.request_head("POST", "/mcp/lines", {"Host": "localhost"})

    assert head == b"POST /mcp/lines HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_a_header_adds_no_line_of_its_own() -> None:
    with pytest.raises(ValueError, match="line break"):
        http.request_head("GET", "/", {"Authorization": "Bearer x\r\nHost: elsewhere"})
