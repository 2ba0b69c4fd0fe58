"""How often somebody may try to log in. Pure; time is an argument."""

from collections import OrderedDict

_TRIES = 10
_WINDOW = 60.0
_REMEMBERED = 10_000


class Attempts:
    """Ten failures a minute for each address; the oldest addresses are forgotten first."""

    def __init__(self) -> None:
        self._failed: OrderedDict[str, list[float]] = OrderedDict()

    def allowed(self, address: str, now: float) -> bool:
        recent = [at for at in self._failed.get(address, []) if now - at < _WINDOW]
        return len(recent) < _TRIES

    def failed(self, address: str, now: float) -> None:
        recent = [at for at in self._failed.pop(address, []) if now - at < _WINDOW]
        self._failed[address] = [*recent, now]
        if len(self._failed) > _REMEMBERED:
            self._failed.popitem(last=False)
