"""The running Claudes: launched or adopted, as many as the limits allow, each with its own runner."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from handraise.claude import connections, process
from handraise.claude.claude import Claude, NobodyThere
from handraise.claude.process import Identity
from handraise.claude.watch import FileWatch, watch
from handraise.feed import Feed
from handraise.inbox.inbox import Inbox
from handraise.model.asks import Ask, Expired, Withdrawn
from handraise.model.items import Notice
from handraise.model.projects import Options, OwnFile, OwnFileUnfit, Project
from handraise.model.rules import Rule
from handraise.model.sessions import Ended, Session
from handraise.session import phases, records, slots, surroundings
from handraise.session.commands import Park, Stop
from handraise.session.launching import StartContext
from handraise.session.machine import SessionMachine, WishRefused
from handraise.session.memory import Memory
from handraise.session.phases import Event
from handraise.session.runner import Runner
from handraise.session.slots import SlotTracker
from handraise.session.starting import ClaudeConfig, ClaudeStarter
from handraise.session.trust_check import TrustCheck
from handraise.store.changes import PublishItems, SettleAsk
from handraise.store.interface import Store, StoreAway, StoreError, StoreFenced
from handraise.store.waiting import insist
from handraise.texts import t
from handraise.wire.connection import Connection

_STOPPING = 15.0
"""Seconds in which even a Claude that doesn't listen has been ended."""

log = logging.getLogger("handraise.session")


class Adoption(Struct, frozen=True):
    """What a starting hub found: sessions that run, and those that were lost."""

    living: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


class SessionPool:
    """Entered with `async with`. Leaving it leaves every Claude running."""

    def __init__(self, config: ClaudeConfig, store: Store, feed: Feed, inbox: Inbox) -> None:
        self._config = config
        self._store = store
        self._feed = feed
        self._inbox = inbox
        self._trusting = TrustCheck(store, inbox, config.environment, config.clock, config.entropy)
        self._watch: FileWatch = watch()
        self.starter = ClaudeStarter(config, store, self._trusting, self._watch)
        self._runners: dict[str, Runner] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._looking: list[asyncio.Task[str]] = []
        self._stack = AsyncExitStack()
        self._later: set[asyncio.Task[None]] = set()
        """What waits for a database that is away."""
        self._out_of_hold: dict[str, Claude] = {}
        self._is_closing = False
        self._slots = SlotTracker()
        self.starting = asyncio.Lock()
        """Hold it to change the record of a session without a runner: nothing starts meanwhile."""
        self.adoption = Adoption()
        self.trouble = ""
        """Why this hub let its sessions go, as a sentence: another hub has taken over its machine."""
        self._will_start_more = False
        self.go_on: Callable[[str], Awaitable[object]] | None = None
        """Resumes a session whose Claude was ended for a fault that the next one won't have."""

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._watch)
        self._tasks = await self._stack.enter_async_context(asyncio.TaskGroup())
        self._stack.enter_context(self._inbox.listening(self._ask_settled))
        if not self.is_gateway:
            self._looking.append(self._tasks.create_task(self.starter.find_unsafe_version()))
        self.adoption = await self._adopt_all()
        for session in await self._store.sessions(["parked"]):
            if self.owns(session):
                await self.wake(session.id)
        await self.start_queued()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._finish_stopping()
        for task in (*self._looking, *self._running.values()):
            task.cancel()
        for waiting in self._later:
            waiting.cancel()
        await self._stack.aclose()

    async def _finish_stopping(self) -> None:
        """Cut off halfway, what a Claude had started could never be found again."""
        stopping = [name for name, each in self._runners.items() if each.session.phase in ("stopping", "parking")]
        tasks = [self._running[name] for name in stopping if name in self._running]
        if tasks and not self.trouble:
            await asyncio.wait(tasks, timeout=_STOPPING)

    @property
    def is_gateway(self) -> bool:
        """Whether this machine runs no sessions."""
        return self._config.limit == 0

    def owns(self, session: Session) -> bool:
        """Whether the session is for this hub to run."""
        return session.machine in ("", self._store.machine) and not self.trouble

    def let_go(self, why: StoreFenced) -> None:
        """Another hub has taken this machine over: stops following its sessions. Their Claudes keep running."""
        if self.trouble:
            return
        self.trouble = str(why)
        self._is_closing = True
        log.error("%s", why)
        for task in (*self._running.values(), *self._later):
            task.cancel()

    def runner(self, session: str) -> Runner | None:
        """The runner of this session, if it runs."""
        runner = self._runners.get(session)
        return None if runner is None or runner.has_ended or self.trouble else runner

    def has_raised(self, pid: int) -> bool:
        """Whether a process is one of our Claudes or descends from one: what raises asks must not settle them."""
        return process.descends(pid, {each.pid for each in self._claudes()})

    def may_hold(self, client: connections.Address, server: connections.Address) -> bool:
        """The same for the process that opened a TCP connection to us."""
        return connections.may_hold(self._claudes(), client, server)

    def _claudes(self) -> list[Identity]:
        # Called from other threads too: each dictionary is copied in one step.
        held, unheld = list(self._runners.values()), list(self._out_of_hold.values())
        return [*(each.identity for each in held), *(each.process.identity for each in unheld)]

    async def stop_all(self) -> None:
        """Ends every Claude, as if each was stopped by hand. Queued sessions stay queued for the next hub."""
        self._is_closing = True
        async with self.starting:
            running = list(self._runners.values())
        await asyncio.gather(*(self._stop(runner) for runner in running))

    async def _stop(self, runner: Runner) -> None:
        """Returns when Claude is gone; if the store can't save that, the next hub finds out."""
        running = self._running.get(runner.session.id)
        with suppress(WishRefused):
            await runner.wish(Stop(t("sessions.ended.with_hub")))
        gone = [each for each in (runner.ending or running,) if each is not None]
        if gone:
            await asyncio.wait(gone)

    async def stop_unheld(self, session: Session, reason: str) -> bool:
        """Ends a Claude that we no longer follow after an error of ours; False if there is none."""
        left = self._out_of_hold.get(session.id)
        if left is None:
            return False
        async with Claude(left.folder, left.process.identity, self._watch) as running:
            await running.stop()
        await self._end_unheard(session, "failed", Ended("stopped", reason, self._config.clock()))
        self._out_of_hold.pop(session.id, None)
        return True

    async def start_queued(self) -> None:
        """Starts the oldest queued sessions, as far as the limits allow. Idle sessions make room for the others."""
        if self.is_gateway:
            return
        async with self.starting:
            queued = [each for each in reversed(await self._store.sessions(["queued"])) if self.owns(each)]
            stopped = await self._to_be_stopped() if queued else frozenset()
            for waiting in queued:
                if self._is_closing:
                    return
                # The previous process is still being cleaned up, or somebody elsewhere wants it to stop.
                if waiting.id in self._running or waiting.id in stopped:
                    continue
                options = await self._options(waiting)
                session = _completed(waiting, options)
                footing = await self._trusting.footing(session, options)
                if footing is None:  # people are asked about its directory first
                    continue
                rivals = [each.session for each in self._runners.values()]
                own = [each for each in rivals if each.project == session.project]
                if len(self._running) >= self._config.limit:
                    await self._make_room(session, rivals)
                elif options.parallel is not None and len(own) >= options.parallel:
                    await self._make_room(session, own, t("sessions.queued.this_project"))
                else:
                    self._slots.assigned(session.id)
                    await self._start(session, options, footing)

    async def _start(self, session: Session, options: Options, footing: StartContext) -> None:
        started, running = await self.starter.start(session, options, footing)
        if running is not None:
            await insist(lambda: self._supervise(started, running, options), log)

    async def _to_be_stopped(self) -> frozenset[str]:
        waiting = await self._store.instructions(machine=self._store.machine)
        return frozenset(each.session for each in waiting if each.kind == "stop")

    async def _make_room(self, queued: Session, rivals: Sequence[Session], project: str | None = None) -> None:
        """Parks an idle session; if there is none, the queued one gets a notice saying what it waits for."""
        if self._slots.is_being_made_for(queued.id):
            return
        chosen = self._slots.give_up(rivals, queued.id)
        if chosen is not None:
            self._tasks.create_task(self._park(self._runners[chosen]))
        elif self._slots.is_news(queued.id):
            notice = slots.behind(rivals, await self._store.open_asks(), project)
            await self._store.apply([PublishItems(queued.id, self._config.clock(), notice)])

    async def _park(self, runner: Runner) -> None:
        """Ends its Claude; the next message brings it back."""
        try:
            await runner.wish(Park())
        except WishRefused:
            self._slots.refused(runner.session.id)
            await self._start_more()

    def _rested(self, session: str) -> None:
        self._slots.rested(session)
        runner = self.runner(session)
        if runner is not None and runner.is_signed_out:
            # A running Claude doesn't notice every kind of sign-in: the next message starts a new one.
            self._tasks.create_task(self._park(runner))
        self._tasks.create_task(self._start_more())

    async def wake(self, session_id: str) -> None:
        """Queues a parked session that got a message."""
        if self.is_gateway:
            return
        async with self.starting:
            session = await self._store.session(session_id)
            if session is None or session.phase != "parked" or not self.owns(session):
                return
            if not await self._store.says(session_id):
                return
            await self._store.apply(records.moved(session, "wake", self._config.clock()))
        await self.start_queued()

    async def _start_more(self) -> None:
        try:
            await self.start_queued()
        except StoreAway:
            self.start_later()
        except StoreFenced as error:
            self.let_go(error)
        except StoreError:
            log.exception("nobody who waits can be started; the next one that ends tries again")

    def start_soon(self) -> None:
        """Another hub has queued a session."""
        self._spawn(self._start_more())

    def start_later(self) -> None:
        """Starts queued sessions as soon as the database can be reached again."""
        if not self._will_start_more:
            self._will_start_more = True
            self._spawn(self._start_again())

    async def _start_again(self) -> None:
        try:
            await insist(self.start_queued, log)
        except StoreFenced as error:
            self.let_go(error)
        except StoreError:
            log.exception("nobody who waits can be started; the next one that ends tries again")
        finally:
            self._will_start_more = False

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._tasks.create_task(work)
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    def _ask_settled(self, ask: Ask) -> None:
        """A running session follows its own asks; another may start, or be brought back by a late answer."""
        if ask.session is None or self.runner(ask.session) is not None:
            return
        if ask.machine not in ("", self._store.machine) or self.trouble:
            return
        if isinstance(ask.settlement, Expired) and ask.settlement.late is not None:
            self.bring_back_later(ask.session)
        elif ask.kind == "trust":
            self._tasks.create_task(self._start_more())

    def bring_back_later(self, session: str) -> None:
        """Sends a queued message as soon as the database can be reached again."""
        self._spawn(self._bring_back(session))

    async def _bring_back(self, session: str) -> None:
        try:
            await insist(lambda: self.wake(session), log)
        except StoreFenced as error:
            self.let_go(error)
        except StoreError:
            log.exception("session %s could not be brought back; the next message tries again", session)

    async def _adopt_all(self) -> Adoption:
        living: list[str] = []
        lost: list[str] = []
        for session in await self._store.sessions(["starting", "idle", "working", "parking", "stopping"]):
            if session.terminal or not self.owns(session):
                continue
            try:
                running = await self.starter.find(session)
            except NobodyThere:
                if phases.after(session.phase, "not found") == "ended":
                    await self._end_without_a_trace(session)
                    lost.append(session.id)
                else:  # nothing is lost: Claude was not started yet, or was idle and has been ended
                    await self._store.apply(records.moved(session, "not found", self._config.clock()))
                continue
            (living if running.process.identity.lives() else lost).append(session.id)
            await self._supervise(session, running, await self._options(session))
        return Adoption(tuple(living), tuple(lost))

    async def _end_without_a_trace(self, session: Session) -> None:
        """There was a process once, but its folder has nothing to continue from."""
        stopped = session.phase == "stopping"
        how = Ended("stopped" if stopped else "lost", t("sessions.ended.gone"), self._config.clock())
        await self._end_unheard(session, "not found", how)

    async def _end_unheard(self, session: Session, event: Event, how: Ended) -> None:
        still_open = await self._store.asks(session=session.id, state="open")
        reason = t("sessions.withdrawn.exited", reason=how.reason)
        withdrawn = [SettleAsk(ask.id, Withdrawn(reason, how.at)) for ask in still_open]
        await self._store.apply([*withdrawn, *records.ended(session, event, how)])

    async def _supervise(self, session: Session, running: Claude, options: Options) -> None:
        project = await self._project(session)
        root = project.path if project and project.path else session.directory
        stricter = self.own_file(root).rules
        runner = Runner(
            session,
            await self._machine(session, options),
            running,
            store=self._store,
            inbox=self._inbox,
            feed=self._feed,
            surroundings=lambda session: surroundings.around(session.directory, session.mode, options, stricter, root),
            clock=self._config.clock,
            rested=self._rested,
        )
        if self.trouble:
            return
        self._runners[session.id] = runner
        self._running[session.id] = self._tasks.create_task(self._run(runner, running))

    async def _run(self, runner: Runner, running: Claude) -> None:
        session = runner.session.id
        try:
            async with running:
                await runner.run()
        except Exception as error:  # outer boundary: an error in one session must not affect the others
            fenced = _fenced_in(error)
            if fenced is not None:
                self._runners.pop(session, None)
                self.let_go(fenced)
                return
            log.exception("session %s is no longer followed; the next start of the hub adopts it", session)
            self._out_of_hold[session] = running
            del self._runners[session]  # before it is reported, so that the session can still be stopped
            notice = Notice("error", t("sessions.refused.lost"), "fault")
            with suppress(StoreError):
                await self._store.apply([PublishItems(session, self._config.clock(), notice)])
        finally:
            if self.trouble:
                self._out_of_hold[session] = running  # it may still call us, and must not answer its own asks
            self._runners.pop(session, None)
            del self._running[session]
            self._slots.left(session)
        with suppress(StoreError, WishRefused):
            ended = runner.session.ended
            go_on = self.go_on
            if runner.was_cut_off and go_on is not None and not (ended is not None and ended.alarm):
                await insist(lambda: go_on(session), log)
            await insist(lambda: self.wake(session), log)
        await self._start_more()

    async def _machine(self, session: Session, options: Options) -> SessionMachine:
        checkpoint = await self._store.checkpoint(session.id)
        memory = Memory.load(checkpoint.memory) if checkpoint else Memory()
        memory.title = session.title
        wire = Connection(checkpoint.offset if checkpoint else 0, memory.requests, key=memory.key)
        limits = replace(self._config.limits, cost_usd=options.cost_limit_usd)
        return SessionMachine(session.id, session.project, memory, wire, limits, str(self._config.program))

    async def _options(self, session: Session) -> Options:
        return self.options(await self._project(session), session.directory)

    async def _project(self, session: Session) -> Project | None:
        return await self._store.project(session.project) if session.project else None

    def options(self, project: Project | None, directory: str) -> Options:
        """The project's options, then those of its own file, then the general ones."""
        general = self.own_file(project.path if project and project.path else directory).options or self._config.options
        return (project.options if project else Options()).over(general)

    def own_file(self, directory: str) -> OwnFile:
        """The directory's own settings; if they are invalid, people are asked about everything."""
        try:
            return self._config.own_file(directory)
        except OwnFileUnfit as error:
            log.warning("%s: %s", directory, error)
            return OwnFile(rules=(Rule(str(error), "ask", tool="*"),))


def _completed(session: Session, options: Options) -> Session:
    """A session that was queued from another machine has no mode yet, unless a person chose one."""
    if session.mode:
        return session
    return replace(session, mode=options.mode or "default", model=session.model or options.model)


def _fenced_in(error: BaseException) -> StoreFenced | None:
    """What a task group or the task itself raised because another hub has taken over."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for each in error.exceptions if (found := _fenced_in(each)) is not None), None)
    return error if isinstance(error, StoreFenced) else None
