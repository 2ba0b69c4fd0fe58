"""The database file: opens and migrates it, loads statements by name, explains errors. Knows no table by name."""

import os
import re
import zlib
from importlib import resources
from pathlib import Path

import apsw
from msgspec import MsgspecError

from handraise.store.interface import (
    DIRECTORY_TAKEN,
    NAME_TAKEN,
    StoreBusy,
    StoreConflict,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreNewer,
)


def _load() -> dict[str, str]:
    statements: dict[str, str] = {}
    for file in (resources.files(__package__) / "queries").iterdir():
        pieces = re.split(r"^-- name: (\w+)$", file.read_text("utf-8"), flags=re.MULTILINE)
        statements.update(zip(pieces[1::2], pieces[2::2], strict=True))
    return statements


SQL = _load()


def explain(error: Exception, path: Path, *, reading: bool = False) -> Exception:
    """The error as a StoreError. Others than SQLite's are bugs and stay as they are, unless from reading a row."""
    match error:
        case apsw.FullError():
            return StoreFull(f"The disk that holds {path} is full. Free some space. The hub then continues by itself.")
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(f"Another process has {path} locked: a second hub, or an SQLite shell. Stop it first.")
        case apsw.CorruptError() | apsw.NotADBError() | MsgspecError() | zlib.error():
            return _damaged(error, path)
        case ValueError() | TypeError() | LookupError() | ArithmeticError() if reading:
            return _damaged(error, path)
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.CantOpenError():
            return StoreError(
                f"{path} cannot be written ({error}). Check who owns the file and its folder, and that the disk is"
                " not mounted read-only."
            )
        case apsw.IOError():
            return StoreError(f"The disk that holds {path} failed ({error}). Check the disk, then try again.")
        case apsw.ConstraintError():
            return StoreConflict(_conflict(str(error)))
        case apsw.Error():
            return StoreError(f"SQLite could not do this with {path} ({error}).")
        case OSError():
            return StoreError(f"{path} cannot be opened ({error.strerror}). Check that its folder exists and is yours.")
        case _:
            return error


def _conflict(error: str) -> str:
    """SQLite names the columns: `UNIQUE constraint failed: projects.path`."""
    if error.endswith("projects.path"):
        return DIRECTORY_TAKEN
    return NAME_TAKEN if error.endswith("projects.name") else f"This already exists ({error})."


def _damaged(error: Exception, path: Path) -> StoreDamaged:
    return StoreDamaged(
        f"{path} is damaged ({error}). Stop the hub, keep a copy of the file, and put a backup in its place;"
        " without one, move the file away to start with an empty database."
    )


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
        raise StoreNewer(
            f"{path} was written by a newer Handraise (schema {version}; this version supports {known})."
            " Install that version again, or start with another --state directory."
        )


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


def _migrations() -> list[str]:
    """In the order of their numbers, which count from 1."""
    files = sorted((resources.files(__package__) / "migrations").iterdir(), key=lambda file: file.name)
    return [file.read_text("utf-8") for file in files]
