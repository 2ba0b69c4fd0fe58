"""A hub without Claude that can be stopped and started again; asks are written straight to its store."""

import asyncio
import itertools
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing, nullcontext
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import apsw
import msgspec

from handraise.hub.hub import now
from handraise.model.actors import Person
from handraise.model.answers import Answer
from handraise.model.asks import AcceptedAnswer, Answered, Ask, Body, Origin, Settlement, Withdrawn, kind_of
from handraise.model.sessions import Session
from handraise.serving.serve import RunningHub, ServeConfig, serving
from handraise.store.changes import DeliverAsk, OpenAsk, RecordLate, SaveSession, SettleAsk

BEN = Person("ben")
DEADLINE = 60.0


class SurfaceHub:
    """Entered with `async with`. Its session is `s_1`; `beside` runs while the hub does."""

    def __init__(
        self, config: ServeConfig, beside: Callable[[RunningHub], AbstractAsyncContextManager[object]] = nullcontext
    ) -> None:
        self.config = config
        self._beside = beside
        self._numbers = itertools.count(1)
        self._up: RunningHub | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._open: list[str] = []

    async def __aenter__(self) -> Self:
        await self.start()
        session = Session("s_1", None, "/work/app", "claude-1", "Fix the tests", now(), now(), "idle")
        await self.up.hub.store.apply([SaveSession(session)])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def up(self) -> RunningHub:
        assert self._up is not None
        return self._up

    async def start(self) -> None:
        """At the same address and on the same state as before."""
        self._stopping.clear()
        ready = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(ready))
        async with asyncio.timeout(DEADLINE):
            await asyncio.wait([ready, self._task], return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            await self._task
        self._up = ready.result()

    async def stop(self) -> None:
        self._stopping.set()
        if self._task is not None:
            await self._task
        self._up = None

    async def _run(self, ready: "asyncio.Future[RunningHub]") -> None:
        """In its own task: a test may stop what another one started."""
        async with serving(self.config) as up, self._beside(up):
            ready.set_result(up)
            await self._stopping.wait()

    async def open(self, body: Body, *, outlives: bool = False, patience: float | None = None, why: str = "") -> Ask:
        """Another ask of the session; of an external agent, if it has to outlive the hub."""
        name = f"a_{next(self._numbers)}"
        session = None if outlives else "s_1"
        asker: Any = "agent" if outlives else "session"
        expires = now() + timedelta(seconds=patience) if patience is not None else None
        ask = Ask(name, session, None, body, "Tool", Origin(name), now(), asker, why=why, expires_at=expires)
        await self.up.hub.store.apply([OpenAsk(ask)])
        self._open.append(name)
        return ask

    async def settle(self, ask: Ask, settlement: Settlement) -> Ask:
        await self.up.hub.store.apply([SettleAsk(ask.id, settlement)])
        return await self.find(ask)

    async def replace(self, ask: Ask, body: Body) -> None:
        """Another request under the same name, as after a state folder was restored from a backup."""
        text = msgspec.json.encode(body).decode()
        # The hub's own library: closing a file in another one would drop its locks.
        with closing(apsw.Connection(str(self.config.state / "hub.db"))) as database:
            database.set_busy_timeout(round(DEADLINE * 1000))
            database.execute("UPDATE asks SET kind = ?, body = ? WHERE id = ?", (kind_of(body), text, ask.id))

    async def answer_late(self, ask: Ask, answered: Answered) -> Ask:
        await self.up.hub.store.apply([RecordLate(ask.id, answered)])
        return await self.find(ask)

    async def deliver(self, ask: Ask) -> Ask:
        await self.up.hub.store.apply([DeliverAsk(ask.id, now())])
        return await self.find(ask)

    async def answer(self, ask: Ask, answer: Answer, source: str) -> AcceptedAnswer:
        """By ben, from somewhere else."""
        return await self.up.hub.desk.seat(BEN, source).answer(ask.id, answer, ask.digest)

    async def find(self, ask: Ask) -> Ask:
        return await self.up.hub.desk.ask(ask.id)

    async def settled(self, ask: Ask) -> Ask:
        """As soon as it is answered, or answered late."""
        async with asyncio.timeout(DEADLINE):
            while not isinstance(answered_in(found := await self.find(ask)), Answered):
                await asyncio.sleep(0.01)
        return found

    async def answers(self, ask: Ask) -> int:
        """How often it was answered."""
        return sum(each.what == "answered" for each in await self.up.hub.desk.audit(ask=ask.id))

    async def clear(self) -> None:
        """Withdraws what is still open."""
        for name in self._open:
            await self.up.hub.store.apply([SettleAsk(name, Withdrawn("the test is over", now()))])
        self._open.clear()


def answered_in(ask: Ask) -> Answered | None:
    """The answer of an ask, in time or late."""
    settlement = ask.settlement
    return settlement if isinstance(settlement, Answered) else getattr(settlement, "late", None)


def quiet_config(tmp: Path, **settings: Any) -> ServeConfig:
    """A hub that can't run Claude."""
    return ServeConfig(tmp / "state", Path("/bin/false"), {}, **settings)
