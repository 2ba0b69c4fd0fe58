"""The store's small values and leases, as surfaces use them."""

from collections.abc import Sequence

from handraise.desk.shared import RecordChange
from handraise.store.changes import Change, RemoveRecord, SaveRecord
from handraise.store.interface import Store


class StoreRecords:
    """See `SharedRecords`. Raises StoreError."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def read(self, kind: str) -> dict[str, bytes]:
        return await self._store.records(kind)

    async def record(self, kind: str, key: str) -> bytes | None:
        return await self._store.record(kind, key)

    async def save(self, kind: str, changes: Sequence[RecordChange]) -> Sequence[bool]:
        return (await self._store.apply([_change(kind, each) for each in changes])).took

    async def lease(self, name: str, seconds: float) -> bool:
        return await self._store.lease(name, seconds)

    async def end_lease(self, name: str) -> None:
        await self._store.end_lease(name)


def _change(kind: str, change: RecordChange) -> Change:
    if change.value is None:
        return RemoveRecord(kind, change.key)
    return SaveRecord(kind, change.key, change.value, change.only_if)
