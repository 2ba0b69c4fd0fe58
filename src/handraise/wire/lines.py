"""Cuts bytes into lines, wherever the chunks end. Holds at most one line, and of a too long one its head."""

from msgspec import Struct

LIMIT = 64 * 1024 * 1024
HEAD = 4096


class Line(Struct, frozen=True, gc=False):
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
        *texts, rest = chunk.split(b"\n")
        lines = []
        if texts and self._size:
            self._hold(texts.pop(0))
            lines.append(self._release(newline=1))
            self.offset = lines[0].end
        limit, offset = self._limit, self.offset
        for text in texts:
            size = len(text)
            offset += size + 1
            lines.append(Line(text if size <= limit else text[:HEAD], size, offset))
        self.offset = offset
        self._hold(rest)
        return lines

    def close(self) -> Line | None:
        """What was left without a newline, told once; `offset` stays before it."""
        return self._release(newline=0) if self._size else None

    def _hold(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._limit:
            self._held += part
        else:
            self._held += part[: max(0, HEAD - len(self._held))]
            del self._held[HEAD:]

    def _release(self, *, newline: int) -> Line:
        line = Line(bytes(self._held), self._size, self.offset + self._size + newline)
        self._held = bytearray()
        self._size = 0
        return line
