"""Tells when files grow: by inotify, or by looking again and again where there is none. One for all journals."""

import asyncio
import ctypes
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol, Self

Bell = Callable[[], None]

_IN_MODIFY = 0x2
_IN_CLOEXEC_NONBLOCK = 0o2004000
_EVENT = struct.Struct("iIII")
_READ = 64 * 1024


class Watch(Protocol):
    """Entered with `async with`; belongs to one event loop."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...

    def add(self, path: Path, bell: Bell) -> None:
        """Rings the bell whenever the file has grown. Once too often is possible, once too seldom is not."""

    def remove(self, path: Path, bell: Bell) -> None:
        """That bell rings no more; others on the same file do."""


def watch() -> Watch:
    """The best one that this system has."""
    return Inotify() if sys.platform == "linux" else Polling()


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
        number = self._check(self._libc.inotify_add_watch(self._fd, os.fsencode(path), _IN_MODIFY))
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
    """Looks at the sizes, often while something grows and less often while nothing does."""

    def __init__(self, shortest: float = 0.005, longest: float = 0.1) -> None:
        self._shortest = shortest
        self._longest = longest
        self._bells: dict[Path, list[Bell]] = {}
        self._sizes: dict[Path, int] = {}
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

    def remove(self, path: Path, bell: Bell) -> None:
        if bell not in self._bells.get(path, ()):
            return
        self._bells[path].remove(bell)
        if not self._bells[path]:
            del self._bells[path]
            self._sizes.pop(path, None)

    async def _look(self) -> None:
        wait = self._shortest
        while True:
            grown = [path for path in self._bells if self._has_grown(path)]
            for bell in [bell for path in grown for bell in self._bells[path]]:
                bell()
            wait = self._shortest if grown else min(wait * 1.5, self._longest)
            await asyncio.sleep(wait)

    def _has_grown(self, path: Path) -> bool:
        try:
            size = path.stat().st_size
        except OSError:
            return False
        before = self._sizes.get(path, 0)
        self._sizes[path] = size
        return size > before
