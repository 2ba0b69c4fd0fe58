"""Follows a journal from any offset, and frees blocks that were read. Never parses it."""

import asyncio
import ctypes
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from handraise.claude.watch import FileWatch
from handraise.texts import t

CHUNK = 64 * 1024
"""Small enough not to delay other sessions; above 128 KiB, memory would be mapped and unmapped for each read."""
_BREATH = 512 * 1024
"""After this many bytes other tasks get a turn, even if the writer is as fast as we are."""
_KEEP_SIZE = 1
_PUNCH_HOLE = 2
_BLOCK = 4096


class JournalLost(Exception):
    """Claude no longer writes to this file: it was deleted, replaced or truncated. It can't be followed."""


async def follow(path: Path, offset: int, watch: FileWatch, ended: asyncio.Event) -> AsyncIterator[bytes]:
    """Chunks from `offset` on, as they are written, until the writer has exited and everything was read.

    Raises JournalLost as soon as the file is deleted, replaced or truncated.
    """
    grown = asyncio.Event()
    try:
        journal = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise JournalLost(t("sessions.ended.journal_deleted")) from error
    over = asyncio.create_task(_set_when(ended, grown))
    try:
        watch.add(path, grown.set)
        while True:
            last = ended.is_set()
            grown.clear()
            breath = offset + _BREATH
            while chunk := os.pread(journal, CHUNK, offset):
                offset += len(chunk)
                yield chunk
                if offset >= breath:
                    await asyncio.sleep(0)
                    breath = offset + _BREATH
            _check(journal, path, offset, deleted_is_fine=ended.is_set())
            if last:
                return
            await grown.wait()
    finally:
        watch.remove(path, grown.set)
        os.close(journal)
        over.cancel()


def _check(journal: int, path: Path, offset: int, *, deleted_is_fine: bool) -> None:
    """Once Claude has exited and everything was read, the file may be gone."""
    status = os.fstat(journal)
    if status.st_size < offset:
        raise JournalLost(t("sessions.ended.journal_cut"))
    if deleted_is_fine:
        return
    try:
        named = os.stat(path)
    except FileNotFoundError as error:
        raise JournalLost(t("sessions.ended.journal_deleted")) from error
    if (named.st_dev, named.st_ino) != (status.st_dev, status.st_ino):
        raise JournalLost(t("sessions.ended.journal_replaced"))


async def _set_when(ended: asyncio.Event, grown: asyncio.Event) -> None:
    await ended.wait()
    grown.set()


def give_back(path: Path, offset: int) -> None:
    """Frees the disk blocks before `offset`. Offsets stay valid; the freed part reads as zeros."""
    if sys.platform != "linux":
        return
    length = offset // _BLOCK * _BLOCK
    if not length:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    journal = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        # A file system without support keeps the blocks: only space is lost.
        libc.fallocate(journal, _PUNCH_HOLE | _KEEP_SIZE, 0, length)
    finally:
        os.close(journal)
