"""What people can do with sessions: start, send messages, steer, rename, stop, resume, fork."""

import asyncio
import shutil
from collections.abc import Sequence
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from handraise.inbox import guidance
from handraise.model import ids
from handraise.model.actors import Actor, Person, TheHub
from handraise.model.asks import Answered, Withdrawn
from handraise.model.projects import Options, Project
from handraise.model.sessions import Ended, Say, Session
from handraise.session import ending, phases, records, titles
from handraise.session.commands import AllowDenied, Interrupt, Rename, Stop, Wish
from handraise.session.machine import WishRefused
from handraise.session.memory import Memory
from handraise.session.pool import SessionPool
from handraise.session.runner import Runner
from handraise.session.starting import ClaudeConfig
from handraise.session.titles import Words
from handraise.store.changes import QueueSay, RemoveSession, SettleAsk
from handraise.store.interface import Store, StoreAway
from handraise.texts import t


class NoSuchSession(Exception):
    """There is no session with this id."""

    def __init__(self, session: str) -> None:
        super().__init__(t("error.no_session", session=session))
        self.id = session


class StartOptions(Struct, frozen=True):
    """A new session as a person wants it."""

    content: Words
    directory: str
    project: Project | None = None
    mode: str | None = None
    model: str | None = None
    title: str | None = None


class Supervisor:
    """Carries out people's wishes for sessions. Each is stored first."""

    def __init__(self, config: ClaudeConfig, store: Store, pool: SessionPool) -> None:
        self._config = config
        self._store = store
        self._pool = pool
        pool.go_on = lambda session: self.resume(session, None, TheHub(), "hub")

    def owns(self, session: Session) -> bool:
        """Whether the session is for this hub to run: otherwise another one carries out what people want of it."""
        return self._pool.owns(session)

    @property
    def runs_sessions(self) -> bool:
        """Whether this machine runs sessions at all."""
        return not self._pool.is_gateway

    async def start(self, beginning: StartOptions, by: Actor, source: str) -> Session:
        """A new session, running or queued; its first message is stored with it."""
        now = self._config.clock()
        options = self._pool.options(beginning.project, beginning.directory)
        session = Session(
            id=ids.spell("s", self._config.entropy(ids.ENTROPY)),
            project=beginning.project.id if beginning.project else beginning.directory,
            directory=beginning.directory,
            claude_id=self._config.uuid(),
            title=beginning.title or titles.of_message(beginning.content),
            created_at=now,
            changed_at=now,
            mode=beginning.mode or options.mode or "default",
            model=beginning.model or options.model,
            machine=self._store.machine,
        )
        say = self._say(session.id, beginning.content, by, source)
        self._check_runs_here()
        await self._pool.starter.check_mode(session.mode)
        return await self._enqueue(session, say)

    async def start_elsewhere(self, beginning: StartOptions, machine: str, by: Actor, source: str) -> Session:
        """A session that the hub of another machine will start: queued there, with its first message.

        What nobody chose (the mode, the model) is for that hub to add: it has settings of its own.
        """
        now = self._config.clock()
        project = beginning.project
        options = project.options if project else Options()
        session = Session(
            id=ids.spell("s", self._config.entropy(ids.ENTROPY)),
            project=project.id if project else beginning.directory,
            directory=beginning.directory,
            claude_id=self._config.uuid(),
            title=beginning.title or titles.of_message(beginning.content),
            created_at=now,
            changed_at=now,
            mode=beginning.mode or options.mode or "",
            model=beginning.model or options.model,
            machine=machine,
        )
        await self._keep(session, [self._say(session.id, beginning.content, by, source)])
        return session

    async def fork(self, parent: str, content: Words, by: Actor, source: str) -> Session:
        """A new session that knows the messages of another one."""
        old = await self._find(parent)
        self._check_runs_here()
        checkpoint = await self._store.checkpoint(parent)
        if checkpoint is None or not Memory.load(checkpoint.memory).turn:
            raise WishRefused(t("sessions.refused.no_fork"))
        await self._pool.starter.check_mode(old.mode)
        now = self._config.clock()
        session = replace(
            old,
            id=ids.spell("s", self._config.entropy(ids.ENTROPY)),
            claude_id=self._config.uuid(),
            forked_from=old.id,
            created_at=now,
            changed_at=now,
            phase=phases.INITIAL,
            cost_usd=0.0,
            run=0,
            ended=None,
            stuck_since=None,
            usage=(),
            terminal="",
            dialog="",
            machine=old.machine or self._store.machine,
        )
        return await self._enqueue(session, self._say(session.id, content, by, source))

    async def resume(
        self, session_id: str, content: Words | None, by: Actor, source: str, say_id: str | None = None
    ) -> Session:
        """Continues a session that has ended. Answers that it never received are sent first."""
        says = [self._say(session_id, content, by, source, say_id)] if content else []
        self._check_runs_here()
        async with self._pool.starting:
            session = await self._find(session_id)
            if session.ended is None:
                raise WishRefused(t("sessions.refused.not_ended"))
            await self._check_cost(session)
            await self._pool.starter.check_mode(session.mode)
            phase = phases.after(session.phase, "resume")
            revived = replace(session, phase=phase, ended=None, changed_at=self._config.clock(), terminal="")
            # A terminal that didn't take an answer had one of its own.
            missed = [] if session.terminal else await self._missed(session_id)
            await self._keep(revived, [*missed, *says])
        return await self._started(revived)

    async def say(
        self,
        session_id: str,
        content: Words,
        by: Actor,
        source: str,
        say_id: str | None = None,
    ) -> Say:
        """Stores a message; Claude receives it when it can, during a turn too. A repeated id is the same message."""
        session = await self._find(session_id)
        if session.ended is not None:
            raise WishRefused(t("sessions.refused.ended"))
        if session.terminal:
            raise WishRefused(t("sessions.refused.terminal"))
        if session.phase == "stopping":
            raise WishRefused(t("sessions.refused.stopping"))
        await self._check_cost(session)
        say = self._say(session_id, content, by, source, say_id)
        await self._store.apply([QueueSay(say)])
        try:
            await self.listen(session_id)
        except StoreAway:  # it is stored, so it was sent
            self._pool.bring_back_later(session_id)
        return say

    async def listen(self, session_id: str) -> None:
        """A message is queued in the store: the runner sends it, and a parked session is brought back."""
        runner = self._pool.runner(session_id)
        if runner is not None:
            runner.listen()
        else:
            await self._pool.wake(session_id)

    async def wish(self, session_id: str, wish: Wish) -> None:
        """Interrupts, changes mode, model or title, or stops; raises WishRefused."""
        runner = self._pool.runner(session_id)
        if runner is None:
            async with self._pool.starting:
                runner = self._pool.runner(session_id)
                if runner is None and not await self._needs_claude(await self._find(session_id), wish):
                    return
        if runner is None:
            runner = await self._brought_back(session_id)
        await runner.wish(wish)

    async def allow_denied(self, session_id: str, action: str, by: Person, source: str) -> None:
        """Lets Claude retry a call that was denied; raises WishRefused. Repeated, it changes nothing."""
        await self.wish(session_id, AllowDenied(action, by, source, self._config.clock()))

    async def _brought_back(self, session_id: str) -> Runner:
        """Only Claude itself knows which modes and models it accepts."""
        await self._pool.start_queued()
        runner = self._pool.runner(session_id)
        if runner is None:
            raise WishRefused(t("sessions.refused.queued"))
        return runner

    async def _needs_claude(self, session: Session, wish: Wish) -> bool:
        """Whether the wish needs Claude, so that a parked session is queued for it; otherwise it is granted here."""
        now = self._config.clock()
        match wish:
            case Rename(title):
                await self._store.apply(records.changed(replace(session, title=title, changed_at=now)))
            case _ if session.terminal and session.ended is None:
                raise WishRefused(t("sessions.refused.terminal"))
            case Stop(reason, by) if session.phase in ("queued", "parked"):
                waiting = await self._store.asks(session=session.id, state="open")
                withdrawn = [SettleAsk(ask.id, Withdrawn(t("sessions.withdrawn.stopped"), now)) for ask in waiting]
                await self._store.apply(
                    [*withdrawn, *records.ended(session, "stop", Ended("stopped", reason, now, by=by))]
                )
            case AllowDenied() if session.phase == "parked":
                raise WishRefused(t("sessions.denied.unknown"))
            case Interrupt() if session.phase == "parked":
                raise WishRefused(t("sessions.refused.idle"))
            case _ if session.phase == "parked":
                await self._store.apply(records.moved(session, "wake", now))
                return True
            case _ if session.ended is not None:
                raise WishRefused(t("sessions.refused.ended"))
            case _ if session.phase == "queued":
                raise WishRefused(t("sessions.refused.not_running"))
            case Stop(reason) if await self._pool.stop_unheld(session, reason):
                pass
            case _:
                raise WishRefused(t("sessions.refused.lost"))
        return False

    async def _check_cost(self, session: Session) -> None:
        """Refuses before anything is stored, so that the message can be sent again once the limit is raised."""
        project = await self._store.project(session.project) if session.project else None
        if project is not None and ending.is_spent(session.cost_usd, project.options.cost_limit_usd):
            raise WishRefused(ending.refusal(session.cost_usd, project.options.cost_limit_usd, quote(project.name)))

    async def _missed(self, session_id: str) -> list[Say]:
        """People's answers that Claude never received. Rules answer again by themselves."""
        missed = await self._store.asks(session=session_id, undelivered=True)
        answered = [
            (ask, ask.settlement)
            for ask in missed
            if guidance.concerns_claude(ask) and isinstance(ask.settlement, Answered)
        ]
        return [guidance.missed_say(ask, settled) for ask, settled in answered if isinstance(settled.by, Person)]

    async def _enqueue(self, session: Session, say: Say) -> Session:
        await self._keep(session, [say])
        return await self._started(session)

    async def _keep(self, session: Session, says: Sequence[Say]) -> None:
        await self._store.apply([*records.changed(session), *(QueueSay(say) for say in says)])

    async def _started(self, session: Session) -> Session:
        try:
            await self._pool.start_queued()
            return await self._find(session.id)
        except StoreAway:  # it is stored, so it will start
            self._pool.start_later()
            return session

    def _check_runs_here(self) -> None:
        if self._pool.is_gateway:
            raise WishRefused(t("sessions.refused.gateway"))

    async def remove(self, session_id: str, by: Actor) -> Session:
        """Deletes a session that has ended, with its journals. What Claude Code itself wrote stays."""
        session = await self._find(session_id)
        if not (await self._store.apply([RemoveSession(session.id, self._config.clock(), by)])).took[0]:
            raise WishRefused(t("error.session_not_ended"))
        await asyncio.to_thread(shutil.rmtree, self._config.state / "sessions" / session.id, ignore_errors=True)
        return session

    async def _find(self, session_id: str) -> Session:
        session = await self._store.session(session_id)
        if session is None:
            raise NoSuchSession(session_id)
        return session

    def _say(
        self,
        session: str,
        content: Words,
        by: Actor,
        source: str,
        say_id: str | None = None,
    ) -> Say:
        if not titles.text_of(content).strip() and not _has_more_than_text(content):
            raise WishRefused(t("sessions.refused.empty"))
        return Say(say_id or self._config.uuid(), session, content, by, source, self._config.clock())


def _has_more_than_text(content: Words) -> bool:
    return not isinstance(content, str) and any(block.get("type") != "text" for block in content)
