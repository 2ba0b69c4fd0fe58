"""The write-ahead log of a database: copied and extended between commits, so that no commit has to. Changes no row."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import apsw

from handraise.store.sqlite.database import SQL

_LONG = 1000
"""How many pages are copied together; SQLite has the same number."""
_TOO_LONG = 1100
_FILLING = 1500 * 4096
"""More than SQLite's cache holds: the log gets a little longer than `_TOO_LONG`, and hardly ever grows again."""
_SPARE = 256 * 1024 * 1024
"""How much of the disk must be free for that."""
_PAUSE, _LONG_PAUSE = 0.002, 0.02
"""Seconds without an order, after which there is time to copy the log, or to fill it."""


class WriteAheadLog:
    """Belongs to the thread of its connection, which no longer copies it by itself as part of a commit."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._pages = 0
        self.is_filled = False
        connection.wal_autocheckpoint(0)

    def grow(self) -> None:
        """Something was committed."""
        self._pages, _most = self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE)

    @property
    def pause(self) -> float | None:
        """After how many seconds without an order `tidy` should be called; None if it has nothing to do."""
        if self._pages >= _LONG:
            return _PAUSE
        return None if self.is_filled else _LONG_PAUSE

    @property
    def is_overdue(self) -> bool:
        """Whether the next order should wait until it was copied."""
        return self._pages >= _TOO_LONG

    def tidy(self) -> None:
        """Copies the log into the database, if it is long. What readers still use, or has no room there, stays."""
        if self._pages >= _LONG:
            with suppress(apsw.Error):
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        elif not self.is_filled:
            with suppress(apsw.Error, OSError):
                self._fill()
        self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE, True)  # counts from here
        self._pages = 0
        self.is_filled = True

    def _fill(self) -> None:
        """Gives the file the length that it would get sooner or later.

        A commit that makes it longer also waits for the file system: 0.2 ms more than one that overwrites what an
        earlier round has left. A transaction too large for the cache writes to the log even if it is rolled back.
        """
        if shutil.disk_usage(self._path.parent).free < _SPARE:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(SQL["fill_log"], {"size": _FILLING})
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        # SQLite locks the database and the log's index, never this file: to close it drops no lock.
        log = os.open(self._connection.filename_wal, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(log)
        finally:
            os.close(log)
