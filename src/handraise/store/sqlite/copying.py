"""An SQLite file as one side of a copy. A new file appears under its name only when it is complete."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import apsw

from handraise.store.copying import ORDER, Counters, Row
from handraise.store.interface import StoreError, StoreNewer
from handraise.store.sqlite.database import SQL, explain, open_for_writing, schema
from handraise.texts import t

_BUSY_SECONDS = 5.0
_PAGE = 500
_PAGE_BYTES = 4 * 1024 * 1024
_COUNTERS = "feed"
_OF_A_MACHINE = ("sessions", "asks", "places", "trust")


class SqliteSource:
    """An existing file. It is only read, and must have been used by a hub of this version."""

    def __init__(self, path: Path) -> None:
        self.shown = str(path)
        self._path = path

    async def __aenter__(self) -> Self:
        if not self._path.is_file():
            raise StoreError(t("error.copy.no_file", path=self._path), t("error.copy.check_path"))
        found, known = schema(self._path)
        if found > known:
            problem = t("error.store.newer", path=self._path, found=found, known=known)
            raise StoreNewer(problem, t("error.store.install_newer"))
        if found < known:
            raise StoreError(t("error.copy.old", path=self._path), t("error.copy.start_once"))
        with _explained(self._path):
            self._connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
            self._connection.set_busy_timeout(round(_BUSY_SECONDS * 1000))
            self._connection.execute("PRAGMA query_only = ON; BEGIN")
            if any(_has_rows(self._connection, f"{table} WHERE machine = ''") for table in _OF_A_MACHINE):
                self._connection.close()
                raise StoreError(t("error.copy.old", path=self._path), t("error.copy.start_once"))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    async def tables(self) -> dict[str, tuple[str, ...]]:
        with _explained(self._path):
            return _tables(self._connection)

    async def count(self, table: str) -> int:
        with _explained(self._path):
            return _count(self._connection, table)

    async def rows(self, table: str, columns: tuple[str, ...]) -> AsyncIterator[Row]:
        with _explained(self._path):
            for row in _rows(self._connection, table, columns):
                yield row

    async def counters(self) -> Counters:
        with _explained(self._path):
            return _counters(self._connection)


class SqliteTarget:
    """A file that doesn't exist yet."""

    def __init__(self, path: Path) -> None:
        self.shown = str(path)
        self._path = path
        self._unfinished = path.with_name(f"{path.name}.copying")

    async def __aenter__(self) -> Self:
        if self._path.exists():
            raise StoreError(t("error.copy.exists", path=self._path), t("error.copy.new_path"))
        with _explained(self._path):
            self._discard()  # what an interrupted copy left
            self._connection = open_for_writing(self._unfinished, _BUSY_SECONDS)
            # Nobody uses it before it is complete: it is written to the disk once, at the end.
            self._connection.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF").fetchall()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
        self._discard()

    async def tables(self) -> dict[str, tuple[str, ...]]:
        return _tables(self._connection)

    async def count(self, table: str) -> int:
        return _count(self._connection, table)

    async def rows(self, table: str, columns: tuple[str, ...]) -> AsyncIterator[Row]:
        with _explained(self._path):
            for row in _rows(self._connection, table, columns):
                yield row

    async def counters(self) -> Counters:
        return _counters(self._connection)

    async def insert(self, table: str, columns: tuple[str, ...], rows: AsyncIterator[Row]) -> None:
        names = ", ".join(_column(each, table, self._connection) for each in columns)
        statement = f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 (our names)
        page: list[Row] = []
        size = 0
        async for row in rows:
            page.append(row)
            size += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
            if len(page) == _PAGE or size > _PAGE_BYTES:
                self._write(statement, page)
                page, size = [], 0
        self._write(statement, page)

    async def set_counters(self, counters: Counters) -> None:
        self._write("UPDATE feed SET pruned = ?", [(counters.pruned,)])

    async def commit(self) -> None:
        with _explained(self._path):
            self._connection.close()
            _sync(self._unfinished)
            os.link(self._unfinished, self._path)  # fails if the file exists by now
            _sync(self._path.parent)

    def _write(self, statement: str, page: list[Row]) -> None:
        with _explained(self._path), self._connection:
            self._connection.executemany(statement, page)

    def _discard(self) -> None:
        for ending in ("", "-journal", "-wal", "-shm"):
            self._unfinished.with_name(f"{self._unfinished.name}{ending}").unlink(missing_ok=True)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise explain(error, path) from error


def _tables(connection: apsw.Connection) -> dict[str, tuple[str, ...]]:
    listed = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    names = [name for (name,) in connection.execute(listed) if name != _COUNTERS]
    return {name: _columns(connection, name) for name in sorted(names)}


def _columns(connection: apsw.Connection, table: str) -> tuple[str, ...]:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    return tuple(columns) if ORDER in columns or not _has_hidden_number(connection, table) else (*columns, ORDER)


def _has_hidden_number(connection: apsw.Connection, table: str) -> bool:
    """Whether SQLite numbers its rows by itself, and no column has that number."""
    listed = [row for row in connection.execute("PRAGMA table_list") if row[1] == table]
    numbered = any(row[2] == "INTEGER" and row[5] for row in connection.execute(f"PRAGMA table_info({table})"))
    without_rowid = bool(listed[0][4])
    return not without_rowid and not numbered


def _column(name: str, table: str, connection: apsw.Connection) -> str:
    declared = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
    return f'"{name}"' if name in declared else "rowid"


def _count(connection: apsw.Connection, table: str) -> int:
    return int(_one(connection, f"SELECT count(*) FROM {table}"))  # noqa: S608 (our names)


def _has_rows(connection: apsw.Connection, what: str) -> bool:
    return bool(_one(connection, f"SELECT EXISTS (SELECT 1 FROM {what})"))  # noqa: S608 (our names)


def _rows(connection: apsw.Connection, table: str, columns: tuple[str, ...]) -> Iterator[Row]:
    names = ", ".join(_column(each, table, connection) for each in columns)
    yield from connection.execute(f"SELECT {names} FROM {table}")  # noqa: S608 (our names)


def _counters(connection: apsw.Connection) -> Counters:
    pruned, newest = next(iter(connection.execute(SQL["cursors"])))
    return Counters(int(pruned), int(newest), int(_one(connection, "SELECT coalesce(max(number), 0) FROM audit")))


def _one(connection: apsw.Connection, statement: str) -> int:
    found: int = next(iter(connection.execute(statement)))[0]
    return found


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
