"""Who is looking at what: pages with the focus, and terminals that are attached to a session."""

import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from handraise.desk.shared import RecordChange, SharedRecords

KIND = "reach presence"
LASTS = timedelta(seconds=60)
"""How long a page counts as focused after its last report. It reports every 25 seconds."""
MOST = 1_000

log = logging.getLogger("handraise.reach")


class Sighting(Struct, frozen=True):
    """A page or terminal of a person, what it shows (sessions, or EVERYTHING), and until when that counts."""

    person: str
    views: tuple[str, ...]
    until: datetime


class Presence:
    """`shared`: other hubs hear of it by the database, and it of theirs (`refresh`)."""

    def __init__(self, clock: Callable[[], datetime], shared: SharedRecords | None = None) -> None:
        self._clock = clock
        self._shared = shared
        self._own: dict[str, Sighting] = {}
        self._others: dict[str, Sighting] = {}
        self._stored: dict[str, bytes] = {}
        self._attached: dict[tuple[str, str], int] = {}
        self._announced: set[str] = set()
        """The attached terminals that other hubs know of."""
        self.listeners: list[Callable[[], None]] = []

    def looking(self) -> dict[str, frozenset[str]]:
        """By person, what they look at. Reports that are too old don't count."""
        now = self._clock()
        found: dict[str, set[str]] = {}
        for each in (*self._own.values(), *self._others.values()):
            if each.until > now:
                found.setdefault(each.person, set()).update(each.views)
        for person, session in self._attached:
            found.setdefault(person, set()).add(session)
        return {person: frozenset(views) for person, views in found.items()}

    def next_end(self) -> datetime | None:
        """When the next report becomes too old."""
        now = self._clock()
        ends = [each.until for each in (*self._own.values(), *self._others.values()) if each.until > now]
        return min(ends, default=None)

    async def report(self, page: str, person: str, views: Collection[str]) -> None:
        """A page says what it shows while it has the focus; nothing if it hasn't."""
        before = self.looking()
        key = f"{person}\n{page}"
        if views:
            self._own[key] = Sighting(person, tuple(sorted(views)), self._clock() + LASTS)
        else:
            self._own.pop(key, None)
        self._forget_old()
        await self._publish(key)
        if self.looking() != before:
            self._tell()

    @contextmanager
    def attached(self, person: str, session: str) -> Iterator[None]:
        """A terminal shows this session while this is entered."""
        key = (person, session)
        self._attached[key] = self._attached.get(key, 0) + 1
        self._tell()
        try:
            yield
        finally:
            self._attached[key] -= 1
            if not self._attached[key]:
                del self._attached[key]
                self._own.pop(_attached_key(*key), None)
            self._tell()

    async def refresh(self) -> None:
        """Hears what other hubs know, and says again which terminals are attached here."""
        if self._shared is None:
            return
        before = self.looking()
        now, now_attached = self._clock(), {_attached_key(*each): each for each in self._attached}
        for key, (person, session) in now_attached.items():
            known = self._own.get(key)
            if known is None or known.until < now + LASTS / 2:
                self._own[key] = Sighting(person, (session,), now + LASTS)
                await self._publish(key)
        for key in sorted(self._announced - set(now_attached)):
            await self._publish(key)
        self._announced = set(now_attached)
        self._stored = await self._shared.read(KIND)
        self._others = {}
        for key, value in self._stored.items():
            try:
                if key not in self._own:
                    self._others[key] = msgspec.json.decode(value, type=Sighting)
            except msgspec.MsgspecError:
                log.warning("a report of presence can't be read")
        if self.looking() != before:
            self._tell()

    async def _publish(self, key: str) -> None:
        if self._shared is None:
            return
        report = self._own.get(key)
        value = None if report is None else msgspec.json.encode(report)
        old = [
            RecordChange(name, None, None) for name, each in self._others.items() if each.until + LASTS < self._clock()
        ]
        change = RecordChange(key, value, self._stored.get(key))
        took = await self._shared.save(KIND, [change, *old])
        if took[0] and value is not None:
            self._stored[key] = value
        elif not took[0]:
            self._stored = await self._shared.read(KIND)

    def _forget_old(self) -> None:
        now = self._clock()
        self._own = {key: each for key, each in self._own.items() if each.until > now}
        while len(self._own) > MOST:
            del self._own[next(iter(self._own))]

    def _tell(self) -> None:
        for listener in self.listeners:
            listener()


def _attached_key(person: str, session: str) -> str:
    return f"{person}\nattached {session}"
