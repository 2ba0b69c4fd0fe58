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
        self._parts: list[bytes] = []
        self._held = 0

    def receive(self, chunk: bytes) -> list[Line]:
        """The lines that this chunk completes."""
        first, *rest = chunk.split(b"\n")
        if not rest:
            self._hold(first)
            return []
        self._hold(first)
        lines = [self._release()]
        last = rest.pop()
        for text in rest:
            size = len(text)
            self.offset += size + 1
            lines.append(Line(text if size <= self._limit else text[:HEAD], size, self.offset))
        self._hold(last)
        return lines

    def close(self) -> Line | None:
        """What was left without a newline; `offset` stays before it."""
        if not self._held:
            return None
        text = b"".join(self._parts)
        return Line(text, self._held, self.offset + self._held)

    def _hold(self, part: bytes) -> None:
        if not part:
            return
        self._held += len(part)
        if self._held <= self._limit:
            self._parts.append(part)
        elif len(self._parts) > 1 or not self._parts or len(self._parts[0]) > HEAD:
            self._parts = [b"".join([*self._parts, part])[:HEAD]]

    def _release(self) -> Line:
        text = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self.offset += self._held + 1
        line = Line(text, self._held, self.offset)
        self._parts = []
        self._held = 0
        return line
