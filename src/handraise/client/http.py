"""HTTP/1.1 as a hub speaks it: a request's head, chunks, and a response from pieces. Sans-IO."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers treat this name as true; importing `typing` would cost each command 4 ms
if TYPE_CHECKING:
    from collections.abc import Mapping

LAST_CHUNK = b"0\r\n\r\n"
"""The end of a request's body."""


class BadResponse(Exception):
    """The other end doesn't speak HTTP as a hub does."""


def request_head(method: str, path: str, headers: Mapping[str, str]) -> bytes:
    """Everything before the body; raises ValueError for values that would end a line early."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a header with a line break")
    return "\r\n".join([*lines, "", ""]).encode()


def chunk(piece: bytes) -> bytes:
    """A piece of a request's body that is sent with `Transfer-Encoding: chunked`."""
    return b"%x\r\n%s\r\n" % (len(piece), piece)


class ResponseParser:
    """Takes bytes in any pieces, returns the body. `status` is None until the head is complete."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.has_ended = False
        self._chunked = False
        self._left: int | None = None
        """How much of a body with a length is missing."""
        self._raw = bytearray()

    def receive(self, piece: bytes) -> bytes:
        """What this piece adds to the body; raises BadResponse."""
        self._raw += piece
        if self.status is None and not self._read_head():
            return b""
        return self._read_chunks() if self._chunked else self._read_plain()

    def close(self) -> None:
        """The connection has ended; raises BadResponse if something is missing."""
        if self.status is None:
            raise BadResponse("no response")
        if (self._chunked or self._left) and not self.has_ended:
            raise BadResponse("the response is incomplete")

    def _read_head(self) -> bool:
        head, found, rest = bytes(self._raw).partition(b"\r\n\r\n")
        if not found:
            return False
        first, *fields = head.split(b"\r\n")
        words = first.split()
        if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
            raise BadResponse("this is not HTTP")
        self.status = int(words[1])
        for field in fields:
            name, _, value = field.lower().partition(b":")
            if name == b"transfer-encoding":
                self._chunked = value.strip() == b"chunked"
            elif name == b"content-length" and value.strip().isdigit():
                self._left = int(value)
        self._raw = bytearray(rest)
        return True

    def _read_plain(self) -> bytes:
        body = bytes(self._raw if self._left is None else self._raw[: self._left])
        self._raw.clear()
        if self._left is not None:
            self._left -= len(body)
            self.has_ended = self._left == 0
        return body

    def _read_chunks(self) -> bytes:
        body = b""
        while not self.has_ended:
            size, found, _ = bytes(self._raw[:32]).partition(b"\r\n")
            if not found:
                break
            length = _length(size)
            start = len(size) + 2
            if len(self._raw) < start + length + 2:
                break
            body += self._raw[start : start + length]
            del self._raw[: start + length + 2]
            self.has_ended = length == 0
        return body


def _length(size: bytes) -> int:
    try:
        length = int(size, 16)
    except ValueError:
        raise BadResponse("a chunk has no length") from None
    if length < 0:
        raise BadResponse("a chunk has no length")
    return length
