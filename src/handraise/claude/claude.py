"""A running Claude: started or adopted, written to, followed, stopped. It outlives us."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, Self

from handraise.claude import fifo, journal, launcher, process
from handraise.claude.command import Launch, command_line
from handraise.claude.fifo import ChildGone, Fifo
from handraise.claude.folder import LaunchRecord, RunFolder, take_lock
from handraise.claude.process import Identity, Process
from handraise.claude.watch import FileWatch
from handraise.texts import t

_RECORD_DEADLINE = 10.0
_RECORD_POLL = 0.002
REPLAYABLE = 256 * 1024 * 1024
"""How many bytes of a journal stay on disk after they were read, so that they can be replayed."""
_STEP = 64 * 1024 * 1024


class NotStarted(Exception):
    """Claude could not be started. The text is the system's reason."""


class NobodyThere(Exception):
    """No Claude was launched in this folder, or not completely."""


class Claude:
    """Entered with `async with`; leaving it leaves Claude running."""

    def __init__(self, folder: RunFolder, identity: Identity, watch: FileWatch) -> None:
        self.folder = folder
        self.process = Process(identity)
        self._fifo = Fifo(folder, self.process.ended.is_set)
        self._watch = watch
        self._given_back = 0
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self.process)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def ended(self) -> asyncio.Event:
        return self.process.ended

    def write_now(self, line: bytes) -> bool:
        """Writes a whole line if nothing has to be waited for; raises ChildGone."""
        return not self.ended.is_set() and self._fifo.write_now(line)

    async def write(self, line: bytes) -> None:
        """Writes a whole line or nothing; raises ChildGone."""
        if self.ended.is_set():
            raise ChildGone("Claude has exited")
        await self._fifo.write(line)

    def follow(self, offset: int = 0) -> AsyncIterator[bytes]:
        """Claude's output from `offset` on, until it has exited."""
        return journal.follow(self.folder.journal, offset, self._watch, self.ended)

    def taken_in(self, offset: int) -> None:
        """Everything before `offset` is stored: frees the oldest part of a long journal."""
        if offset - REPLAYABLE - self._given_back >= _STEP:
            self._given_back = offset - REPLAYABLE
            journal.give_back(self.folder.journal, self._given_back)

    async def stop(self, farewell: bytes | None = None, *, grace: float = 2.0, patience: float = 10.0) -> None:
        """Sends `farewell` first, if given; then SIGTERM, `patience` seconds, SIGKILL; descendants included."""
        kin = await process.seek(self.process.identity)
        if farewell is not None and not self.ended.is_set():
            with suppress(ChildGone, TimeoutError):
                async with asyncio.timeout(grace):
                    await self.write(farewell)
                    await self.ended.wait()
        await process.stop(self.process, kin, patience=patience)


async def start(
    program: Path,
    launch: Launch,
    folder: Path,
    locks: Path,
    watch: FileWatch,
    environment: Mapping[str, str],
    sandbox: Mapping[str, Any] | None = None,
) -> Claude:
    """Starts Claude in a new folder, with its own process session; raises SessionBusy or NotStarted.

    `sandbox` is a plan for what Claude may see and change; without one, it may do everything we may.
    """
    run, pid = _spawn(program, launch, folder, locks, environment, sandbox)
    await _recorded(run, pid)
    return adopt(run.path, watch)


def adopt(folder: Path, watch: FileWatch) -> Claude:
    """The Claude that was launched in this folder. Once entered, we know whether it still runs."""
    run = RunFolder(folder)
    record = run.record()
    if record is None:
        raise NobodyThere(f"no Claude was launched in {folder}")
    return Claude(run, record.identity, watch)


def _spawn(
    program: Path,
    launch: Launch,
    folder: Path,
    locks: Path,
    environment: Mapping[str, str],
    sandbox: Mapping[str, Any] | None,
) -> tuple[RunFolder, int]:
    if not os.path.isdir(launch.directory):
        raise NotStarted(t("error.no_directory", directory=launch.directory))
    opened = [take_lock(locks, launch.session_id)]
    try:
        run = RunFolder.make(folder)
        run.order(command_line(str(program), launch), launch.session_id, launch.directory, sandbox)
        opened.append(os.open(run.fifo, os.O_RDWR | os.O_CLOEXEC))
        opened.append(os.open(run.journal, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC))
        opened.append(os.open(run.errors, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC))
        fifo.enlarge(opened[1])
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, *launcher.WORDS, str(run.path)],
            dict(environment),
            file_actions=[(os.POSIX_SPAWN_DUP2, opened[(number + 1) % 4], number) for number in range(4)],
        )
    finally:
        for each in opened:
            os.close(each)
    return run, pid


async def _recorded(run: RunFolder, pid: int) -> None:
    """Waits until the launcher has recorded Claude's process and become Claude."""
    deadline = asyncio.get_running_loop().time() + _RECORD_DEADLINE
    while True:
        record = run.record()
        if record is not None and record.pid == pid:
            return
        ended, status = os.waitpid(pid, os.WNOHANG)  # noqa: ASYNC222 (does not wait)
        record = run.record()
        if ended and record is not None and not status:
            return
        if ended:
            _give_up(record)
            raise NotStarted(run.last_errors() or t("sessions.start.launcher_ended", status=status))
        if asyncio.get_running_loop().time() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)  # noqa: ASYNC222 (a killed child is there at once)
            _give_up(run.record())
            raise NotStarted(t("sessions.start.launcher_late", seconds=f"{_RECORD_DEADLINE:g}"))
        await asyncio.sleep(_RECORD_POLL)


def _give_up(record: LaunchRecord | None) -> None:
    """A Claude that can't be secured must not run."""
    if record is not None:
        record.identity.signal(signal.SIGKILL)
