"""Notices when files change: with inotify, or by polling without it. One watch serves all journals."""

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

OnChange = Callable[[], None]

# Written or truncated; links or mode changed (a deleted file that is still open); moved.
_EVENTS = 0x2 | 0x4 | 0x800
_IN_CLOEXEC_NONBLOCK = 0o2004000
_EVENT = struct.Struct("iIII")
_READ = 64 * 1024
_EXHAUSTED = (errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""inotify's errors when a user's instances or watches, or the system's memory, are used up."""

log = logging.getLogger("handraise.claude")

_Look = tuple[int, int, int]


class FileWatch(Protocol):
    """Entered with `async with`; belongs to one event loop."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...

    def add(self, path: Path, on_change: OnChange) -> None:
        """Calls `on_change` whenever the file has changed; sometimes once too often, never too rarely."""

    def remove(self, path: Path, on_change: OnChange) -> None:
        """Removes this callback; others on the same file stay."""


def watch() -> FileWatch:
    """The best one this system has."""
    return WatchedFile() if sys.platform == "linux" else Polling()


class WatchedFile:
    """Uses inotify while the system has watches left, then polling, which is some milliseconds slower."""

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

    def add(self, path: Path, on_change: OnChange) -> None:
        try:
            if self._inotify is not None:
                self._inotify.add(path, on_change)
                return
        except OSError as error:
            if error.errno not in _EXHAUSTED:
                raise
            self._report(error)
        self._polling.add(path, on_change)

    def remove(self, path: Path, on_change: OnChange) -> None:
        self._polling.remove(path, on_change)
        if self._inotify is not None:
            self._inotify.remove(path, on_change)

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
        self._callbacks: dict[int, list[OnChange]] = {}
        self._numbers: dict[Path, int] = {}

    async def __aenter__(self) -> Self:
        self._fd = self._check(self._libc.inotify_init1(_IN_CLOEXEC_NONBLOCK))
        asyncio.get_running_loop().add_reader(self._fd, self._ring)
        return self

    async def __aexit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._fd)
        # A follower may remove its callback later, when the number belongs to another file.
        closed, self._fd = self._fd, -1
        os.close(closed)

    def add(self, path: Path, on_change: OnChange) -> None:
        # For a file that is already watched, the kernel returns the same number.
        number = self._check(self._libc.inotify_add_watch(self._fd, os.fsencode(path), _EVENTS))
        self._callbacks.setdefault(number, []).append(on_change)
        self._numbers[path] = number

    def remove(self, path: Path, on_change: OnChange) -> None:
        number = self._numbers.get(path)
        if number is None or on_change not in self._callbacks.get(number, ()):
            return
        self._callbacks[number].remove(on_change)
        if not self._callbacks[number]:
            del self._callbacks[number]
            del self._numbers[path]
            self._libc.inotify_rm_watch(self._fd, number)

    def _ring(self) -> None:
        try:
            events = os.read(self._fd, _READ)
        except BlockingIOError:
            return
        place = 0
        changed_files = set()
        while place < len(events):
            number, _mask, _cookie, length = _EVENT.unpack_from(events, place)
            place += _EVENT.size + length
            # -1 is an overflow: events were lost, so every file may have grown.
            changed_files |= set(self._callbacks) if number == -1 else {number}
        for number in changed_files:
            for on_change in tuple(self._callbacks.get(number, ())):
                on_change()

    def _check(self, outcome: int) -> int:
        if outcome < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"inotify: {os.strerror(number)}")
        return outcome


class Polling:
    """Checks the files: often while something changes, less often while nothing does."""

    def __init__(self, shortest: float = 0.005, longest: float = 0.1) -> None:
        self._shortest = shortest
        self._longest = longest
        self._callbacks: dict[Path, list[OnChange]] = {}
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

    def add(self, path: Path, on_change: OnChange) -> None:
        self._callbacks.setdefault(path, []).append(on_change)
        self._seen.setdefault(path, _look(path))

    def remove(self, path: Path, on_change: OnChange) -> None:
        if on_change not in self._callbacks.get(path, ()):
            return
        self._callbacks[path].remove(on_change)
        if not self._callbacks[path]:
            del self._callbacks[path]
            self._seen.pop(path, None)

    async def _look(self) -> None:
        wait = self._shortest
        while True:
            changed = [path for path in self._callbacks if self._has_changed(path)]
            for path, on_change in [(each, on_change) for each in changed for on_change in self._callbacks[each]]:
                # An earlier callback may have removed this one.
                if on_change in self._callbacks.get(path, ()):
                    on_change()
            wait = self._shortest if changed else min(wait * 1.5, self._longest)
            await asyncio.sleep(wait)

    def _has_changed(self, path: Path) -> bool:
        found = _look(path)
        changed = self._seen[path] != found
        self._seen[path] = found
        return changed


def _look(path: Path) -> _Look | None:
    """The file's identity and size; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size
