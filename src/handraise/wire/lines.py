"""Splits bytes into lines, wherever the chunks end. Holds at most one line; of an overlong one, only its head."""

from msgspec import Struct

LIMIT = 64 * 1024 * 1024
HEAD = 4096


class TooLong(Struct, frozen=True):
    """What is kept of a line beyond the limit."""

    head: bytes
    size: int

    def __len__(self) -> int:
        return self.size


Line = bytes | TooLong
"""A line without its newline; its length is its size in the stream."""


class Lines:
    """Takes chunks, returns whole lines. `offset` is the end of the last whole line."""

    def __init__(self, offset: int = 0, limit: int = LIMIT) -> None:
        self.offset = offset
        self._limit = limit
        self._held = bytearray()
        self._size = 0

    def receive(self, chunk: bytes) -> list[Line]:
        """The lines that this chunk completes."""
        *texts, rest = chunk.split(b"\n")
        lines: list[Line] = list(texts)
        if len(chunk) > self._limit:
            lines = [TooLong(text[:HEAD], len(text)) if len(text) > self._limit else text for text in texts]
        if texts and self._size:
            self._hold(texts[0])
            lines[0] = self._release()
        self.offset += sum(map(len, lines)) + len(lines)
        self._hold(rest)
        return lines

    def receive_text(self, chunk: bytes) -> bytes | None:
        """The same lines as one text, each with its newline; None, with nothing received, if one may be too long."""
        if self._size + len(chunk) > self._limit:
            return None
        end = chunk.rfind(b"\n") + 1
        text = b""
        if end:
            text = b"".join((self._held, memoryview(chunk)[:end]))
            self._held = bytearray()
            self._size = 0
        self.offset += len(text)
        self._hold(chunk[end:])
        return text

    def close(self) -> Line | None:
        """Returns an incomplete last line, once; `offset` stays before it."""
        return self._release() if self._size else None

    def _hold(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._limit:
            self._held += part
        else:
            self._held += part[: max(0, HEAD - len(self._held))]
            del self._held[HEAD:]

    def _release(self) -> Line:
        text, size = bytes(self._held), self._size
        self._held = bytearray()
        self._size = 0
        return text if size <= self._limit else TooLong(text, size)
