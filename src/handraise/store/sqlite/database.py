"""The database file: created, opened, and brought to the schema of this version. Knows no table by name."""

import os
from importlib import resources
from pathlib import Path

import apsw

from handraise.store.interface import StoreNewer
from handraise.store.sqlite.troubles import explain


def open_for_writing(path: Path, busy_seconds: float) -> apsw.Connection:
    """Creates the file if there is none, for its owner only; SQLite gives its companions the same mode."""
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
    """The schema of a file as it is, and the one that this version brings it to. Changes nothing."""
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
            f"{path} was written by a newer Handraise (its schema is {version}, this one knows {known})."
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
