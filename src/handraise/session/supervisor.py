"""What people may want of sessions: start, say, steer, stop, resume, fork."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from handraise.inbox import guidance
from handraise.model import ids
from handraise.model.actors import Actor
from handraise.model.asks import Answered
from handraise.model.projects import Options, Project
from handraise.model.says import Say
from handraise.model.sessions import Ended, Session
from handraise.session.crew import Crew, Means, ended_with
from handraise.session.facts import Speak, Stop, Wish
from handraise.session.machine import Refused
from handraise.store.changes import QueueSay, SaveSession
from handraise.store.interface import Store

_TITLE = 80

Words = str | tuple[dict[str, Any], ...]
"""Text, or blocks as the Messages API takes them."""


class NoSuchSession(Exception):
    """There is no session with this id."""

    def __init__(self, session: str) -> None:
        super().__init__(f"There is no session {session}.")
        self.id = session


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a person wants a new session to be."""

    content: Words
    directory: str
    project: Project | None = None
    mode: str | None = None
    model: str | None = None
    title: str | None = None


class Supervisor:
    """What people may want of sessions. What is wanted is stored before it is done."""

    def __init__(self, means: Means, store: Store, crew: Crew) -> None:
        self._means = means
        self._store = store
        self._crew = crew
        self._resuming = asyncio.Lock()

    async def start(self, beginning: Beginning, by: Actor, source: str) -> Session:
        """A new session, running or queued; what was said first is stored with it."""
        now = self._means.clock()
        options = beginning.project.options if beginning.project else Options()
        session = Session(
            id=ids.spell("s", self._means.entropy(ids.ENTROPY)),
            project=beginning.project.id if beginning.project else beginning.directory,
            directory=beginning.directory,
            claude_id=self._uuid(),
            title=beginning.title or _title(beginning.content),
            created_at=now,
            changed_at=now,
            mode=beginning.mode or options.mode or self._means.options.mode or "default",
            model=beginning.model or options.model or self._means.options.model,
        )
        return await self._enqueue(session, beginning.content, by, source)

    async def fork(self, parent: str, content: Words, by: Actor, source: str) -> Session:
        """A new session that knows what was said in another one."""
        old = await self._find(parent)
        now = self._means.clock()
        session = replace(
            old,
            id=ids.spell("s", self._means.entropy(ids.ENTROPY)),
            claude_id=self._uuid(),
            forked_from=old.id,
            created_at=now,
            changed_at=now,
            phase="queued",
            cost_usd=0.0,
            run=0,
            ended=None,
            stuck_since=None,
        )
        return await self._enqueue(session, content, by, source)

    async def resume(self, session_id: str, content: Words | None, by: Actor, source: str) -> Session:
        """Goes on with a session that has ended. Answers that it did not live to take are passed on first."""
        async with self._resuming:
            session = await self._find(session_id)
            if session.ended is None:
                raise Refused("The session has not ended; just say something.")
            missed = await self._store.asks(session=session_id, undelivered=True)
            says = [guidance.missed_say(ask, ask.settlement) for ask in missed if isinstance(ask.settlement, Answered)]
            revived = replace(session, phase="queued", ended=None, changed_at=self._means.clock())
            return await self._enqueue(revived, content, by, source, says)

    async def say(
        self,
        session_id: str,
        content: Words,
        by: Actor,
        source: str,
        say_id: str | None = None,
    ) -> Say:
        """Stored first, then written; during a turn it steers. The same id again is the same say."""
        session = await self._find(session_id)
        if session.ended is not None:
            raise Refused("The session has ended; resume it first.")
        say = self._say(session_id, content, by, source, say_id)
        await self._store.apply([QueueSay(say)])
        runner = self._crew.runner(session_id)
        if runner is not None:
            await runner.wish(Speak(say))
        return say

    async def wish(self, session_id: str, wish: Wish) -> None:
        """Interrupt, change mode or model, stop; raises Refused."""
        session = await self._find(session_id)
        runner = self._crew.runner(session_id)
        if runner is not None:
            await runner.wish(wish)
        elif session.phase == "queued" and isinstance(wish, Stop):
            await self._store.apply(ended_with(session, Ended("stopped", wish.reason, self._means.clock())))
        elif session.ended is not None:
            raise Refused("The session has ended; resume it first.")
        else:
            raise Refused("The session is not running yet.")

    async def _enqueue(
        self,
        session: Session,
        content: Words | None,
        by: Actor,
        source: str,
        first: Sequence[Say] = (),
    ) -> Session:
        says = [*first, *([self._say(session.id, content, by, source)] if content else [])]
        await self._store.apply([SaveSession(session), *(QueueSay(say) for say in says)])
        await self._crew.start_queued()
        return await self._find(session.id)

    async def _find(self, session_id: str) -> Session:
        session = await self._store.session(session_id)
        if session is None:
            raise NoSuchSession(session_id)
        return session

    def _uuid(self) -> str:
        return str(UUID(bytes=self._means.entropy(16), version=4))

    def _say(
        self,
        session: str,
        content: Words,
        by: Actor,
        source: str,
        say_id: str | None = None,
    ) -> Say:
        return Say(say_id or self._uuid(), session, content, by, source, self._means.clock())


def _title(content: Words) -> str:
    text = content if isinstance(content, str) else " ".join(str(block.get("text", "")) for block in content)
    line = next((line.strip() for line in text.splitlines() if line.strip()), "A session")
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
