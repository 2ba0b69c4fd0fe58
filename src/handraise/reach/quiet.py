"""Quiet hours in a person's own time zone, also on the days when the clocks change. Pure: the zone is an argument."""

from datetime import UTC, datetime, time, timedelta, tzinfo

from msgspec import Struct


class QuietWindow(Struct, frozen=True):
    """From `start` to `end` each day, by the clocks of `zone`; `end` may be on the next day."""

    start: time
    end: time
    zone: tzinfo
    urgent_gets_through: bool = True

    def ends_at(self, now: datetime) -> datetime | None:
        """When the quiet hours that cover this moment end; None if none do.

        A time that the clocks skip counts as if they hadn't been set forward yet; one that comes twice, as the first.
        """
        today = now.astimezone(self.zone).date()
        # A window of yesterday may reach into today. Both ends become moments before anything is compared.
        for day in (today - timedelta(days=1), today):
            begins = datetime.combine(day, self.start, self.zone).astimezone(UTC)
            last = day if self.start < self.end else day + timedelta(days=1)
            ends = datetime.combine(last, self.end, self.zone).astimezone(UTC)
            if begins <= now < ends:
                return ends
        return None
