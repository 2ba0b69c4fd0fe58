"""Thins out similar events: the first is reported at once, the others as a count, less and less often.

Pure; time is an argument.
"""

from datetime import datetime, timedelta
from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")

FIRST = timedelta(minutes=1)
LONGEST = timedelta(hours=1)


class _Row(Struct, Generic[T]):
    latest: T
    until: datetime
    span: timedelta = FIRST
    unreported: int = 0


class Repeats(Generic[T]):
    """Holds a row for each key of the last hour; callers use few keys."""

    def __init__(self) -> None:
        self._rows: dict[str, _Row[T]] = {}

    def meet(self, key: str, event: T, now: datetime) -> bool:
        """Whether to report this one. If not, it is counted and reported with the others."""
        row = self._rows.get(key)
        if row is None:
            self._rows[key] = _Row(event, now + FIRST)
            return True
        row.latest = event
        row.unreported += 1
        return False

    def due(self, now: datetime) -> list[tuple[T, int]]:
        """The latest event and the count for each key that is due. Quiet keys are removed."""
        repeated: list[tuple[T, int]] = []
        for key, row in list(self._rows.items()):
            if now < row.until:
                continue
            if row.unreported:
                repeated.append((row.latest, row.unreported))
                row.span = min(2 * row.span, LONGEST)
                row.until, row.unreported = now + row.span, 0
            else:
                del self._rows[key]
        return repeated

    def rest(self) -> list[tuple[T, int]]:
        """Everything that was counted and not reported."""
        repeated = [(row.latest, row.unreported) for row in self._rows.values() if row.unreported]
        self._rows.clear()
        return repeated
