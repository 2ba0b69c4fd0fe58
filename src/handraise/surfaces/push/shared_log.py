"""The devices and what each was sent, as records in a database that several hubs share.

Each hub works on its own copy. Syncing takes over what the others changed, then stores what this one changed, if
nobody was faster.
"""

import asyncio
import importlib
import logging
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from handraise.desk.interface import Refused
from handraise.desk.shared import RecordChange, SharedRecords
from handraise.surfaces.push.device_log import KEY_FILE, DeviceBook, DeviceLogLost, DeviceState, read
from handraise.texts import t

if TYPE_CHECKING:
    from handraise.surfaces.push.vapid import HubKey

KIND = "push"
_KEY = "key"
_CURSOR = "cursor"
_DEVICE = "d_"
_TRIES = 10


log = logging.getLogger("handraise.push")


class _Stored(Struct, frozen=True):
    """A record as it was read or written last."""

    value: bytes
    page: DeviceState


class SharedDeviceLog(DeviceBook):
    """`before` is the folder of a hub that was alone: if nobody shares devices yet, its own come along."""

    def __init__(self, records: SharedRecords, before: Path) -> None:
        super().__init__()
        self._records = records
        self._before = before
        self._known: dict[str, _Stored] = {}
        self._cursor: bytes | None = None

    async def refresh(self) -> None:
        await self.save()

    async def key(self) -> "HubKey":
        vapid = await asyncio.to_thread(importlib.import_module, "handraise.surfaces.push.vapid")
        stored = (await self._records.read(KIND)).get(_KEY)
        if stored is None:
            await self._records.save(KIND, [RecordChange(_KEY, vapid.make_key(), None)])
            stored = (await self._records.read(KIND)).get(_KEY, b"")
        key: HubKey = vapid.read_key(stored, "The key in the database")
        return key

    async def _load(self) -> None:
        stored = await self._records.read(KIND)
        if _KEY not in stored:
            await self._bring_along()
        await self._write()

    async def _bring_along(self) -> None:
        try:
            key = await asyncio.to_thread((self._before / KEY_FILE).read_bytes)
            own = await asyncio.to_thread(read, self._before / "devices.json")
        except (OSError, DeviceLogLost):
            return
        (was_first,) = await self._records.save(KIND, [RecordChange(_KEY, key, None)])
        if was_first:
            self.ledger = own

    async def _write(self) -> None:
        for _ in range(_TRIES):
            self._take_over(await self._records.read(KIND))
            changes = self._changes()
            if not changes:
                return
            took = await self._records.save(KIND, changes)
            for change, did in zip(changes, took, strict=True):
                if did:
                    self._note(change)
            if all(took):
                return
        raise Refused(t("push.error.busy_database"))

    def _take_over(self, stored: dict[str, bytes]) -> None:
        """What other hubs changed."""
        for name in {*self._known, *(key for key in stored if key.startswith(_DEVICE))}:
            value, known = stored.get(name), self._known.get(name)
            if value is None:
                # Removed: that counts, whatever was changed here.
                self.ledger.pages.pop(name, None)
                self._known.pop(name, None)
            elif known is None or known.value != value:
                self._take_over_page(name, value, known)
        self._cursor = stored.get(_CURSOR)
        if self._cursor is not None:
            self.ledger.cursor = max(_number(self._cursor), self.ledger.cursor or 0)

    def _take_over_page(self, name: str, value: bytes, known: _Stored | None) -> None:
        try:
            theirs = msgspec.json.decode(value, type=DeviceState)
        except msgspec.MsgspecError:
            if known is None:
                log.warning("a device in the database can't be read", extra={"device": name})
            return
        mine = self.ledger.pages.get(name)
        if mine is not None:
            merge(known.page if known else theirs, mine, theirs)
        elif known is None:
            self.ledger.pages[name] = msgspec.json.decode(value, type=DeviceState)
        self._known[name] = _Stored(value, theirs)

    def _changes(self) -> list[RecordChange]:
        changes = [
            RecordChange(name, msgspec.json.encode(page), known.value if known else None)
            for name, page in self.ledger.pages.items()
            if (known := self._known.get(name)) is None or known.page != page
        ]
        changes += [
            RecordChange(name, None, known.value)
            for name, known in self._known.items()
            if name not in self.ledger.pages
        ]
        cursor = self.ledger.cursor
        if cursor is not None and (self._cursor is None or cursor != _number(self._cursor)):
            changes.append(RecordChange(_CURSOR, str(cursor).encode(), self._cursor))
        return sorted(changes, key=lambda change: change.key)  # in one order: two hubs must not wait for each other

    def _note(self, change: RecordChange) -> None:
        if change.key == _CURSOR:
            self._cursor = change.value
        elif change.value is None:
            self._known.pop(change.key, None)
        else:
            self._known[change.key] = _Stored(change.value, msgspec.json.decode(change.value, type=DeviceState))


def merge(before: DeviceState, mine: DeviceState, theirs: DeviceState) -> None:
    """Makes `mine` what follows from both changes to the same state; where they differ, it stays."""
    was, other = asdict(before.device), asdict(theirs.device)
    changed = {name: value for name, value in asdict(mine.device).items() if value != was[name]}
    mine.device = replace(mine.device, **{**other, **changed})
    mine.shown = _merged(before.shown, mine.shown, theirs.shown)
    mine.doubtful = _merged(before.doubtful, mine.doubtful, theirs.doubtful)
    mine.put_away = _merged(before.put_away, mine.put_away, theirs.put_away)
    gone = [each for each in before.endings if each not in mine.endings]
    added = [each for each in mine.endings if each not in before.endings and each not in theirs.endings]
    mine.endings = [*(each for each in theirs.endings if each not in gone), *added]


def _merged(before: dict[str, datetime], mine: dict[str, datetime], theirs: dict[str, datetime]) -> dict[str, datetime]:
    merged = dict(theirs)
    for key in {*before, *mine}:
        if mine.get(key) == before.get(key):
            continue
        if key in mine:
            merged[key] = mine[key]
        else:
            merged.pop(key, None)
    return merged


def _number(value: bytes) -> int:
    return int(value) if value.isdigit() else 0
