"""A PostgreSQL database as one side of a copy. Everything is written in one transaction.

Hubs that start meanwhile wait until it ends.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from handraise.model.machines import LEASE
from handraise.store.copying import Counters, Row
from handraise.store.interface import StoreBusy, StoreError
from handraise.store.postgres.connecting import CONNECT_SECONDS, Connecting, DatabaseAddress
from handraise.store.postgres.database import prepare, schema
from handraise.store.postgres.errors import explain
from handraise.store.postgres.plain_text import original, storable
from handraise.texts import t

_NAME = "handraise copy"
_OWN = ("migrations", "writers", "feed", "leases", "watched", "previews", "lookups", "lookup_pieces")
"""Tables that describe this database or hold for moments, and not what is in it."""
_PAGE = 40
_COLUMNS = """
SELECT relname, array_agg(attname::text ORDER BY attnum)
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = to_regnamespace('handraise') AND relkind IN ('r', 'p') AND relpersistence = 'p'
    AND attnum > 0 AND NOT attisdropped AND relname <> ALL ($1::text[])
GROUP BY relname ORDER BY relname
"""
_NUMBERED = """
SELECT table_name::text, column_name::text FROM information_schema.columns
WHERE table_schema = 'handraise' AND is_identity = 'YES'
"""
_ONLINE = (
    "SELECT name FROM handraise.machines WHERE away_since IS NULL AND seen_at > handraise.clock() - $1 ORDER BY name"
)
# A claim updates the machine's row, so it waits for either of these.
_HOLD_STILL = "LOCK TABLE handraise.machines IN SHARE MODE"
_KEEP_AWAY = "LOCK TABLE handraise.machines, handraise.feed IN ACCESS EXCLUSIVE MODE"
_UNLIMITED = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"
_LOCK_SECONDS = 10


class _PostgresSide:
    """What both sides do: one connection, one transaction."""

    _isolation: Any = "repeatable_read"

    def __init__(self, address: DatabaseAddress) -> None:
        self.shown = address.shown
        self._connecting = Connecting(address, patience=CONNECT_SECONDS, hang_seconds=CONNECT_SECONDS)

    async def __aenter__(self) -> Self:
        self._connection = await self._connecting.connect(_NAME)
        try:
            with self._explained():
                await self._prepare()
                self._transaction = self._connection.transaction(isolation=self._isolation)
                await self._transaction.start()
                await self._connection.execute(_UNLIMITED)
                await self._connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'")
                await self._begin()
        except BaseException:
            self._connection.terminate()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What isn't committed ends with the connection.
        self._connection.terminate()

    async def tables(self) -> dict[str, tuple[str, ...]]:
        with self._explained():
            found = await self._connection.fetch(_COLUMNS, list(_OWN))
            return {name: tuple(columns) for name, columns in found}

    async def count(self, table: str) -> int:
        with self._explained():
            return int(await self._connection.fetchval(f"SELECT count(*) FROM handraise.{table}"))  # noqa: S608 (ours)

    async def rows(self, table: str, columns: tuple[str, ...]) -> AsyncIterator[Row]:
        names = ", ".join(f'"{each}"' for each in columns)
        with self._explained():
            statement = f"SELECT {names} FROM handraise.{table}"  # noqa: S608 (our names)
            async for row in self._connection.cursor(statement, prefetch=_PAGE):
                yield tuple(original(cell) for cell in row)

    async def counters(self) -> Counters:
        with self._explained():
            row = await self._connection.fetchrow("SELECT pruned, newest, audited FROM handraise.feed")
            return Counters(*row) if row is not None else Counters(0, 0, 0)

    async def _prepare(self) -> None: ...

    async def _begin(self) -> None: ...

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (StoreError, GeneratorExit):
            raise
        except Exception as error:
            explained = explain(error, self.shown)
            if explained is error:
                raise
            raise explained from error


class PostgresSource(_PostgresSide):
    """A database that no hub uses at the moment."""

    async def _prepare(self) -> None:
        found, known = await schema(self._connection)
        if found == 0:
            raise StoreError(t("error.copy.no_schema", where=self.shown), t("error.postgres.check_url"))
        if found < known:
            raise StoreError(t("error.copy.unmigrated", where=self.shown), t("error.copy.start_once"))
        await prepare(self._connection, self.shown)  # says so if it is newer

    async def _begin(self) -> None:
        await self._connection.execute(_HOLD_STILL)
        online = await self._connection.fetch(_ONLINE, round(LEASE.total_seconds() * 1_000_000))
        if online:
            names = ", ".join(name for (name,) in online)
            seconds = f"{LEASE.total_seconds():g}"
            raise StoreBusy(
                t("error.copy.in_use", where=self.shown, machines=names), t("error.copy.stop_hubs", seconds=seconds)
            )


class PostgresTarget(_PostgresSide):
    """A database with nothing in it; the schema is created if it is missing."""

    # The transaction has waited for a lock: it must see what was committed until then.
    _isolation = "read_committed"

    async def insert(self, table: str, columns: tuple[str, ...], rows: AsyncIterator[Row]) -> None:
        with self._explained():
            await self._connection.copy_records_to_table(
                table, schema_name="handraise", columns=columns, records=_storable(rows)
            )

    async def set_counters(self, counters: Counters) -> None:
        with self._explained():
            await self._connection.execute(
                "UPDATE handraise.feed SET pruned = $1, newest = $2, audited = $3",
                counters.pruned,
                counters.newest,
                counters.audited,
            )
            for table, column in await self._connection.fetch(_NUMBERED):
                await self._connection.execute(
                    f"SELECT setval(pg_get_serial_sequence('handraise.{table}', '{column}'), max({column}))"  # noqa: S608
                    f" FROM handraise.{table} HAVING max({column}) IS NOT NULL"
                )

    async def commit(self) -> None:
        with self._explained():
            await self._transaction.commit()
            await self._connection.close(timeout=CONNECT_SECONDS)

    async def _prepare(self) -> None:
        await prepare(self._connection, self.shown)

    async def _begin(self) -> None:
        await self._connection.execute(_KEEP_AWAY)
        full = [table for table in await self.tables() if await self._has_rows(table)]
        if full or await self.counters() != Counters(0, 0, 0):
            tables = ", ".join(full or ["feed"])
            raise StoreError(t("error.copy.not_empty", where=self.shown, tables=tables), t("error.copy.empty_one"))

    async def _has_rows(self, table: str) -> bool:
        return bool(await self._connection.fetchval(f"SELECT EXISTS (SELECT 1 FROM handraise.{table})"))  # noqa: S608


async def _storable(rows: AsyncIterator[Row]) -> AsyncIterator[Row]:
    async for row in rows:
        yield tuple(storable(cell) for cell in row)
