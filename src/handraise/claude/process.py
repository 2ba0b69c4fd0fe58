"""Processes: Claude and its descendants. Never confuses one with a later one that has the same PID."""

import asyncio
import fcntl
import os
import signal
import struct
import subprocess
import sys
from collections import defaultdict
from collections.abc import Container, Iterable
from contextlib import suppress
from typing import Self

from msgspec import Struct

from handraise.claude.launcher import boot, started

_POLL = 0.2
# From linux/pidfd.h: the exit status of a process that isn't our child, once its parent has reaped it (6.15+).
_PIDFD_GET_INFO = 0xC040FF0B
_PIDFD_INFO_EXIT = 1 << 3
_PIDFD_INFO = struct.Struct("=QQ11Ii")
_ASK_AGAIN = 0.01
_ASK_TIMES = 30
TERM_TO_KILL = 10.0
_SOON = 0.02
_TOGETHER = 0.005


class Identity(Struct, frozen=True):
    """PIDs are reused; together with start time and boot ID one identifies a process."""

    pid: int
    started: str
    boot: str

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """The process with this pid now, zombies included; None if there is none."""
        try:
            return cls(pid, started(pid), boot())
        except (OSError, IndexError, ValueError):
            return None

    def lives(self) -> bool:
        return Identity.of(self.pid) == self and not _is_zombie(self.pid)

    def signal(self, number: signal.Signals) -> None:
        """Signals exactly this process, or none."""
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
    """Watches one process until it exits. `exit_code` is then known, if the system provides it."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        self.ended = asyncio.Event()
        self.exit_code: int | None = None
        self._pidfd: int | None = None
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        # The pidfd pins the process that has the pid now; only then can we check which one it is.
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
    """A handle on the process with this pid; None if there is none, or the system has no pidfds."""
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
    """The exit status of our own child, reaped so that it doesn't stay a zombie."""
    try:
        ended, code = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None
    return _Status(code) if ended else None


async def _ask(pidfd: int) -> _Status | None:
    """The exit status of another process's child, on kernels that keep it."""
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


class ProcessTable:
    """Lists all processes in a thread, once for all concurrent callers."""

    def __init__(self) -> None:
        self._next: dict[asyncio.AbstractEventLoop, asyncio.Task[list[tuple[int, int]]]] = {}

    async def parents(self) -> list[tuple[int, int]]:
        """Each process with its parent, read after the call."""
        loop = asyncio.get_running_loop()
        if loop not in self._next:
            self._next[loop] = loop.create_task(self._look(loop))
        return await asyncio.shield(self._next[loop])

    async def _look(self, loop: asyncio.AbstractEventLoop) -> list[tuple[int, int]]:
        try:
            await asyncio.sleep(_TOGETHER)
        finally:
            del self._next[loop]  # later callers get a later list
        return await asyncio.to_thread(_parents)


_table = ProcessTable()


def descendants(*ancestors: Identity) -> set[Identity]:
    """Children of the running ones among them, their children, and so on.

    Claude is a subreaper, so daemonized ones are included.
    """
    return _below(ancestors, _parents())


async def seek(*ancestors: Identity) -> set[Identity]:
    """The same, without blocking the event loop."""
    return _below(ancestors, await _table.parents())


def descends(pid: int, ancestors: Container[int]) -> bool:
    """Whether a process is one of these or a descendant. One that can't be looked up counts as one: errors deny."""
    if pid <= 0:
        return True  # the system can't identify it
    while pid > 1:
        parent = None if pid in ancestors else _parent(pid)
        if parent is None:
            return True
        pid = parent
    return False


async def stop(process: Process, kin: Iterable[Identity], *, patience: float = TERM_TO_KILL) -> None:
    """SIGTERM, `patience` seconds, SIGKILL; then the same for `kin` and its remaining descendants.

    `kin` was collected while the process was known to run: orphans of a dead one can't be traced to it.
    """
    family = set(kin)
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not process.ended.is_set():
            family |= await seek(process.identity)
        process.identity.signal(signal.SIGKILL if _is_deaf_first(process.identity.pid) else number)
        if await _ends(process, patience):
            break
    await _end_all(family, min(patience, 2.0))


def _is_deaf_first(pid: int) -> bool:
    """Whether it is PID 1 of a namespace and doesn't catch SIGTERM: the kernel then doesn't deliver it.

    Other processes that don't catch it die from it, so SIGKILL is no harsher.
    """
    try:
        with open(f"/proc/{pid}/status") as file:
            status = dict(line.split(":", 1) for line in file)
        inner = status["NSpid"].split()
        return inner[1:] != [] and inner[-1] == "1" and not int(status["SigCgt"], 16) & 1 << (signal.SIGTERM - 1)
    except (OSError, KeyError, ValueError):
        return False


def _below(ancestors: Iterable[Identity], parents: Iterable[tuple[int, int]]) -> set[Identity]:
    children: dict[int, list[int]] = defaultdict(list)
    for child, parent in parents:
        children[parent].append(child)
    found: set[Identity] = set()
    queue = [each.pid for each in ancestors if each.lives()]
    while queue:
        for child in children.pop(queue.pop(), []):
            queue.append(child)
            identity = Identity.of(child)
            if identity is not None:
                found.add(identity)
    return found


async def _ends(process: Process, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await process.ended.wait()
    except TimeoutError:
        return False
    return True


async def _end_all(family: Iterable[Identity], patience: float) -> None:
    left = {each for each in family if each.lives()}
    for number in (signal.SIGTERM, signal.SIGKILL):
        left |= await seek(*left) if left else set()
        for each in left:
            each.signal(number)
        deadline = asyncio.get_running_loop().time() + patience
        while left and asyncio.get_running_loop().time() < deadline:
            # A process may leave children that it started after the signal.
            left = {each for each in left | await seek(*left) if each.lives()}
            if left:
                await asyncio.sleep(_SOON)


def _parents() -> list[tuple[int, int]]:
    if sys.platform != "linux":
        listing = subprocess.run(["/bin/ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        return [(int(pid), int(parent)) for pid, parent in (line.split() for line in listing.splitlines())]
    pairs = [(int(name), _parent(int(name))) for name in os.listdir("/proc") if name.isdigit()]
    return [(pid, parent) for pid, parent in pairs if parent is not None]


def _parent(pid: int) -> int | None:
    if sys.platform != "linux":
        return dict(_parents()).get(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return None
