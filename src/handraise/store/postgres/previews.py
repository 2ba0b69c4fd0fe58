"""Unfinished blocks of text on their way between machines. Best effort: any of them may be left out.

Each hub says in the database which sessions people look at. While someone does, the hub that runs a session puts the
newest state of each block there and announces it; nothing is written otherwise. Announcements are hints: where they
don't arrive, both sides look for themselves.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from hashlib import sha256
from typing import Any

from msgspec import MsgspecError, Struct, json

from handraise.model.items import Preview
from handraise.store.interface import StoreError
from handraise.store.postgres.connecting import Connection
from handraise.store.postgres.database import SQL
from handraise.store.postgres.writer import CHANNEL
from handraise.store.surrogates import mended

Work = Callable[[Connection], Awaitable[list[Any]]]
Use = Callable[[Work], Awaitable[list[Any]]]
"""Does work on a connection; raises StoreError."""

PACE = 0.04
"""The shortest time between two batches of previews, in seconds: as on the machine itself."""
_BYTES_A_SECOND = 4_000_000
"""Long blocks come less often."""
_WATCH_AGAIN = 10.0
_WATCHED_FOR = 30.0
_LOOK_AGAIN = 10.0
_LOOK_AGAIN_DEAF = 1.0
"""How long a hub that sends believes what it knows about who looks."""
_POLL_DEAF = 0.25
_AFTER_A_FAULT = 1.0
_MOST_BLOCKS = 200

log = logging.getLogger(__name__)


def channel_of(writer: str) -> str:
    """A hub's own channel."""
    return f"handraise_{writer}"


class _Watching(Struct):
    """A session that people here look at."""

    since: int
    number: int = 0
    """The newest preview that was shown."""


class PreviewExchange:
    """One hub's end. `hears` says whether announcements of other hubs arrive."""

    def __init__(self, writer: str, use: Use, hears: Callable[[], bool], show: Callable[[Preview], None]) -> None:
        self._writer = writer
        self._use = use
        self._hears = hears
        self._show = show
        self._mine: frozenset[str] = frozenset()
        self._watching: dict[str, _Watching] = {}
        self._wanted: frozenset[str] = frozenset()
        self._looked_at = float("-inf")
        self._waiting: dict[tuple[str, str, int], Preview] = {}
        self._send = asyncio.Event()
        self._watch = asyncio.Event()
        self._receive = asyncio.Event()

    def want(self, sessions: Collection[str]) -> None:
        """See `Store.want_previews`."""
        if frozenset(sessions) != self._mine:
            self._mine = frozenset(sessions)
            self._watch.set()

    def offer(self, preview: Preview) -> None:
        """See `Store.preview`. The newest state of a block replaces what waits; the oldest block makes room."""
        if preview.session not in self._wanted and not self._must_look():
            return
        self._waiting[preview.session, preview.message, preview.index] = preview
        if len(self._waiting) > _MOST_BLOCKS:
            del self._waiting[next(iter(self._waiting))]
        self._send.set()

    def settle(self, sessions: Iterable[str]) -> None:
        """Something of these sessions was stored: what waits may be complete, and the rest comes again."""
        for session in sessions:
            for key in [each for each in self._waiting if each[0] == session]:
                del self._waiting[key]

    def hear_watchers(self) -> None:
        """Other hubs look at other sessions than before."""
        self._looked_at = float("-inf")

    def hear_previews(self) -> None:
        """There may be some for this hub."""
        if self._watching:
            self._receive.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for part in (self._keep_watching, self._receive_all, self._send_all):
                tasks.create_task(_without_end(part))

    async def _keep_watching(self) -> None:
        try:
            async with asyncio.timeout(_WATCH_AGAIN if self._mine else None):
                await self._watch.wait()
        except TimeoutError:
            pass
        changed = self._watch.is_set()
        self._watch.clear()
        sessions = self._mine
        try:
            rows = await self._rows(
                "watch",
                announce="w" if changed else "",
                hub=self._writer,
                sessions=sorted(sessions),
                microseconds=round(_WATCHED_FOR * 1_000_000),
            )
        except StoreError:
            self._watch.set()
            raise
        since = int(rows[0][0])
        self._watching = {each: self._watching.get(each) or _Watching(since) for each in sessions}
        self._receive.set()

    async def _receive_all(self) -> None:
        try:
            async with asyncio.timeout((_WATCH_AGAIN if self._hears() else _POLL_DEAF) if self._watching else None):
                await self._receive.wait()
        except TimeoutError:
            pass
        self._receive.clear()
        watching = self._watching
        if not watching:
            return
        rows = await self._rows(
            "new_previews",
            sessions=[*watching],
            numbers=[each.number for each in watching.values()],
            since=[each.since for each in watching.values()],
        )
        for session, number, content in rows:
            watching[session].number = max(number, watching[session].number)
            try:
                preview = json.decode(content, type=Preview)
            except MsgspecError:
                continue  # of another version
            if preview.session == session:
                self._show(preview)

    async def _send_all(self) -> None:
        await self._send.wait()
        self._send.clear()
        began = _now()
        if self._must_look():
            self._looked_at = began
            rows = await self._rows("watched_elsewhere", hub=self._writer)
            self._wanted = frozenset(row[0] for row in rows)
        waiting, self._waiting = self._waiting, {}
        wanted = [each for each in waiting.values() if each.session in self._wanted]
        contents = [_encoded(each) for each in wanted]
        if wanted:
            await self._rows(
                "send_previews",
                announce="p",
                sessions=[each.session for each in wanted],
                blocks=[_block(each) for each in wanted],
                contents=contents,
            )
        size = sum(len(each) for each in contents)
        await asyncio.sleep(max(PACE, size / _BYTES_A_SECOND) - (_now() - began))

    def _must_look(self) -> bool:
        return _now() - self._looked_at >= (_LOOK_AGAIN if self._hears() else _LOOK_AGAIN_DEAF)

    async def _rows(self, statement: str, *, announce: str = "", **bindings: object) -> list[Any]:
        prepared, notify = SQL[statement], SQL["notify"]

        async def work(connection: Connection) -> list[Any]:
            rows: list[Any] = await connection.fetch(prepared.text, *prepared.arguments(bindings))
            if announce:
                hint = {"channels": [CHANNEL], "payloads": [f"{announce} {self._writer}"]}
                await connection.execute(notify.text, *notify.arguments(hint))
            return rows

        return await self._use(work)


async def _without_end(part: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await part()
        except StoreError:
            await asyncio.sleep(_AFTER_A_FAULT)  # the database is away: the next one may get through
        except Exception:  # outer boundary: one bad preview must not end all others
            log.exception("previews could not be exchanged; trying again")
            await asyncio.sleep(_AFTER_A_FAULT)


def _encoded(preview: Preview) -> bytes:
    try:
        return json.encode(preview)
    except UnicodeEncodeError:
        return json.encode(mended(preview))


def _block(preview: Preview) -> str:
    """The same for every state of a block, and short, whatever Claude calls its messages."""
    return sha256(f"{preview.message} {preview.index}".encode("utf-8", "surrogatepass")).hexdigest()


def _now() -> float:
    return asyncio.get_running_loop().time()
