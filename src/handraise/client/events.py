"""Server-sent events from pieces of a stream. Sans-IO."""

from typing import NamedTuple


class ServerEvent(NamedTuple):
    """`id` is None if the event has none of its own."""

    kind: str
    id: str | None
    data: bytes


class EventParser:
    """Takes bytes in any pieces. An incomplete event is kept, and lost with the connection."""

    def __init__(self) -> None:
        self._rest = b""
        self._kind = "message"
        self._id: str | None = None
        self._data: list[bytes] = []

    def receive(self, piece: bytes) -> list[ServerEvent]:
        """The events that this piece completes."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return [event for line in lines if (event := self._take(line.removesuffix(b"\r"))) is not None]

    def _take(self, line: bytes) -> ServerEvent | None:
        if not line:
            event = ServerEvent(self._kind, self._id, b"\n".join(self._data)) if self._data else None
            self._begin()
            return event
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"event":
                self._kind = value.decode()
            case b"id":
                self._id = value.decode()
            case b"data":
                self._data.append(value)
            case _:
                pass
        return None

    def _begin(self) -> None:
        self._kind, self._id, self._data = "message", None, []
