"""The ledger: which devices there are, and what each was told. Pure; `book` keeps it on the disk."""

from datetime import datetime

from msgspec import Struct

from handraise.model.devices import Device

MOST_ENDINGS = 20
"""How many ends of sessions may wait for a device; the oldest are left out."""


class Ending(Struct, frozen=True):
    """A session that ended, as the feed told it."""

    session: str
    how: str
    reason: str
    at: datetime
    by: str | None = None
    """Who stopped it, where a person did."""
    alarm: bool = False


class DeviceState(Struct):
    """One device, and how far it was told."""

    device: Device
    shown: dict[str, datetime] = {}
    """The asks that it shows, and since when: its push service took them, and they were not taken back."""
    doubtful: dict[str, datetime] = {}
    """The asks that it may show: they were sent, and nobody knows what became of it."""
    endings: list[Ending] = []
    """Sessions whose end it has yet to be told."""
    put_away: dict[str, datetime] = {}
    """Open asks that somebody put away on it: they are neither shown again nor taken back."""

    def forget(self, ask: str) -> bool:
        """Whether it may have shown the ask; from here on it does not."""
        found = [self.shown.pop(ask, None), self.doubtful.pop(ask, None)]
        return found != [None, None]


class DeviceLog(Struct):
    """Every device by its id. `cursor` is how far the feed was looked through for sessions that ended."""

    pages: dict[str, DeviceState] = {}
    cursor: int | None = None

    def by_endpoint(self, endpoint: str | None) -> DeviceState | None:
        return next((page for page in self.pages.values() if page.device.endpoint == endpoint), None)

    def note_ending(self, ending: Ending, cursor: int, devices: list[str]) -> None:
        """They are to be told of it, and nobody looks that far back again."""
        self.cursor = cursor
        for each in devices:
            page = self.pages[each]
            page.endings = [*page.endings, ending][-MOST_ENDINGS:]
