"""Partial text, joined so that a fast stream does not flood: at most 25 a second. Pure; time is an argument."""

from typing import Literal

from msgspec import Struct

from handraise.wire.frames import Event

INTERVAL = 0.04

Kind = Literal["text", "thinking"]


class Part(Struct, frozen=True):
    """A block that is being written: all of it so far, so that a lost one does no harm."""

    message: str
    index: int
    kind: Kind
    text: str


class Previews:
    """Give it stream events; it gives a part when one is due. Nothing of it is stored."""

    def __init__(self) -> None:
        self._message = ""
        self._pieces: dict[int, tuple[Kind, list[str]]] = {}
        self._changed: set[int] = set()
        self._last = float("-inf")

    def begin(self, message: str) -> None:
        """Another message begins."""
        self._message = message
        self._pieces.clear()
        self._changed.clear()

    def add(self, event: Event) -> None:
        """Takes in an event of the message."""
        delta, index = event.delta, event.index
        if event.type != "content_block_delta" or delta is None or index is None:
            return
        kind: Kind = "thinking" if delta.thinking else "text"
        piece = delta.thinking or delta.text
        if piece:
            self._pieces.setdefault(index, (kind, []))[1].append(piece)
            self._changed.add(index)

    @property
    def waiting(self) -> bool:
        return bool(self._changed)

    def due(self, now: float) -> list[Part]:
        """The parts to show now; none if the last ones were shown less than 40 ms ago."""
        if not self._changed or now - self._last < INTERVAL:
            return []
        self._last = now
        parts = [
            Part(self._message, index, self._pieces[index][0], "".join(self._pieces[index][1]))
            for index in sorted(self._changed)
        ]
        self._changed.clear()
        return parts
