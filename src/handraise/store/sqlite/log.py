"""The write-ahead log of a database, copied between commits, so that no commit has to do it. Changes no row."""

from contextlib import suppress

import apsw

_LONG = 1000
"""How many pages are copied together; SQLite has the same number."""
_TOO_LONG = 1100
_PAUSE = 0.002
"""Seconds without an order, after which there is time to copy the log."""


class WriteAheadLog:
    """Belongs to the thread of its connection, which no longer copies it by itself as part of a commit."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._pages = 0
        connection.wal_autocheckpoint(0)

    def grow(self) -> None:
        """Something was committed."""
        self._pages, _most = self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE)

    @property
    def pause(self) -> float | None:
        """After how many seconds without an order `tidy` should be called; None if it has nothing to do."""
        return _PAUSE if self._pages >= _LONG else None

    @property
    def is_overdue(self) -> bool:
        """Whether the next order should wait until it was copied."""
        return self._pages >= _TOO_LONG

    def tidy(self) -> None:
        """Copies the log into the database. What readers still use, or has no room there, stays in the log."""
        with suppress(apsw.Error):
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE, True)  # counts from here
        self._pages = 0
