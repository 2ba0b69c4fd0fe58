"""How many clients can be connected at once. When there is no room left, strangers go first. Pure."""

from typing import Protocol


class Guest(Protocol):
    """A connection; known by itself, and not by what it holds."""

    def cut_off(self) -> None: ...


class Room:
    """Connections of which nobody has shown who they are can be ended at any time, the oldest first.

    So whoever opens many, and says nothing or says it slowly, shuts nobody out.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: set[Guest] = set()
        self._strangers: dict[Guest, None] = {}

    def enter(self, guest: Guest) -> None:
        """As a stranger; somebody else has to go, if need be, or the new one if there are no other strangers."""
        self._all.add(guest)
        self._strangers[guest] = None
        if len(self._all) > self._most:
            oldest = next(iter(self._strangers))
            self.leave(oldest)
            oldest.cut_off()

    def know(self, guest: Guest) -> None:
        """Somebody was let in, and stays as long as their request takes."""
        self._strangers.pop(guest, None)

    def forget(self, guest: Guest) -> None:
        """The request is answered: the next one has to show again who it is."""
        if guest in self._all:
            self._strangers.pop(guest, None)
            self._strangers[guest] = None

    def leave(self, guest: Guest) -> None:
        self._all.discard(guest)
        self._strangers.pop(guest, None)
