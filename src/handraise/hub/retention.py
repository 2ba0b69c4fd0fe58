"""Retention: removes old items and journals by age and size, in small steps.

Never open asks, or the journal of a running Claude. Old entries of the audit log are moved to a file, if that is set.
Hubs that share a database may do it at the same time: each step starts where the last one ended, whoever did it.
"""

import asyncio
import logging
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from msgspec import Struct

from handraise.hub.audit_file import AuditFile
from handraise.model.sessions import Session
from handraise.session import abilities
from handraise.store.changes import Prune, PruneAudit, RemoveRecord
from handraise.store.interface import Store, StoreError

MIB = 1024 * 1024
_FIRST = 60.0
_AGAIN = 3600.0
_STEP = 1000
"""How many items are removed by one commit."""
_PAUSE = 0.05
_LEFT = 1000
"""How many of the newest items always stay."""

log = logging.getLogger("handraise.retention")


class RetentionLimits(Struct, frozen=True):
    """How long and how much is kept; None means no limit."""

    days: float | None = 90
    database: int | None = 1024 * MIB
    journals: int | None = 2048 * MIB
    audit_days: float | None = None


class StoredRun(Struct, frozen=True):
    """The journal of one process of a session. `changed` is in seconds since 1970."""

    path: Path
    size: int
    changed: float
    in_use: bool = False


def surplus(runs: Iterable[StoredRun], oldest: float | None, most: int | None) -> list[StoredRun]:
    """The runs to remove: those that are too old, then the oldest until the rest is small enough."""
    found = sorted(runs, key=lambda run: run.changed)
    left = sum(run.size for run in found)
    gone = []
    for run in found:
        too_old = oldest is not None and run.changed < oldest
        too_much = most is not None and left > most
        if not run.in_use and (too_old or too_much):
            gone.append(run)
            left -= run.size
    return gone


class Retention:
    """Entered with `async with`: runs after a minute, then every hour."""

    def __init__(
        self,
        store: Store,
        sessions: Path,
        clock: Callable[[], datetime],
        keep: RetentionLimits,
        audit_file: Path | None = None,
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._clock = clock
        self._keep = keep
        self._audit = AuditFile(audit_file or sessions.parent / "audit" / "audit.jsonl")

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._tidy_now_and_then())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def tidy(self) -> None:
        """Removes what is too old or too much."""
        if self._keep.days is not None:
            await self._prune_up_to(await self._last_before(self._clock() - timedelta(days=self._keep.days)))
        await self._prune_to_size()
        await self._move_audit()
        known = {session.id: session for session in await self._store.sessions()}
        await self._forget_abilities(known.values())
        await asyncio.to_thread(self._remove_journals, known)

    async def _tidy_now_and_then(self) -> None:
        wait = _FIRST
        while True:
            await asyncio.sleep(wait)
            wait = _AGAIN
            try:
                await self.tidy()
            except (StoreError, OSError):
                log.exception("could not remove old data; will retry in an hour")

    async def _last_before(self, moment: datetime) -> int:
        """The last cursor before this time: items are ordered by time, unless the clock was set."""
        low, high = await self._store.cursors()
        while low < high:
            middle = (low + high + 1) // 2
            found = await self._store.items(after=middle - 1, limit=1)
            if found and found[0].at < moment:
                low = middle
            else:
                high = middle - 1
        return low

    async def _prune_up_to(self, last: int) -> None:
        pruned, _ = await self._store.cursors()
        while pruned < last:
            await self._store.apply([Prune(min(pruned + _STEP, last))])
            await asyncio.sleep(_PAUSE)
            pruned, _ = await self._store.cursors()

    async def _prune_to_size(self) -> None:
        most = self._keep.database
        if most is None:
            return
        size = await self._store.size()
        while size > most:
            pruned, newest = await self._store.cursors()
            if pruned + _LEFT >= newest:
                log.warning("the database is over its limit, and nothing in it is old enough to remove")
                return
            # Measuring takes long in a large database: half of what seems too much goes before the next time.
            excess = int((newest - pruned) * (size - most) / size / 2)
            await self._prune_up_to(min(pruned + max(excess, _STEP), newest - _LEFT))
            size = await self._store.size()

    async def _move_audit(self) -> None:
        """Entries are on the disk before they leave the database."""
        days = self._keep.audit_days
        while days is not None:
            found = await self._store.audit(after=0, until=self._clock() - timedelta(days=days), limit=_STEP)
            newest = await self._store.audit(after=0, limit=1, newest_first=True)
            old = [entry for entry in found if entry.number < newest[0].number]
            if not old:
                return
            await asyncio.to_thread(self._audit.append, old)
            await self._store.apply([PruneAudit(old[-1].number)])
            await asyncio.sleep(_PAUSE)

    async def _forget_abilities(self, sessions: Iterable[Session]) -> None:
        """What Claude offers in directories that no session has any more."""
        used = {abilities.key_of(each.machine or self._store.machine, each.directory) for each in sessions}
        unused = [each for each in await self._store.records(abilities.KIND) if each not in used]
        if unused:
            await self._store.apply([RemoveRecord(abilities.KIND, each) for each in unused])

    def _remove_journals(self, known: Mapping[str, Session]) -> None:
        days = self._keep.days
        oldest = None if days is None else (self._clock() - timedelta(days=days)).timestamp()
        for run in surplus(_runs(self._sessions, known), oldest, self._keep.journals):
            shutil.rmtree(run.path, ignore_errors=True)
            with suppress(OSError):
                run.path.parent.rmdir()  # if it was the last one


def _runs(folder: Path, known: Mapping[str, Session]) -> list[StoredRun]:
    found = []
    for path in folder.glob("*/*"):
        session = known.get(path.parent.name)
        in_use = session is not None and session.ended is None and path.name == str(session.run)
        with suppress(OSError):
            status = (path / "out.ndjson").stat()
            # Blocks, not bytes: the oldest part of a long journal is freed.
            found.append(StoredRun(path, status.st_blocks * 512, status.st_mtime, in_use))
    return found
