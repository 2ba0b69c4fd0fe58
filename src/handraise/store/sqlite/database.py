"""The database file: opens and migrates it, loads statements by name, explains errors. Knows no table by name."""

import functools
import os
import re
import zlib
from pathlib import Path

import apsw
from msgspec import MsgspecError

from handraise.store.interface import (
    StoreBusy,
    StoreConflict,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreNewer,
)
from handraise.texts import t

_FOLDER = Path(__file__).parent


def _load() -> dict[str, str]:
    statements: dict[str, str] = {}
    for file in (_FOLDER / "queries").iterdir():
        pieces = re.split(r"^-- name: (\w+)$", file.read_text("utf-8"), flags=re.MULTILINE)
        statements.update(zip(pieces[1::2], pieces[2::2], strict=True))
    return statements


SQL = _load()


def explain(error: Exception, path: Path, *, reading: bool = False) -> Exception:
    """The error as a StoreError. Others than SQLite's are bugs and stay as they are, unless from reading a row."""
    match error:
        case apsw.FullError():
            return StoreFull(t("error.store.full", path=path), t("error.store.free_space"))
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(t("error.store.locked", path=path), t("error.store.stop_it"))
        case apsw.CorruptError() | apsw.NotADBError() | MsgspecError() | zlib.error():
            return _damaged(error, path)
        case ValueError() | TypeError() | LookupError() | ArithmeticError() if reading:
            return _damaged(error, path)
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.CantOpenError():
            return StoreError(t("error.store.read_only", path=path, error=error), t("error.store.check_owner"))
        case apsw.IOError():
            return StoreError(t("error.store.disk", path=path, error=error), t("error.store.check_disk"))
        case apsw.ConstraintError():
            return _conflict(str(error))
        case apsw.Error():
            return StoreError(t("error.store.sqlite", path=path, error=error))
        case OSError():
            return StoreError(t("error.store.unopened", path=path, error=error.strerror), t("error.store.check_folder"))
        case _:
            return error


def _conflict(error: str) -> StoreConflict:
    """SQLite names the columns: `UNIQUE constraint failed: projects.name`."""
    if error.endswith("places.path"):
        return StoreConflict(t("error.store.directory_taken"))
    if error.endswith("projects.name"):
        return StoreConflict(t("error.store.name_taken"), t("error.store.other_name"))
    if error.endswith("machines.name"):
        return StoreConflict(t("error.store.machine_name_taken"), t("error.store.other_name"))
    return StoreConflict(t("error.store.exists", what=error))


def _damaged(error: Exception, path: Path) -> StoreDamaged:
    return StoreDamaged(t("error.store.damaged", path=path, error=error), t("error.store.restore"))


def open_for_writing(path: Path, busy_seconds: float) -> apsw.Connection:
    """Creates a missing file, readable by its owner only; SQLite gives its companion files the same mode."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = _connect(path, busy_seconds)
    try:
        # WAL lets reads continue beside the writer. FULL: a commit is on the disk before it is reported.
        _check_version(connection, path)
        connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").fetchall()
        _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def schema(path: Path) -> tuple[int, int]:
    """The schema version of a file, and the one this version migrates to. Changes nothing."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return _version(connection), len(_migrations())
        finally:
            connection.close()
    except apsw.Error as error:
        raise explain(error, path) from error


def machines_in(path: Path) -> list[str]:
    """The IDs of the machines that a file knows; none in files of older versions. Changes nothing."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            known = "SELECT count(*) FROM sqlite_schema WHERE name = 'machines'"
            if not connection.execute(known).get:
                return []
            return [str(identity) for (identity,) in connection.execute("SELECT id FROM machines")]
        finally:
            connection.close()
    except apsw.Error as error:
        raise explain(error, path) from error


def open_for_reading(path: Path, busy_seconds: float) -> apsw.Connection:
    connection = _connect(path, busy_seconds)
    connection.execute("PRAGMA query_only = ON")
    return connection


def _connect(path: Path, busy_seconds: float) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(round(busy_seconds * 1000))
    return connection


def _check_version(connection: apsw.Connection, path: Path) -> None:
    version, known = _version(connection), len(_migrations())
    if version > known:
        raise StoreNewer(t("error.store.newer", path=path, found=version, known=known), t("error.store.install_newer"))


def _migrate(connection: apsw.Connection) -> None:
    if _version(connection) == len(_migrations()):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        for number, migration in enumerate(_migrations()[version:], version + 1):
            connection.execute(migration).fetchall()
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


@functools.cache
def _migrations() -> tuple[str, ...]:
    """In the order of their numbers, which count from 1."""
    files = sorted((_FOLDER / "migrations").iterdir(), key=lambda file: file.name)
    return tuple(file.read_text("utf-8") for file in files)
