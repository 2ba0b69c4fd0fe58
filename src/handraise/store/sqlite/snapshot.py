"""A consistent copy of an SQLite file that a hub writes to meanwhile, and a check of one. Never changes the file."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from handraise.store.interface import StoreDamaged
from handraise.store.sqlite.database import explain
from handraise.texts import t

_BUSY_MS = 10_000
_PAGES = 2000
"""How many pages are copied between two reports."""


def copy_file(source: Path, target: Path, report: Callable[[int, int], None]) -> None:
    """Copies the file as it is now to a new one; `report` gets the pages done, and all. Raises a StoreError."""
    with _explained(source), closing(_opened(source)) as original:
        # In one read transaction: otherwise the copy would start over whenever the hub commits.
        original.execute("BEGIN; SELECT count(*) FROM sqlite_schema").fetchall()
        with closing(apsw.Connection(str(target))) as copy:
            copy.execute("PRAGMA synchronous = OFF").fetchall()
            with copy.backup("main", original, "main") as backup:
                while not backup.done:
                    backup.step(_PAGES)
                    report(backup.page_count - backup.remaining, backup.page_count)
            # One file, without companions.
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
    check_file(target)


def check_file(path: Path) -> None:
    """Raises StoreDamaged if SQLite finds something wrong with it."""
    with _explained(path), closing(_opened(path)) as connection:
        found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(1)")]
    if found != ["ok"]:
        raise StoreDamaged(t("error.store.damaged", path=path, error=found[0]), t("error.store.restore"))


def unfinished_sessions(path: Path) -> dict[str, int]:
    """The sessions that haven't ended, each with the number of its process, whatever the version of the schema."""
    with _explained(path), closing(_opened(path)) as connection:
        if not connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'sessions'").get:
            return {}
        rows = connection.execute("SELECT id, run FROM sessions WHERE ended IS NULL AND run > 0")
        return {str(session): int(run) for session, run in rows}


def _opened(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(_BUSY_MS)
    connection.execute("PRAGMA query_only = ON").fetchall()
    return connection


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise explain(error, path) from error
