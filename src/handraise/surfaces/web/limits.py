"""How often somebody may try to log in. Pure; time is an argument."""

from collections import OrderedDict

TRIES = 10
WINDOW = 60.0
_REMEMBERED = 10_000


class Attempts:
    """Ten failures a minute for each address; the oldest addresses are forgotten first."""

    def __init__(self) -> None:
        self._tried: OrderedDict[str, list[float]] = OrderedDict()

    def begin(self, address: str, now: float) -> bool:
        """Whether one more try is allowed. It counts from here, so that many at once are no way around the limit."""
        recent = [at for at in self._tried.pop(address, []) if now - at < WINDOW]
        allowed = len(recent) < TRIES
        self._tried[address] = [*recent, now] if allowed else recent
        if len(self._tried) > _REMEMBERED:
            self._tried.popitem(last=False)
        return allowed

    def forgive(self, address: str, at: float) -> None:
        """That try was none: it was a good one."""
        tried = self._tried.get(address, [])
        if at in tried:
            tried.remove(at)
