"""How many clients can be connected at once. When there is no room left, strangers go first. Pure."""

from itertools import chain
from typing import Protocol


class Connected(Protocol):
    """A connection; known by itself, and not by what it holds."""

    def cut_off(self) -> None: ...


class ConnectionLimit:
    """Connections of which nobody has shown who they are can be ended at any time, the oldest first.

    So whoever opens many, and says nothing or says it slowly, shuts nobody out. When no stranger is left, those have to
    go who were let in and have not said all yet: a good token is no way to shut others out either.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: set[Connected] = set()
        self._strangers: dict[Connected, None] = {}
        self._speakers: dict[Connected, None] = {}

    def enter(self, guest: Connected) -> None:
        """As a stranger; somebody else has to go, if need be, or the new one if everybody else may stay."""
        if len(self._all) >= self._most:
            oldest = next(chain(self._strangers, self._speakers, (guest,)))
            self.leave(oldest)
            oldest.cut_off()
            if oldest is guest:
                return
        self._all.add(guest)
        self._strangers[guest] = None

    def know(self, guest: Connected) -> None:
        """Somebody was let in, who has more to say."""
        if self._strangers.pop(guest, self) is None:
            self._speakers[guest] = None

    def hear(self, guest: Connected) -> None:
        """All was said: they stay as long as the answer takes."""
        self._speakers.pop(guest, None)

    def forget(self, guest: Connected) -> None:
        """The request is answered: the next one has to show again who it is."""
        if guest in self._all:
            self._strangers.pop(guest, None)
            self._speakers.pop(guest, None)
            self._strangers[guest] = None

    def leave(self, guest: Connected) -> None:
        self._all.discard(guest)
        self._strangers.pop(guest, None)
        self._speakers.pop(guest, None)
