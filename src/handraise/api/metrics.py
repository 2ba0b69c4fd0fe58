"""Metrics over HTTP: collected when Prometheus asks, except times to answer, which are recorded as they happen."""

import asyncio
import importlib
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Struct, field
from starlette.responses import Response

from handraise.api.requests import ApiRequest, Route
from handraise.api.stream import Streams
from handraise.hub.hub import Hub
from handraise.model.asks import KINDS
from handraise.model.items import Item
from handraise.model.sessions import PHASES, Phase, Session
from handraise.reach.counts import NotificationCounts
from handraise.reach.notifications import Notifications

SECONDS = (1, 5, 15, 30, 60, 120, 300, 900, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600)
"""The upper bounds of the histogram of times to answer."""

_MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_FOLLOWED: tuple[Phase, ...] = ("starting", "idle", "working", "parking", "stopping")
# The type comes first in an item, so that other items needn't be decoded.
_OPENED = b'{"type":"ask.opened"'
_SETTLED = b'{"type":"ask.settled"'


class Waits(Struct):
    """How long asks of one kind waited for their answers."""

    since: float
    seconds: float = 0.0
    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    """For each of SECONDS, how many took at most this long, and longer than the one before; then all others."""

    def note(self, seconds: float) -> None:
        self.seconds += seconds
        self.counts[next((at for at, most in enumerate(SECONDS) if seconds <= most), len(SECONDS))] += 1


class Counted(Struct, frozen=True):
    """Everything, at one moment."""

    open_asks: Mapping[str, int]
    sessions: Mapping[str, int]
    lag: int
    """Bytes that Claude has written and the hub hasn't read."""
    streams: int
    statuses: Mapping[int, int]
    waits: Mapping[str, Waits]
    notifications: NotificationCounts = field(default_factory=NotificationCounts)


class _Ask(Struct, frozen=True):
    id: str
    kind: str
    opened_at: datetime
    machine: str = ""


class _AskOpened(Struct, frozen=True):
    ask: _Ask


class _Settlement(Struct, frozen=True):
    state: str
    at: datetime


class _AskSettled(Struct, frozen=True):
    ask: str
    settlement: _Settlement


class Metrics:
    """Entered with `async with`, inside the hub's. `statuses` counts HTTP responses."""

    def __init__(self, hub: Hub, state: Path, streams: Streams) -> None:
        self.statuses: Counter[int] = Counter()
        self._hub = hub
        self._state = state
        self._streams = streams
        self._opened: dict[str, _Ask] = {}
        self._waits: dict[str, Waits] = {}
        self.notifications: Notifications | None = None

    async def __aenter__(self) -> Self:
        self._hub.store.listen(self._committed)
        for ask in await self._hub.store.asks(state="open"):
            if self._is_here(ask.machine):
                self._opened[ask.id] = _Ask(ask.id, ask.kind, ask.opened_at)
        return self

    async def __aexit__(self, *_: object) -> None:
        """The store drops its listeners when it is closed."""

    def route(self) -> Route:
        return Route("GET", "/metrics", "viewer", self._show, "Get metrics for Prometheus", media="text/plain")

    async def _show(self, _: ApiRequest) -> Response:
        # Each hub counts what is on its machine, so that sums over all hubs are right.
        sessions = [each for each in await self._hub.store.sessions() if self._is_here(each.machine)]
        lag = await self._lag([session for session in sessions if session.phase in _FOLLOWED])
        counted = Counted(
            open_asks=_each(KINDS, (ask.kind for ask in self._opened.values())),
            sessions=_each(PHASES, (session.phase for session in sessions)),
            lag=lag,
            streams=self._streams.open,
            statuses=dict(sorted(self.statuses.items())),
            waits=self._waits,
            notifications=self.notifications.counts if self.notifications is not None else NotificationCounts(),
        )
        page = await asyncio.to_thread(importlib.import_module, "handraise.api.prometheus")
        return Response(page.render(counted), media_type=_MEDIA)

    def _committed(self, items: Sequence[Item]) -> None:
        for item in items:
            if item.content.startswith(_OPENED):
                ask = msgspec.json.decode(item.content, type=_AskOpened).ask
                if self._is_here(ask.machine):
                    self._opened[ask.id] = ask
            elif item.content.startswith(_SETTLED):
                settled = msgspec.json.decode(item.content, type=_AskSettled)
                known = self._opened.pop(settled.ask, None)
                if known is not None and self.notifications is not None:
                    self.notifications.count_settled(settled.ask)
                if known is not None and settled.settlement.state == "answered":
                    waited = (settled.settlement.at - known.opened_at).total_seconds()
                    waits = self._waits.setdefault(known.kind, Waits(time.time()))
                    waits.note(max(0.0, waited))

    def _is_here(self, machine: str) -> bool:
        return machine in ("", self._hub.store.machine)

    async def _lag(self, running: Sequence[Session]) -> int:
        """Bytes that Claude has written and the hub hasn't read."""
        behind = 0
        for session in running:
            journal = self._state / "sessions" / session.id / str(session.run) / "out.ndjson"
            behind += max(0, await asyncio.to_thread(_size, journal) - await self._read_so_far(session))
        return behind

    async def _read_so_far(self, session: Session) -> int:
        runner = self._hub.pool.runner(session.id)
        if runner is not None and runner.session.run == session.run:
            return runner.offset
        checkpoint = await self._hub.store.checkpoint(session.id)
        return checkpoint.offset if checkpoint and checkpoint.run == session.run else 0


def _each(names: Iterable[str], found: Iterable[str]) -> dict[str, int]:
    """The number of each, in this order, including zeros."""
    counted = Counter(found)
    return {name: counted[name] for name in names}


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
