"""How often somebody may try to log in. Pure; time is an argument."""

from collections import OrderedDict
from typing import Literal

TRIES = 10
WINDOW = 60.0
SPARE = 20.0
"""Tries a second that are looked at beyond the limit, of all clients together."""
_REMEMBERED = 10_000

Leave = Literal["free", "beyond", "none"]


class Attempts:
    """Ten failures a minute for each client; the oldest clients are forgotten first.

    Beyond that a try is still looked at while there is some to spare: whoever shares an address with somebody who
    guesses, and has a good secret, is not shut out. Everybody else is told to wait.
    """

    def __init__(self) -> None:
        self._tried: OrderedDict[str, list[float]] = OrderedDict()
        self._spare = SPARE
        self._at = 0.0

    def begin(self, client: str, now: float) -> Leave:
        """Whether one more try is looked at. It counts from here, so that many at once are no way around the limit."""
        recent = [at for at in self._tried.pop(client, []) if now - at < WINDOW]
        is_free = len(recent) < TRIES
        self._tried[client] = [*recent, now] if is_free else recent
        if len(self._tried) > _REMEMBERED:
            self._tried.popitem(last=False)
        if is_free:
            return "free"
        return "beyond" if self._take_spare(now) else "none"

    def forgive(self, client: str, at: float) -> None:
        """That try was none: it was a good one."""
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
