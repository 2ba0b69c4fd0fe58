"""Writes for one session: changes to the store and lines to Claude, in order, retried until they succeed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from handraise.claude.claude import Claude
from handraise.claude.fifo import ChildGone, HalfLine
from handraise.session.backlog import Backlog, Decision
from handraise.session.machine import WishRefused
from handraise.store.changes import Applied, Change
from handraise.store.interface import Store, StoreAway, StoreClosed, StoreConflict, StoreError, StoreFenced
from handraise.texts import t

_AGAIN = 1.0

T = TypeVar("T")

log = logging.getLogger("handraise.session")

DEADLINE = 60.0


class NotStored(WishRefused):
    """Claude is being ended, but the store could not save that yet."""

    def __init__(self, why: StoreError) -> None:
        super().__init__(t("sessions.refused.not_stored", why=why))


class DurableWriter:
    """Retries until the store has saved the changes; Claude waits meanwhile. Gives up if another hub has taken over."""

    def __init__(self, session: str, store: Store, end_claude: Callable[[], None]) -> None:
        self._session = session
        self._store = store
        self._end_claude = end_claude
        self._stops: list[asyncio.Future[None]] = []
        self._hurry = asyncio.Event()
        self.is_held_up = False
        """The store refused the last changes; they are tried again."""

    def stop(self, done: asyncio.Future[None]) -> None:
        """A person wants Claude to end, and waits for `done`."""
        self._stops.append(done)
        self._hurry.set()

    async def keep(self, changes: Sequence[Change]) -> Applied:
        """Returns when the changes are stored."""
        while True:
            try:
                applied = await self._store.apply(changes)
                self.is_held_up = False
                return applied
            except (StoreClosed, StoreConflict, StoreFenced):
                raise
            except StoreError as error:
                self.is_held_up = True
                log.warning("session %s is held up: %s", self._session, error)
                await self._wait(error)

    async def read(self, reading: Callable[[], Awaitable[T]]) -> T:
        """What the store has, once it can be reached."""
        while True:
            try:
                return await reading()
            except StoreAway as error:
                log.warning("session %s is held up: %s", self._session, error)
                await self._wait(error)

    async def _wait(self, why: StoreError) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_AGAIN):
                await self._hurry.wait()
        self._hurry.clear()
        stops = [done for done in self._stops if not done.done()]
        self._stops.clear()
        if stops:
            self._end_claude()
        for done in stops:
            done.set_exception(NotStored(why))


class DecisionWriter:
    """Stores decisions in their order, in the background: what gathers during a commit is in the next one."""

    def __init__(
        self,
        writer: DurableWriter,
        stored: Callable[[Decision, Applied], Awaitable[None]],
        failed: Callable[[Exception], None],
    ) -> None:
        """`stored` is awaited after each commit. `failed` is called once, and then nothing more is stored."""
        self._writer = writer
        self._stored = stored
        self._failed = failed
        self._backlog = Backlog()
        self._storing: asyncio.Task[None] | None = None
        self._failure: Exception | None = None

    @property
    def is_idle(self) -> bool:
        """Whether everything is stored."""
        return self._storing is None

    @property
    def is_behind(self) -> bool:
        """Whether Claude has to wait until more is stored."""
        return self._backlog.is_full or self._writer.is_held_up

    def add(self, decision: Decision) -> None:
        """Returns immediately; raises the failure of an earlier one: nothing is stored without it."""
        if self._failure is not None:
            raise self._failure
        self._backlog.add(decision)
        if self._storing is None:
            self._storing = asyncio.create_task(self._store())

    async def all_stored(self) -> None:
        """Returns when everything is stored; raises what keeps it from that."""
        while self._storing is not None:
            await asyncio.wait([self._storing])
        if self._failure is not None:
            raise self._failure

    async def stop(self) -> None:
        """What isn't stored is read from the journal again by the next runner."""
        if self._storing is not None:
            self._storing.cancel()
            await asyncio.wait([self._storing])

    async def _store(self) -> None:
        try:
            while decision := self._backlog.take():
                applied = await self._writer.keep([*decision.changes, decision.advance])
                await self._stored(decision, applied)
        except Exception as error:  # reported to the session, which ends with it
            self._failure = error
            self._failed(error)
        finally:
            self._storing = None


class StdinWriter:
    """Waits while Claude doesn't read: an unwritten line must not count as sent. A stop gives up."""

    def __init__(self, claude: Claude, broken: Callable[[], None]) -> None:
        """`broken` is called when Claude's stdin can no longer be used."""
        self._claude = claude
        self._broken = broken
        self._waiting: asyncio.Timeout | None = None
        self._in_a_hurry = False

    async def write(self, lines: Sequence[bytes]) -> None:
        """Returns when all lines are written, Claude is gone, or `hurry` was called."""
        for line in lines:
            try:
                while not self._claude.write_now(line) and not await self._write_in_time(line):
                    if self._in_a_hurry:
                        log.info("process %d: a line was given up, for it is being stopped", self._pid)
                        return
                    log.warning("process %d: Claude does not read; it is tried again", self._pid)
            except ChildGone:
                log.info("process %d: Claude is gone before a line was written", self._pid)
                return
            except HalfLine as error:
                log.warning("process %d: %s", self._pid, error)
                self._broken()
                return

    def write_now(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Writes what needs no waiting, and returns the rest."""
        for number, line in enumerate(lines):
            try:
                if not self._claude.write_now(line):
                    return lines[number:]
            except ChildGone:
                log.info("process %d: Claude is gone before a line was written", self._pid)
                return ()
        return ()

    def hurry(self) -> None:
        """Claude is being stopped: don't wait for a line that it doesn't read immediately."""
        self._in_a_hurry = True
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time())

    async def _write_in_time(self, line: bytes) -> bool:
        try:
            async with asyncio.timeout(0 if self._in_a_hurry else DEADLINE) as self._waiting:
                await self._claude.write(line)
        except TimeoutError:
            return False
        finally:
            self._waiting = None
        return True

    @property
    def _pid(self) -> int:
        return self._claude.process.identity.pid
