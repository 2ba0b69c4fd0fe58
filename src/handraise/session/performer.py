"""Does what other hubs stored for sessions of this machine: messages, starts and instructions. Each is settled once."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from types import TracebackType
from typing import Self, assert_never
from uuid import NAMESPACE_URL, uuid5

from handraise.model.actors import Person
from handraise.model.audit import Entry, What
from handraise.model.instructions import IMMEDIATE, REPEATABLE, Instruction
from handraise.model.items import InstructionGiven, InstructionSettled, Item
from handraise.model.sessions import Phase
from handraise.session.commands import ChangeMode, ChangeModel, Interrupt, Rename, Stop
from handraise.session.machine import WishRefused
from handraise.session.pool import SessionPool
from handraise.session.reviews import Reviewer
from handraise.session.supervisor import NoSuchSession, Supervisor
from handraise.store.changes import Change, PublishItems, Record, SettleInstruction, TakeInstruction
from handraise.store.interface import Store, StoreClosed, StoreError, StoreFenced
from handraise.store.waiting import insist
from handraise.texts import t

_SAID = b'{"type":"said",'
_QUEUED = b'{"type":"session.changed","phase":"queued"'
_GIVEN = b'{"type":"instruction.given"'
_AGAIN = 1.0
_RECORDED: dict[str, What] = {"stop": "session stopped", "resume": "session resumed", "fork": "session started"}

log = logging.getLogger("handraise.session")


class Performer:
    """Entered with `async with`, inside the pool's. Leaving it leaves what isn't done for the next hub."""

    def __init__(
        self,
        store: Store,
        supervisor: Supervisor,
        pool: SessionPool,
        reviewer: Reviewer,
        clock: Callable[[], datetime],
        epoch: int,
    ) -> None:
        """`epoch` is that of this hub's claim: what an earlier one took and never settled may have been done."""
        self._store = store
        self._supervisor = supervisor
        self._pool = pool
        self._reviewer = reviewer
        self._clock = clock
        self._epoch = epoch
        self._something = asyncio.Event()
        self._in_hand: set[asyncio.Task[None]] = set()
        self._seen: set[str] = set()
        """What was taken in hand: a list that was read before it was settled must not bring it up again."""
        self._from_before: frozenset[str] = frozenset()
        """What waited when this hub started: its time may be over."""
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._store.listen(self._committed)
        waiting = await self._store.instructions(machine=self._store.machine)
        self._from_before = frozenset(each.id for each in waiting)
        self._tasks = await self._stack.enter_async_context(asyncio.TaskGroup())
        self._something.set()
        self._looking = self._tasks.create_task(self._keep_looking())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in (self._looking, *self._in_hand):
            task.cancel()
        await self._stack.aclose()

    def _committed(self, items: Sequence[Item]) -> None:
        if self._pool.trouble:
            return
        for item in items:
            if item.session is None:
                continue
            if item.content.startswith(_SAID):
                self._said(item.session)
            elif item.content.startswith(_QUEUED):
                self._pool.start_soon()
            elif item.content.startswith(_GIVEN):
                given = item.read()
                if isinstance(given, InstructionGiven) and given.machine == self._store.machine:
                    self._something.set()

    def _said(self, session: str) -> None:
        runner = self._pool.runner(session)
        if runner is not None:
            runner.listen()
        else:
            self._pool.bring_back_later(session)

    async def _keep_looking(self) -> None:
        while True:
            await self._something.wait()
            self._something.clear()
            try:
                for each in await self._store.instructions(machine=self._store.machine):
                    if each.id not in self._seen:
                        self._seen.add(each.id)
                        task = self._tasks.create_task(self._carry_out(each))
                        self._in_hand.add(task)
                        task.add_done_callback(self._in_hand.discard)
            except StoreClosed:
                return
            except StoreError as error:
                log.warning("instructions from other machines could not be read, and are tried again: %s", error)
                self._something.set()
                await asyncio.sleep(_AGAIN)

    async def _carry_out(self, wanted: Instruction) -> None:
        try:
            if await self._is_ours_to_do(wanted):
                await self._settle(wanted, *await self._performed(wanted))
        except StoreFenced as error:
            self._pool.let_go(error)
        except StoreClosed:
            pass
        except Exception:  # outer boundary: one instruction must not affect the others
            log.exception("instruction %s (%s) could not be settled; the next hub does it", wanted.id, wanted.kind)

    async def _is_ours_to_do(self, wanted: Instruction) -> bool:
        """Takes it; settles it at once if its time is over, or if it must not be done a second time."""
        if wanted.state == "taken":
            if wanted.kind not in REPEATABLE:
                await self._settle(wanted, "refused", t("sessions.refused.restarted"))
                return False
            return True
        if wanted.id in self._from_before and wanted.kind in IMMEDIATE:
            await self._settle(wanted, "refused", t("sessions.refused.was_away"))
            return False
        applied = await insist(lambda: self._store.apply([TakeInstruction(wanted.id, self._epoch)]), log)
        return applied.took[0]

    async def _performed(self, wanted: Instruction) -> tuple[str, str, str, Sequence[Change]]:
        """Its state, the reason, the result, and what to store with them."""
        try:
            # A database that is away means that nothing was done yet.
            result, changes = await insist(lambda: self._perform(wanted), log)
            return "done", "", result, changes
        except (WishRefused, NoSuchSession) as refused:
            return "refused", str(refused), "", ()
        except StoreError:
            raise
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            return "refused", t("sessions.refused.internal"), "", ()  # the session's runner failed meanwhile
        except Exception:  # whoever asked must hear of it, whatever went wrong
            log.exception("instruction %s (%s) failed", wanted.id, wanted.kind)
            return "refused", t("sessions.refused.internal"), "", ()

    async def _perform(self, wanted: Instruction) -> tuple[str, Sequence[Change]]:
        session, by, value = wanted.session, wanted.by, wanted.value
        match wanted.kind:
            case "interrupt":
                await self._supervisor.wish(session, Interrupt())
            case "stop":
                await self._stop(wanted)
            case "mode":
                await self._supervisor.wish(session, ChangeMode(value))
            case "model":
                await self._supervisor.wish(session, ChangeModel(value))
            case "rename":
                await self._supervisor.wish(session, Rename(value))
            case "resume":
                await self._resume(wanted)
            case "fork":
                forked = await self._supervisor.fork(session, wanted.words or "", by, wanted.source)
                return forked.id, ()
            case "allow_denied":
                if not isinstance(by, Person):
                    raise WishRefused(t("sessions.denied.unknown"))
                await self._supervisor.allow_denied(session, value, by, wanted.source)
            case "revert":
                return "", await self._revert(wanted)
            case "remove":
                return "", await self._remove(wanted)
            case _:
                assert_never(wanted.kind)
        return "", ()

    async def _stop(self, wanted: Instruction) -> None:
        if wanted.state == "taken" and await self._phase(wanted.session) in ("stopping", "ended"):
            return  # an earlier hub did it, and could not say so
        by = wanted.by.name
        await self._supervisor.wish(wanted.session, Stop(t("sessions.ended.by_person", who=by), by))

    async def _resume(self, wanted: Instruction) -> None:
        """Its message has an ID that follows from the instruction: done again, it is still one message."""
        say = str(uuid5(NAMESPACE_URL, f"handraise:{wanted.id}"))
        if wanted.state == "taken" and await self._phase(wanted.session) != "ended":
            if wanted.words:
                await self._supervisor.say(wanted.session, wanted.words, wanted.by, wanted.source, say)
            return
        await self._supervisor.resume(wanted.session, wanted.words, wanted.by, wanted.source, say)

    async def _revert(self, wanted: Instruction) -> Sequence[Change]:
        """Nothing is stored after the file was changed: if that failed, it would be done again."""
        session = await self._store.session(wanted.session)
        if session is None or not self._pool.owns(session) or not isinstance(wanted.by, Person):
            raise WishRefused(t("sessions.refused.revert"))
        digest, _, path = wanted.value.partition(" ")
        return await self._reviewer.revert(session, path, digest, wanted.by, wanted.source)

    async def _remove(self, wanted: Instruction) -> Sequence[Change]:
        """Its instructions go with a session, and this one, too: so nothing is left to settle, and it is said here."""
        session = await self._store.session(wanted.session)
        if session is None or not self._pool.owns(session):
            raise NoSuchSession(wanted.session)
        await self._supervisor.remove(session.id, wanted.by)
        now, detail = self._clock(), {"name": session.title, "directory": session.directory}
        entry = Entry(now, "session removed", wanted.by, wanted.source, session=session.id, detail=detail)
        return PublishItems(None, now, InstructionSettled(wanted.id, "done")), Record(entry)

    async def _phase(self, session: str) -> Phase | None:
        found = await self._store.session(session)
        return found.phase if found is not None else None

    async def _settle(
        self, wanted: Instruction, state: str, reason: str = "", result: str = "", changes: Sequence[Change] = ()
    ) -> None:
        now = self._clock()
        settled = SettleInstruction(wanted.id, "done" if state == "done" else "refused", now, reason, result)
        what = _RECORDED.get(wanted.kind) if state == "done" else None
        entry = Entry(now, what, wanted.by, wanted.source, session=result or wanted.session) if what else None
        await insist(lambda: self._store.apply([settled, *([Record(entry)] if entry else []), *changes]), log)
