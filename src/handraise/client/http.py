"""HTTP/1.1 as a hub speaks it: a request's head, chunks, and a response from pieces. Sans-IO."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers treat this name as true; importing `typing` would cost each command 4 ms
if TYPE_CHECKING:
    from collections.abc import Mapping

LAST_CHUNK = b"0\r\n\r\n"
"""The end of a request's body."""
LARGEST_HEAD = 100 * 1024
"""The most bytes that a response may have before its body, or in a trailer."""
_LARGEST_CHUNK_HEAD = 1024
_HEX = b"0123456789abcdefABCDEF"
_LONGEST_LENGTH = 16
"""The most digits that a length may have."""


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
        self.headers: dict[bytes, bytes] = {}
        """Names are in lower case."""
        self.has_ended = False
        self._is_persistent = False
        """Whether the server speaks HTTP/1.1. HTTP/1.0 closes the connection after each response."""
        self._chunked = False
        self._in_trailers = False
        self._left: int | None = None
        """How much of a body with a length is missing."""
        self._raw = bytearray()

    @property
    def can_continue(self) -> bool:
        """Whether the connection can carry another request."""
        wants_to_close = b"close" in self.headers.get(b"connection", b"").lower()
        return self.has_ended and self._is_persistent and not wants_to_close and not self._raw

    def receive(self, piece: bytes) -> bytes:
        """What this piece adds to the body; raises BadResponse."""
        self._raw += piece
        while self.status is None:
            if not self._read_head():
                return b""
        if self.has_ended:
            return b""
        return self._read_chunks() if self._chunked else self._read_plain()

    def close(self) -> None:
        """The connection has ended; raises BadResponse if something is missing."""
        if self.status is None:
            raise BadResponse("no response")
        if (self._chunked or self._left) and not self.has_ended:
            raise BadResponse("the response is incomplete")
        self.has_ended = True

    def _read_head(self) -> bool:
        """Reads one head, and skips it if it is an interim one (1xx)."""
        end = self._raw.find(b"\r\n\r\n")
        if (len(self._raw) if end < 0 else end) > LARGEST_HEAD:
            raise BadResponse("the head is too large")
        if end < 0:
            return False
        first, *lines = bytes(self._raw[:end]).split(b"\r\n")
        del self._raw[: end + 4]
        words = first.split()
        if len(words) < 2 or not words[0].startswith(b"HTTP/") or len(words[1]) != 3 or not words[1].isdigit():
            raise BadResponse("this is not HTTP")
        status = int(words[1])
        if status == 101:
            raise BadResponse("unexpected upgrade to another protocol")
        if status >= 200:
            self.status, self._is_persistent = status, words[0] == b"HTTP/1.1"
            self._read_fields(lines)
        return True

    def _read_fields(self, lines: list[bytes]) -> None:
        for line in lines:
            name, _, value = line.partition(b":")
            name, value = name.lower(), value.strip()
            if name in (b"content-length", b"transfer-encoding") and self.headers.get(name, value) != value:
                raise BadResponse("contradicting lengths")
            self.headers[name] = value
        encoding = self.headers.get(b"transfer-encoding")
        if encoding is not None and encoding.lower() != b"chunked":
            raise BadResponse("unsupported transfer encoding")
        length = self.headers.get(b"content-length")
        if self.status in (204, 304):
            self.has_ended = True
        elif encoding is not None:
            self._chunked = True
        elif length is not None:
            self._left = _number(length)

    def _read_plain(self) -> bytes:
        body = bytes(self._raw if self._left is None else self._raw[: self._left])
        del self._raw[: len(body)]
        if self._left is not None:
            self._left -= len(body)
            self.has_ended = self._left == 0
        return body

    def _read_chunks(self) -> bytes:
        body = bytearray()
        while not self.has_ended:
            piece = self._read_trailer() if self._in_trailers else self._read_chunk()
            if piece is None:
                break
            body += piece
        return bytes(body)

    def _read_chunk(self) -> bytes | None:
        """One chunk, or None while it is incomplete. The last one is empty."""
        head, found, _ = bytes(self._raw[:_LARGEST_CHUNK_HEAD]).partition(b"\r\n")
        if not found:
            if len(head) == _LARGEST_CHUNK_HEAD:
                raise BadResponse("a chunk has no length")
            return None
        start = len(head) + 2
        end = start + _chunk_length(head)
        if start == end:
            self._in_trailers = True
            del self._raw[:start]
            return b""
        if len(self._raw) < end + 2:
            return None
        if self._raw[end : end + 2] != b"\r\n":
            raise BadResponse("a chunk is longer than announced")
        body = bytes(self._raw[start:end])
        del self._raw[: end + 2]
        return body

    def _read_trailer(self) -> bytes | None:
        """Skips one line of the trailers, or returns None while it is incomplete. An empty line ends them."""
        end = self._raw.find(b"\r\n")
        if (len(self._raw) if end < 0 else end) > LARGEST_HEAD:
            raise BadResponse("the head is too large")
        if end < 0:
            return None
        del self._raw[: end + 2]
        self.has_ended = end == 0
        return b""


def _chunk_length(head: bytes) -> int:
    digits = head.partition(b";")[0].strip()
    if not digits or len(digits) > _LONGEST_LENGTH or digits.strip(_HEX):
        raise BadResponse("a chunk has no length")
    return int(digits, 16)


def _number(text: bytes) -> int:
    if not text.isdigit() or len(text) > _LONGEST_LENGTH:
        raise BadResponse("invalid content length")
    return int(text)
