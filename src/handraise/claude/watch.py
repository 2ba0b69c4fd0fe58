"""Tells when files change: by inotify, or by looking again and again where there is none. One for all journals."""

import asyncio
import ctypes
import errno
import logging
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol, Self

Bell = Callable[[], None]

# Written or cut; its links or rights changed (a deleted file that is still open); moved away.
_EVENTS = 0x2 | 0x4 | 0x800
_IN_CLOEXEC_NONBLOCK = 0o2004000
_EVENT = struct.Struct("iIII")
_READ = 64 * 1024
_EXHAUSTED = (errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""What inotify says when a user's instances or watches, or the system's memory, are used up."""

log = logging.getLogger("handraise.claude")

_Look = tuple[int, int, int]


class FileWatch(Protocol):
    """Entered with `async with`; belongs to one event loop."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...

    def add(self, path: Path, bell: Bell) -> None:
        """Rings the bell whenever the file has changed. Once too often is possible, once too seldom is not."""

    def remove(self, path: Path, bell: Bell) -> None:
        """That bell rings no more; others on the same file do."""


def watch() -> FileWatch:
    """The best one that this system has."""
    return WatchedFile() if sys.platform == "linux" else Polling()


class WatchedFile:
    """By inotify as far as the system has some left for us, and by polling beyond: slower by some milliseconds."""

    def __init__(self) -> None:
        self._inotify: Inotify | None = Inotify()
        self._polling = Polling()
        self._reported = False

    async def __aenter__(self) -> Self:
        await self._polling.__aenter__()
        try:
            if self._inotify is not None:
                await self._inotify.__aenter__()
        except OSError as error:
            self._inotify = None
            self._report(error)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._polling.__aexit__()
        if self._inotify is not None:
            await self._inotify.__aexit__()

    @property
    def is_polling(self) -> bool:
        """Whether inotify ran out, for all files or for some."""
        return self._reported

    def add(self, path: Path, bell: Bell) -> None:
        try:
            if self._inotify is not None:
                self._inotify.add(path, bell)
                return
        except OSError as error:
            if error.errno not in _EXHAUSTED:
                raise
            self._report(error)
        self._polling.add(path, bell)

    def remove(self, path: Path, bell: Bell) -> None:
        self._polling.remove(path, bell)
        if self._inotify is not None:
            self._inotify.remove(path, bell)

    def _report(self, error: OSError) -> None:
        if not self._reported:
            log.warning(
                "%s. Journals are polled instead. To fix it, raise fs.inotify.max_user_instances and "
                "fs.inotify.max_user_watches (sysctl), and restart the hub.",
                error.strerror,
            )
        self._reported = True


class Inotify:
    """One inotify instance: a user may have 128 of them, and many thousand watches."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = -1
        self._bells: dict[int, list[Bell]] = {}
        self._numbers: dict[Path, int] = {}

    async def __aenter__(self) -> Self:
        self._fd = self._check(self._libc.inotify_init1(_IN_CLOEXEC_NONBLOCK))
        asyncio.get_running_loop().add_reader(self._fd, self._ring)
        return self

    async def __aexit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._fd)
        # Whoever still follows a file takes its bell away later, and the number may be somebody else's by then.
        closed, self._fd = self._fd, -1
        os.close(closed)

    def add(self, path: Path, bell: Bell) -> None:
        # For a file that is watched already, the kernel gives the number that it has.
        number = self._check(self._libc.inotify_add_watch(self._fd, os.fsencode(path), _EVENTS))
        self._bells.setdefault(number, []).append(bell)
        self._numbers[path] = number

    def remove(self, path: Path, bell: Bell) -> None:
        number = self._numbers.get(path)
        if number is None or bell not in self._bells.get(number, ()):
            return
        self._bells[number].remove(bell)
        if not self._bells[number]:
            del self._bells[number]
            del self._numbers[path]
            self._libc.inotify_rm_watch(self._fd, number)

    def _ring(self) -> None:
        try:
            events = os.read(self._fd, _READ)
        except BlockingIOError:
            return
        place = 0
        rung = set()
        while place < len(events):
            number, _mask, _cookie, length = _EVENT.unpack_from(events, place)
            place += _EVENT.size + length
            # -1 is an overflow: events were lost, so every file may have grown.
            rung |= set(self._bells) if number == -1 else {number}
        for number in rung:
            for bell in tuple(self._bells.get(number, ())):
                bell()

    def _check(self, outcome: int) -> int:
        if outcome < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"inotify: {os.strerror(number)}")
        return outcome


class Polling:
    """Looks at the files, often while something changes and less often while nothing does."""

    def __init__(self, shortest: float = 0.005, longest: float = 0.1) -> None:
        self._shortest = shortest
        self._longest = longest
        self._bells: dict[Path, list[Bell]] = {}
        self._seen: dict[Path, _Look | None] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._look())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def add(self, path: Path, bell: Bell) -> None:
        self._bells.setdefault(path, []).append(bell)
        self._seen.setdefault(path, _look(path))

    def remove(self, path: Path, bell: Bell) -> None:
        if bell not in self._bells.get(path, ()):
            return
        self._bells[path].remove(bell)
        if not self._bells[path]:
            del self._bells[path]
            self._seen.pop(path, None)

    async def _look(self) -> None:
        wait = self._shortest
        while True:
            changed = [path for path in self._bells if self._has_changed(path)]
            for path, bell in [(each, bell) for each in changed for bell in self._bells[each]]:
                # One that rang before it may have taken this one down.
                if bell in self._bells.get(path, ()):
                    bell()
            wait = self._shortest if changed else min(wait * 1.5, self._longest)
            await asyncio.sleep(wait)

    def _has_changed(self, path: Path) -> bool:
        found = _look(path)
        changed = self._seen[path] != found
        self._seen[path] = found
        return changed


def _look(path: Path) -> _Look | None:
    """Which file has this name, and its size; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size
