"""SQLite's errors as sentences for people: what is wrong, and what to do about it."""

import zlib
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
)


def explain(error: Exception, path: Path, *, reading: bool = False) -> Exception:
    """The error as the store tells it; one that SQLite did not raise is ours, and stays what it is, unless it came of
    reading a row."""
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
