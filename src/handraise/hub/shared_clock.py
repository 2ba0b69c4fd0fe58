"""The time as hubs with one database agree on it: this machine's clock, corrected if it differs from the database's."""

from collections.abc import Callable
from datetime import datetime, timedelta

TOLERANCE = timedelta(seconds=1)
"""A difference that nobody notices, and that a slow answer could pretend."""


class SharedClock:
    """Called like any clock. Without a shared database nothing corrects it."""

    def __init__(self, own: Callable[[], datetime]) -> None:
        self.own = own
        self.ahead = timedelta()
        """How far the database is ahead of this machine."""

    def __call__(self) -> datetime:
        return self.own() + self.ahead

    def learn(self, time: datetime, since: datetime) -> None:
        """The database said what time it is, after `since` and before this moment by this machine's own clock."""
        earliest, latest = time - self.own(), time - since
        if earliest - TOLERANCE <= self.ahead <= latest + TOLERANCE:
            return
        middle = earliest + (latest - earliest) / 2
        self.ahead = middle if abs(middle) > TOLERANCE else timedelta()
