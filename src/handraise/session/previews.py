"""Partial text, joined so that a fast stream does not flood: at most 25 a second. Pure; time is an argument."""

from msgspec import Struct

from handraise.wire.frames import Event

INTERVAL = 0.04


class Part(Struct, frozen=True):
    """A block that is being written: all of it so far, so that a lost one does no harm."""

    message: str
    index: int
    kind: str
    text: str


class Previews:
    """Give it stream events; it gives a part when one is due. Nothing of it is stored."""

    def __init__(self) -> None:
        self._message = ""
        self._pieces: dict[int, tuple[str, list[str]]] = {}
        self._changed: set[int] = set()
        self._last = float("-inf")

    def add(self, event: Event, message: str | None) -> None:
        """Takes in an event; `message` is the id that a `message_start` names."""
        if event.type == "message_start":
            self.clear(message or "")
        delta, index = event.delta, event.index
        if event.type != "content_block_delta" or delta is None or index is None:
            return
        kind, piece = ("thinking", delta.thinking) if delta.thinking else ("text", delta.text)
        if piece:
            self._pieces.setdefault(index, (kind, []))[1].append(piece)
            self._changed.add(index)

    def clear(self, message: str = "") -> None:
        """The message is whole, or another one begins."""
        self._message = message
        self._pieces.clear()
        self._changed.clear()

    def stored(self, kind: str) -> None:
        """A whole block of this kind has come: its part is no longer needed."""
        for index in [index for index, (of, _) in self._pieces.items() if of == kind]:
            del self._pieces[index]
            self._changed.discard(index)

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
