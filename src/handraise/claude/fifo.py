"""Writes lines into Claude's stdin: a whole line or nothing, even if we are killed in the middle of it."""

import asyncio
import errno
import fcntl
import os
import select
import signal
import struct
import sys
import termios
from collections.abc import Callable
from pathlib import Path

from handraise.claude.folder import RunFolder
from handraise.claude.launcher import private

WANTED_SIZE = 1024 * 1024
_FIRST_WAIT = 0.0005
_LONGEST_WAIT = 0.05
# A shell gives background jobs /dev/null as stdin, and dash does so before it looks at `<&0`.
# The file has its second name from before the first byte is written until all of them are: if that name is left
# behind, part of the line may be in the pipe. Under its first name, nothing of it is.
_DETACHED_CAT = '{ /bin/mv -f -- "$0" "$1" && /bin/cat <&3 && /bin/rm -f -- "$1"; } &'


class ChildGone(Exception):
    """Nothing reads Claude's stdin; nothing was written."""


class HalfLine(Exception):
    """A process was killed while it wrote a long line. Claude waits for the rest; anything else would end it."""


class Fifo:
    """Claude's stdin. Any number of tasks and processes may write; they take turns."""

    def __init__(self, folder: RunFolder, is_gone: Callable[[], bool] = lambda: False) -> None:
        """`is_gone`: Claude is known to have exited, though a child may still hold its stdin open."""
        self._folder = folder
        # Looked at before each line: a path costs more than the look.
        self._paths = (os.fspath(folder.fifo), os.fspath(folder.lock))
        self._spills = (os.fspath(folder.spill), os.fspath(folder.begun_spill))
        self._is_gone = is_gone
        self._turn = asyncio.Lock()

    def write_now(self, line: bytes) -> bool:
        """Writes the line if nothing has to be waited for, as is nearly always so; raises ChildGone.

        False: nothing was written. `write` knows what to do.
        """
        _check_line(line)
        if self._turn.locked():
            return False
        fifo = _open(self._paths[0], os.O_WRONLY | os.O_NONBLOCK)
        lock = -1
        try:
            lock = _open(self._paths[1], os.O_RDWR)
            is_free = _locked(lock) and not any(map(os.path.lexists, self._spills)) and _is_drained(fifo)
            if not is_free or len(line) > capacity(fifo):
                return False
            _write_once(fifo, line)
            return True
        finally:
            os.close(fifo)
            if lock >= 0:
                os.close(lock)

    async def write(self, line: bytes) -> None:
        """Returns once the kernel has the line and Claude has read everything before; raises ChildGone or HalfLine."""
        _check_line(line)
        async with self._turn:
            fifo = _open(self._folder.fifo, os.O_WRONLY | os.O_NONBLOCK)
            try:
                await self._write(fifo, line)
            finally:
                os.close(fifo)

    async def _write(self, fifo: int, line: bytes) -> None:
        while not await self._write_in_turn(fifo, line):
            pass

    async def _write_in_turn(self, fifo: int, line: bytes) -> bool:
        """Whether it was our turn; if not, an earlier line was handed over first."""
        # The lock belongs to the open file: after we close our copy, a child that inherited it still holds it.
        lock = _open(self._folder.lock, os.O_RDWR)
        spill = self._folder.spill
        try:
            await self._until(lambda: _locked(lock), fifo)
            if self._folder.begun_spill.exists():
                if self._is_gone() or not _is_read(fifo):
                    raise ChildGone("Claude no longer reads its input")
                raise HalfLine("a long line was only partly written")
            await self._until(lambda: _is_drained(fifo), fifo)
            if spill.exists():  # its writer was killed before it started
                _hand_over(fifo, lock, spill, self._folder.begun_spill)
                return False
            if len(line) <= capacity(fifo):
                _write_once(fifo, line)
            else:
                _prepare(line, spill)
                try:
                    _hand_over(fifo, lock, spill, self._folder.begun_spill)
                except OSError:  # its writer learns that it was not written
                    spill.unlink(missing_ok=True)
                    raise
            return True
        finally:
            os.close(lock)

    async def _until(self, holds: Callable[[], bool], fifo: int) -> None:
        wait = _FIRST_WAIT
        while not holds():
            if self._is_gone() or not _is_read(fifo):
                raise ChildGone("Claude no longer reads its input")
            await asyncio.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)


def _check_line(line: bytes) -> None:
    if not line.endswith(b"\n") or line.count(b"\n") != 1:
        raise ValueError("expected one whole line")


def _open(path: Path | str, flags: int) -> int:
    try:
        return os.open(path, flags)
    except OSError as error:
        # Nothing reads it, or the session's folder was deleted.
        if error.errno in (errno.ENXIO, errno.ENOENT, errno.ENOTDIR):
            raise ChildGone("Claude no longer reads its input") from error
        raise


def enlarge(fifo: int) -> None:
    """Makes room for longer lines, as far as the system allows."""
    if sys.platform == "linux":
        try:
            fcntl.fcntl(fifo, fcntl.F_SETPIPE_SZ, WANTED_SIZE)
        except OSError:
            pass  # a user can usually have 64 such pipes; capacity() returns what we got


def capacity(fifo: int) -> int:
    """How long a line can be and still fit in one atomic write to an empty pipe."""
    if sys.platform == "linux":
        return fcntl.fcntl(fifo, fcntl.F_GETPIPE_SZ)
    return select.PIPE_BUF


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_drained(fifo: int) -> bool:
    waiting = struct.unpack("i", fcntl.ioctl(fifo, termios.FIONREAD, b"\0\0\0\0"))[0]
    return bool(waiting == 0)


def _is_read(fifo: int) -> bool:
    poll = select.poll()
    poll.register(fifo, select.POLLOUT)
    return not any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def _write_once(fifo: int, line: bytes) -> None:
    try:
        written = os.write(fifo, line)
    except BrokenPipeError as error:
        raise ChildGone("Claude no longer reads its input") from error
    if written != len(line):
        raise RuntimeError(f"{written} of {len(line)} bytes went into a drained FIFO: Claude can no longer be reached")


def _prepare(line: bytes, path: Path) -> None:
    """Writes the file completely or not at all."""
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    with open(unfinished, "xb", opener=private) as file:
        file.write(line)
    unfinished.rename(path)


def _hand_over(fifo: int, lock: int, path: Path, begun: Path) -> None:
    """Passes a long line to its own process, which keeps the lock until it is done."""
    os.set_blocking(fifo, True)
    with open(path, "rb") as spill:
        inherited = [
            (os.POSIX_SPAWN_DUP2, spill.fileno(), 0),
            (os.POSIX_SPAWN_DUP2, fifo, 1),
            (os.POSIX_SPAWN_DUP2, lock, 9),
            (os.POSIX_SPAWN_DUP2, 0, 3),
        ]
        shell = os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", _DETACHED_CAT, str(path), str(begun)],
            {},
            file_actions=inherited,
            setsid=True,
            setsigdef=[signal.SIGPIPE],
        )
    # The shell exits immediately; cat keeps running on its own.
    _, status = os.waitpid(shell, 0)
    if status:
        raise OSError(f"a long line could not be handed over: the shell exited with status {status}")
