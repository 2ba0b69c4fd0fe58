"""Limits: how often someone may try to sign in, and how many clients can be connected. Pure."""

from collections import OrderedDict
from itertools import chain
from typing import Literal, Protocol

TRIES = 10
WINDOW = 60.0
SPARE = 20.0
"""How many attempts per second are checked beyond the limit, for all clients together."""
_REMEMBERED = 10_000

Leave = Literal["free", "beyond", "none"]


class Attempts:
    """Ten failures a minute for each client; the oldest clients are forgotten first.

    Beyond that, some attempts are still checked: a client with a valid secret isn't
    shut out by others at its address. Everyone else has to wait.
    """

    def __init__(self) -> None:
        self._tried: OrderedDict[str, list[float]] = OrderedDict()
        self._spare = SPARE
        self._at = 0.0

    def begin(self, client: str, now: float) -> Leave:
        """Whether to check one more attempt. It counts immediately, so that parallel ones can't exceed the limit."""
        recent = [at for at in self._tried.pop(client, []) if now - at < WINDOW]
        is_free = len(recent) < TRIES
        self._tried[client] = [*recent, now] if is_free else recent
        if len(self._tried) > _REMEMBERED:
            self._tried.popitem(last=False)
        if is_free:
            return "free"
        return "beyond" if self._take_spare(now) else "none"

    def forgive(self, client: str, at: float) -> None:
        """That attempt succeeded, and doesn't count."""
        tried = self._tried.get(client, [])
        if at in tried:
            tried.remove(at)

    def _take_spare(self, now: float) -> bool:
        self._spare = min(SPARE, self._spare + (now - self._at) * SPARE)
        self._at = now
        if self._spare < 1:
            return False
        self._spare -= 1
        return True


class Guesses:
    """Wrong tokens, counted like failed sign-ins. A token that was valid lately is always looked up."""

    def __init__(self) -> None:
        self._attempts = Attempts()
        self._known: OrderedDict[str, None] = OrderedDict()

    def begin(self, client: str, hashed: str, now: float) -> Leave:
        """Whether to look up this token. A known one doesn't count as an attempt."""
        return "free" if hashed in self._known else self._attempts.begin(client, now)

    def admit(self, client: str, hashed: str, now: float) -> None:
        """The token is valid."""
        if hashed not in self._known:
            self._attempts.forgive(client, now)
        self._known[hashed] = None
        self._known.move_to_end(hashed)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def refuse(self, hashed: str) -> None:
        """The token is unknown, revoked or expired."""
        self._known.pop(hashed, None)


class Connected(Protocol):
    """A connection, compared by identity."""

    def cut_off(self) -> None: ...


class ConnectionLimit:
    """Ends connections when there are too many: unauthenticated ones first, the oldest of them first.

    So many silent or slow connections can't shut others out. When none of these is left, authenticated clients that
    are still sending go next: a valid token can't be used to shut others out either.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: set[Connected] = set()
        self._strangers: dict[Connected, None] = {}
        self._speakers: dict[Connected, None] = {}

    def enter(self, guest: Connected) -> None:
        """A new, unauthenticated connection. At the limit another one is ended, or this one if all others may stay."""
        if len(self._all) >= self._most:
            oldest = next(chain(self._strangers, self._speakers, (guest,)))
            self.leave(oldest)
            oldest.cut_off()
            if oldest is guest:
                return
        self._all.add(guest)
        self._strangers[guest] = None

    def know(self, guest: Connected) -> None:
        """The client is authenticated, and still sending."""
        if self._strangers.pop(guest, self) is None:
            self._speakers[guest] = None

    def hear(self, guest: Connected) -> None:
        """The request is complete: the client stays as long as the response takes."""
        self._speakers.pop(guest, None)

    def forget(self, guest: Connected) -> None:
        """The response is sent: the next request has to authenticate again."""
        if guest in self._all:
            self._strangers.pop(guest, None)
            self._speakers.pop(guest, None)
            self._strangers[guest] = None

    def leave(self, guest: Connected) -> None:
        self._all.discard(guest)
        self._strangers.pop(guest, None)
        self._speakers.pop(guest, None)
