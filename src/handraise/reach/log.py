"""What was sent and not sent about each ask, as records that several hubs share."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol

import msgspec

from handraise.desk.interface import Refused
from handraise.desk.shared import RecordChange, SharedRecords
from handraise.reach.counts import NotificationCounts
from handraise.reach.model import AskLog
from handraise.texts import t

KIND = "reach log"
MOST = 2_000
"""How many asks are remembered."""
_REMEMBERED = 500
"""What was forgotten is read again."""
_TRIES = 10

log = logging.getLogger("handraise.reach")

Change = Callable[[AskLog], AskLog]


class ReachRecords(SharedRecords, Protocol):
    """Records that can also be read one by one."""

    async def record(self, kind: str, key: str) -> bytes | None: ...


class NotificationLog:
    """Each change is durable when `change` returns. Hubs that change the same ask don't overwrite each other."""

    def __init__(self, records: ReachRecords) -> None:
        self._records = records
        self.counts = NotificationCounts()
        self._stored: dict[str, bytes | None] = {}
        """What this hub believes is stored. If it isn't, it is read again."""

    async def read(self, ask: str) -> AskLog | None:
        stored = await self._records.record(KIND, ask)
        self._remember(ask, stored)
        return _decoded(stored)

    async def peek(self, ask: str) -> AskLog | None:
        """Without remembering it: nothing more is expected."""
        return _decoded(await self._records.record(KIND, ask))

    async def all(self) -> list[AskLog]:
        """Oldest first."""
        found = (_decoded(each) for each in (await self._records.read(KIND)).values())
        return sorted((each for each in found if each is not None), key=lambda each: (each.opened_at, each.ask))

    async def change(self, changes: Mapping[str, tuple[AskLog, Change]]) -> dict[str, AskLog]:
        """By ask: what its log is if there is none yet, and what to do with it. All of them in one batch."""
        done: dict[str, AskLog] = {}
        for _ in range(_TRIES):
            rest = {ask: each for ask, each in changes.items() if ask not in done}
            batch: list[tuple[AskLog, AskLog, RecordChange | None]] = []
            for ask, (empty, change) in rest.items():
                stored = self._stored[ask] if ask in self._stored else await self._records.record(KIND, ask)
                before = _decoded(stored) or empty
                after = change(before)
                is_same = stored is not None and after == before
                change_to = None if is_same else RecordChange(ask, msgspec.json.encode(after), stored)
                batch.append((before, after, change_to))
            await self._save(batch, done)
            if len(done) == len(changes):
                return done
        raise Refused(t("reach.error.busy_database"))

    def forget(self, ask: str) -> None:
        """Nothing more is expected about this ask."""
        self._stored.pop(ask, None)

    async def prune(self, before: datetime) -> None:
        """Forgets asks that were opened before then, and all but the newest MOST."""
        logs = await self.all()
        old = [each for number, each in enumerate(reversed(logs)) if number >= MOST or each.opened_at < before]
        if old:
            await self._records.save(KIND, [RecordChange(each.ask, None, None) for each in old])
            for each in old:
                self._stored.pop(each.ask, None)

    def _remember(self, ask: str, stored: bytes | None) -> None:
        self._stored.pop(ask, None)
        self._stored[ask] = stored
        while len(self._stored) > _REMEMBERED:
            del self._stored[next(iter(self._stored))]

    async def _save(self, batch: list[tuple[AskLog, AskLog, RecordChange | None]], done: dict[str, AskLog]) -> None:
        changes = [change for _, _, change in batch if change is not None]
        took = iter(await self._records.save(KIND, changes) if changes else ())
        for before, after, change in batch:
            if change is None or next(took):
                done[after.ask] = after
                if change is not None:
                    self._remember(after.ask, change.value)
                    self.counts.note(before, after)
            else:
                self._stored.pop(after.ask, None)


def _decoded(stored: bytes | None) -> AskLog | None:
    if stored is None:
        return None
    try:
        return msgspec.json.decode(stored, type=AskLog)
    except msgspec.MsgspecError:
        log.warning("the log of an ask's notifications can't be read")
        return None
