"""Which of many alike events are told: the first at once, the others by their number, ever more rarely.

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
    untold: int = 0


class Repeats(Generic[T]):
    """As many rows as there are keys in an hour; whoever chooses the keys keeps them few."""

    def __init__(self) -> None:
        self._rows: dict[str, _Row[T]] = {}

    def meet(self, key: str, event: T, now: datetime) -> bool:
        """Whether to tell of this one. If not, it is counted, and told with the others."""
        row = self._rows.get(key)
        if row is None:
            self._rows[key] = _Row(event, now + FIRST)
            return True
        row.latest = event
        row.untold += 1
        return False

    def due(self, now: datetime) -> list[tuple[T, int]]:
        """The latest of each kind and their number, where it is time to tell. What became quiet is forgotten."""
        told: list[tuple[T, int]] = []
        for key, row in list(self._rows.items()):
            if now < row.until:
                continue
            if row.untold:
                told.append((row.latest, row.untold))
                row.span = min(2 * row.span, LONGEST)
                row.until, row.untold = now + row.span, 0
            else:
                del self._rows[key]
        return told

    def rest(self) -> list[tuple[T, int]]:
        """Everything that was counted and not told."""
        told = [(row.latest, row.untold) for row in self._rows.values() if row.untold]
        self._rows.clear()
        return told
