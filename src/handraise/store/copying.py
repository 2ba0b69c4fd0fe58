"""Copies everything from one database into an empty one, row by row, and compares both. All of it or nothing.

Works on tables, not on our nouns, so nothing can be left out: numbers, cursors and order stay the same.
"""

from collections.abc import AsyncIterator, Callable
from hashlib import blake2b
from types import TracebackType
from typing import Any, Protocol, Self

from msgspec import Struct, msgpack

from handraise.store.interface import StoreDamaged, StoreError
from handraise.texts import t

Row = tuple[Any, ...]
Progress = Callable[[str, int, int], None]
"""A table, how many of its rows were copied, and how many it has."""
ORDER = "number"
"""Only some tables need their order stored in a column. Where both sides have it, it is copied."""
_EVERY = 200
_DIGEST = 16
_MOST = 1 << (8 * _DIGEST)


class Counters(Struct, frozen=True):
    """The last numbers that were given: of pruned items, of items, of audit entries."""

    pruned: int
    newest: int
    audited: int


class CopySource(Protocol):
    """A database to copy from, as it was when this was entered, while no hub uses it."""

    shown: str
    """What people may read of where it is."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def tables(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table that has something to copy; `number` only if it can keep an order there."""
        ...

    async def count(self, table: str) -> int: ...

    def rows(self, table: str, columns: tuple[str, ...]) -> AsyncIterator[Row]:
        """Every row once, a few at a time, in no particular order."""
        ...

    async def counters(self) -> Counters: ...


class CopyTarget(CopySource, Protocol):
    """An empty database to copy to. Nothing is stored in it unless `commit` returns."""

    async def insert(self, table: str, columns: tuple[str, ...], rows: AsyncIterator[Row]) -> None: ...

    async def set_counters(self, counters: Counters) -> None: ...

    async def commit(self) -> None: ...


class CopiedTable(Struct, frozen=True):
    """How many rows a table has, and a digest of all of them, whatever their order."""

    rows: int
    digest: str


class Differs(StoreError):
    """What was read back isn't what was copied, so the copy was discarded."""


async def copy(source: CopySource, target: CopyTarget, progress: Progress) -> dict[str, CopiedTable]:
    """What was copied, by table. Raises a StoreError; then the target is as it was before."""
    columns = _common(await source.tables(), await target.tables())
    written = {}
    for table, names in columns.items():
        tally = _Tally(table, await source.count(table), progress)
        await target.insert(table, names, tally.passing(source.rows(table, names)))
        written[table] = tally.result()
    counters = await source.counters()
    await target.set_counters(counters)
    for table, names in columns.items():
        tally = _Tally(table, written[table].rows, None)
        async for _ in tally.passing(target.rows(table, names)):
            pass
        if tally.result() != written[table]:
            raise Differs(t("error.copy.differs", table=table), t("error.copy.again"))
    if await target.counters() != counters:
        raise Differs(t("error.copy.differs", table="feed"), t("error.copy.again"))
    await target.commit()
    return written


def _common(source: dict[str, tuple[str, ...]], target: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Both databases have the same schema, apart from where an order is stored."""
    if source.keys() != target.keys():
        raise StoreDamaged(t("error.copy.tables", tables=", ".join(sorted(source.keys() ^ target.keys()))))
    for table, names in source.items():
        if ({*names} ^ {*target[table]}) - {ORDER}:
            raise StoreDamaged(t("error.copy.tables", tables=table))
    return {table: tuple(each for each in sorted(names) if each in target[table]) for table, names in source.items()}


class _Tally:
    """Counts the rows that pass, and adds up their digests: that doesn't depend on the order they come in."""

    def __init__(self, table: str, total: int, progress: Progress | None) -> None:
        self._table = table
        self._total = total
        self._progress = progress
        self._rows = 0
        self._sum = 0

    async def passing(self, rows: AsyncIterator[Row]) -> AsyncIterator[Row]:
        async for row in rows:
            self._rows += 1
            hashed = blake2b(msgpack.encode(row), digest_size=_DIGEST).digest()
            self._sum = (self._sum + int.from_bytes(hashed, "big")) % _MOST
            if self._progress is not None and self._rows % _EVERY == 0:
                self._progress(self._table, self._rows, self._total)
            yield row
        if self._progress is not None:
            self._progress(self._table, self._rows, self._total)

    def result(self) -> CopiedTable:
        return CopiedTable(self._rows, f"{self._sum:032x}")
