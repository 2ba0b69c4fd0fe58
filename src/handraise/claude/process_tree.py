"""All descendants of a process, in any process group: found before Claude is ended, and ended with it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Container, Iterable

from handraise.claude.process import Identity, Process

TERM_TO_KILL = 10.0
_POLL = 0.02
_TOGETHER = 0.005


class ProcessTable:
    """Lists all processes in a thread, once for all callers at the same time."""

    def __init__(self) -> None:
        self._next: dict[asyncio.AbstractEventLoop, asyncio.Task[list[tuple[int, int]]]] = {}

    async def parents(self) -> list[tuple[int, int]]:
        """Each process with its parent, as they were at some time after the call."""
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
    """Children of the living among them, their children, and so on.

    Claude is a sub-reaper, so that daemonised ones are among them.
    """
    return _below(ancestors, _parents())


async def seek(*ancestors: Identity) -> set[Identity]:
    """The same, without holding up the event loop."""
    return _below(ancestors, await _table.parents())


def descends(pid: int, ancestors: Container[int]) -> bool:
    """Whether a process is one of these or descends from one. Who cannot be looked up does: errors deny."""
    if pid <= 0:
        return True  # the system does not tell who it is
    while pid > 1:
        parent = None if pid in ancestors else _parent(pid)
        if parent is None:
            return True
        pid = parent
    return False


async def stop(process: Process, kin: Iterable[Identity], *, patience: float = TERM_TO_KILL) -> None:
    """SIGTERM, `patience` seconds, SIGKILL; then the same for `kin` and all that descends from it and is still there.

    `kin` was collected while the process was surely alive: what is left of a dead one descends from nobody.
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
    """Whether it is the first of its PID namespace and catches no SIGTERM: the kernel then keeps that from it.

    Elsewhere what catches none ends by it, so that SIGKILL is no harder an end.
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
                await asyncio.sleep(_POLL)


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
