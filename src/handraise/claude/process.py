"""One process of Claude, never mistaken for a later one with the same pid: whether it lives, and how it ended."""

import asyncio
import fcntl
import os
import signal
import struct
from contextlib import suppress
from typing import Self

from msgspec import Struct

from handraise.claude.launcher import boot, started

_POLL = 0.2
# From linux/pidfd.h: the exit status of a process that is not our child, known once its parent has reaped it (6.15+).
_PIDFD_GET_INFO = 0xC040FF0B
_PIDFD_INFO_EXIT = 1 << 3
_PIDFD_INFO = struct.Struct("=QQ11Ii")
_ASK_AGAIN = 0.01
_ASK_TIMES = 30


class Identity(Struct, frozen=True):
    """A pid is reused; with its start time and the machine's boot ID it names one process."""

    pid: int
    started: str
    boot: str

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """The process that has this pid now, zombies included; None if there is none."""
        try:
            return cls(pid, started(pid), boot())
        except (OSError, IndexError, ValueError):
            return None

    def lives(self) -> bool:
        return Identity.of(self.pid) == self and not _is_zombie(self.pid)

    def signal(self, number: signal.Signals) -> None:
        """Reaches exactly this process, or none."""
        pidfd = open_pidfd(self.pid)
        try:
            if not self.lives():
                return
            with suppress(ProcessLookupError):
                if pidfd is None:
                    os.kill(self.pid, number)
                else:
                    signal.pidfd_send_signal(pidfd, number)
        finally:
            if pidfd is not None:
                os.close(pidfd)


class Process:
    """Watches one process until it has ended. `exit_code` is then known, where the system tells."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        self.ended = asyncio.Event()
        self.exit_code: int | None = None
        self._pidfd: int | None = None
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        # The pidfd pins whoever has the pid at this moment; only then is it worth asking who that is.
        self._pidfd = open_pidfd(self.identity.pid)
        if Identity.of(self.identity.pid) != self.identity:
            self.ended.set()
        elif not self.identity.lives():
            await self._wait()
        else:
            self._watch = asyncio.create_task(self._wait())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watch is not None:
            self._watch.cancel()
            with suppress(asyncio.CancelledError):
                await self._watch
        self._close()

    async def _wait(self) -> None:
        if self._pidfd is None:
            status = await self._poll()
        else:
            await _readable(self._pidfd)
            status = _reap(self.identity.pid) or await _ask(self._pidfd)
        self.exit_code = None if status is None else os.waitstatus_to_exitcode(status.code)
        self.ended.set()

    async def _poll(self) -> "_Status | None":
        while True:
            status = _reap(self.identity.pid)
            if status or not self.identity.lives():
                return status
            await asyncio.sleep(_POLL)

    def _close(self) -> None:
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None


def open_pidfd(pid: int) -> int | None:
    """A handle on the process that has this pid now; None where there is no such thing, or nobody."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


class _Status(Struct, frozen=True):
    code: int


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)


def _reap(pid: int) -> _Status | None:
    """The exit status of our own child, reaped so that no zombie stays."""
    try:
        ended, code = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None
    return _Status(code) if ended else None


async def _ask(pidfd: int) -> _Status | None:
    """The exit status of another process's child, from kernels that keep it."""
    question = bytearray(_PIDFD_INFO.pack(_PIDFD_INFO_EXIT, *[0] * 13))
    for _ in range(_ASK_TIMES):
        try:
            fcntl.ioctl(pidfd, _PIDFD_GET_INFO, question)
        except ProcessLookupError:
            pass
        except OSError:
            return None
        mask, *_, code = _PIDFD_INFO.unpack(question)
        if mask & _PIDFD_INFO_EXIT and code is not None:
            return _Status(code)
        question[:8] = _PIDFD_INFO_EXIT.to_bytes(8, "little")
        await asyncio.sleep(_ASK_AGAIN)
    return None


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return False
