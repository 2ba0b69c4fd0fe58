"""The pause after "outline it first": how long further plans are sent back at once. Pure; time is an argument."""

from datetime import datetime, timedelta

from msgspec import Struct

_STEP = timedelta(seconds=30)
_LONGEST = timedelta(seconds=120)


class Cooldown(Struct, frozen=True):
    """30, 60, 90, then 120 seconds: it grows with each use, also after a window has passed."""

    uses: int = 0
    until: datetime | None = None

    def used(self, now: datetime) -> "Cooldown":
        uses = self.uses + 1
        return Cooldown(uses, now + min(_STEP * uses, _LONGEST))

    def holds(self, now: datetime) -> bool:
        return self.until is not None and now < self.until
