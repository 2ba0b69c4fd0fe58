"""One HTTP exchange whose bodies do not end: lines go out and come in as chunks. Pure; standard library only."""


class BadAnswer(Exception):
    """The other end does not speak as a hub does."""


def head(path: str, headers: dict[str, str]) -> bytes:
    """The head of the request; its body follows in chunks."""
    lines = [f"POST {path} HTTP/1.1", "Transfer-Encoding: chunked", "Content-Type: application/x-ndjson"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def chunk(line: bytes) -> bytes:
    """A piece of the request's body."""
    return b"%x\r\n%s\r\n" % (len(line), line)


END = b"0\r\n\r\n"
"""The end of the request's body: the agent is gone for good."""


class Answer:
    """`receive` takes bytes and gives whole lines of the body."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.has_ended = False
        self._chunked = False
        self._raw = bytearray()
        self._body = bytearray()

    def receive(self, piece: bytes) -> list[bytes]:
        """The lines that this piece completes; raises BadAnswer."""
        self._raw += piece
        if self.status is None and not self._read_head():
            return []
        self._read_body()
        *lines, rest = bytes(self._body).split(b"\n")
        self._body = bytearray(rest)
        return [line + b"\n" for line in lines if line.strip()]

    @property
    def rest(self) -> bytes:
        """What came without a newline behind it."""
        return bytes(self._body)

    def _read_head(self) -> bool:
        before, found, after = bytes(self._raw).partition(b"\r\n\r\n")
        if not found:
            return False
        first, *fields = before.split(b"\r\n")
        words = first.split()
        if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
            raise BadAnswer("this is not HTTP")
        self.status = int(words[1])
        self._chunked = any(field.lower().replace(b" ", b"") == b"transfer-encoding:chunked" for field in fields)
        self._raw = bytearray(after)
        return True

    def _read_body(self) -> None:
        if not self._chunked:
            self._body += self._raw
            self._raw.clear()
            return
        while not self.has_ended:
            size, found, _ = bytes(self._raw[:32]).partition(b"\r\n")
            if not found:
                return
            try:
                length = int(size, 16)
            except ValueError:
                raise BadAnswer("a chunk has no length") from None
            if length < 0:
                raise BadAnswer("a chunk has no length")
            start = len(size) + 2
            if len(self._raw) < start + length + 2:
                return
            self._body += self._raw[start : start + length]
            del self._raw[: start + length + 2]
            self.has_ended = length == 0
