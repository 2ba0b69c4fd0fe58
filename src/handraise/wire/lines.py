"""Cuts bytes into lines, wherever the chunks end. Holds at most one line, and of a too long one its head."""

from typing import NamedTuple

LIMIT = 64 * 1024 * 1024
HEAD = 4096


class Line(NamedTuple):
    """A line without its newline, and where it ends in the stream. `size` exceeds `text` if it was too long."""

    text: bytes
    size: int
    end: int


class Lines:
    """Give it chunks; it gives whole lines. `offset` is the end of the last whole line."""

    def __init__(self, offset: int = 0, limit: int = LIMIT) -> None:
        self.offset = offset
        self._limit = limit
        self._held = bytearray()
        self._size = 0

    def receive(self, chunk: bytes) -> list[Line]:
        """The lines that this chunk completes."""
        texts = chunk.split(b"\n")
        rest = texts.pop()
        if texts and self._size:
            self._hold(texts[0])
            texts[0] = bytes(self._held)
        lines = []
        for text in texts:
            size = self._size or len(text)
            self.offset += size + 1
            lines.append(Line(text if size <= self._limit else text[:HEAD], size, self.offset))
            self._drop()
        self._hold(rest)
        return lines

    def close(self) -> Line | None:
        """What was left without a newline, told once; `offset` stays before it."""
        if not self._size:
            return None
        line = Line(bytes(self._held), self._size, self.offset + self._size)
        self._drop()
        return line

    def _hold(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._limit:
            self._held += part
        else:
            self._held += part[: max(0, HEAD - len(self._held))]
            del self._held[HEAD:]

    def _drop(self) -> None:
        if self._size:
            self._held = bytearray()
            self._size = 0
