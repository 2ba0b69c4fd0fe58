"""The calls of external agents: each opens an ask and waits. An agent that doesn't come back has withdrawn."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from hashlib import sha256
from types import TracebackType
from typing import Any, NamedTuple, Self

from msgspec import Struct
from msgspec.structs import replace

from handraise.agents import tool_calls
from handraise.inbox.considering import Surroundings
from handraise.inbox.inbox import Inbox
from handraise.model import ids
from handraise.model.agent_replies import Reply
from handraise.model.asks import Ask, Origin, Withdrawn
from handraise.model.own_tools import ASK_USER
from handraise.model.projects import Options
from handraise.texts import t

GRACE = 10.0
"""How long an agent may be gone: a relay reconnects within a second."""
_AFTER_RESTART = 3
"""Multiplies the grace period after a restart of the hub: on a busy machine everyone reconnects slowly."""
_BETWEEN_POLLS = 6
PROGRESS = 15.0
"""How often a waiting agent gets progress."""

log = logging.getLogger("handraise.agents")


class Caller(Struct, frozen=True):
    """An external agent. `conversation` is secret, so that nobody else can find its asks."""

    conversation: str
    name: str
    directory: str
    timeout: int | None = None
    """How long `ask_user` waits for this caller; None leaves it to the project."""
    comes_back: bool = True
    """Whether a lost connection is a pause; otherwise it cancels the call."""


class DirectoryContext(NamedTuple):
    """What applies in a directory."""

    project: str | None
    options: Options
    root: str
    """Where the project begins."""


class HubContext(Struct, frozen=True):
    """What calls need from the rest of the hub."""

    clock: Callable[[], datetime]
    whereabouts: Callable[[str], Awaitable[DirectoryContext]]
    surroundings: Callable[[str, DirectoryContext], Surroundings]
    left_open: Callable[[], Awaitable[Sequence[Ask]]]
    """Asks of external agents that an earlier hub left open."""
    trouble: Callable[[], str] = str
    """Why the hub can store nothing, as a sentence; empty if it can."""


Waited = Callable[[float, float | None], Awaitable[None]]
"""Gets how many seconds an agent has waited, and the total."""


class AgentCalls:
    """Entered with `async with`, inside the inbox's. Leaving it leaves every ask as it is, for the next hub.

    A connection lost after `closing` is set doesn't mean that the agent left: the hub did.
    """

    def __init__(
        self,
        inbox: Inbox,
        knowledge: HubContext,
        closing: asyncio.Event,
        *,
        grace: float = GRACE,
        progress: float = PROGRESS,
    ) -> None:
        self._inbox = inbox
        self._knowledge = knowledge
        self._grace = grace
        self._progress = progress
        self._waiting: dict[str, list[asyncio.Future[Ask]]] = defaultdict(list)
        self._present: dict[str, int] = defaultdict(int)
        self._absent: dict[str, asyncio.TimerHandle] = {}
        self._open: dict[str, str | None] = {}
        """Open asks and who raised each; None if only an earlier hub knew."""
        self._withdrawing: set[asyncio.Task[None]] = set()
        self._closing = closing
        self._listening = ExitStack()

    async def __aenter__(self) -> Self:
        self._listening.enter_context(self._inbox.listening(self._ask_settled, None))
        for ask in await self._knowledge.left_open():
            self._open[ask.id] = None
            self._expect(ask.id, self._grace * _AFTER_RESTART)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._listening.close()
        for timer in self._absent.values():
            timer.cancel()
        for task in self._withdrawing:
            task.cancel()
        await asyncio.gather(*self._withdrawing, return_exceptions=True)

    @property
    def trouble(self) -> str:
        """Why nobody can be asked at the moment, as a sentence; empty if there is no known reason."""
        return self._knowledge.trouble()

    async def offers(self, caller: Caller, tool: str) -> bool:
        """Whether a tool is enabled where the caller works."""
        return tool != ASK_USER or bool((await self._where(caller)).options.ask_user_enabled)

    async def call(
        self, caller: Caller, reference: str, tool: str, arguments: dict[str, Any], waited: Waited | None = None
    ) -> Reply:
        """The result of a call, once it is answered. Raises MalformedInput."""
        try:
            # Present before it is raised: a caller that is cancelled in between may have left it open.
            with self.present(ask_id(caller, reference)):
                ask = await self.raise_ask(caller, reference, tool, arguments)
                return tool_calls.result_of(await self.settled(ask, waited))
        except asyncio.CancelledError:
            if not caller.comes_back:
                self.cancel(caller, reference)
            raise

    async def raise_ask(self, caller: Caller, reference: str, tool: str, arguments: dict[str, Any]) -> Ask:
        """Asks people, or finds the earlier ask: the same reference is the same ask. Raises MalformedInput."""
        body = tool_calls.read_call(tool, arguments)
        where = await self._where(caller)
        ask = Ask(
            id=ask_id(caller, reference),
            session=None,
            project=where.project,
            body=body,
            tool=tool_calls.subject(tool, arguments),
            origin=Origin(f"{caller.conversation}/{reference}", request=tool_calls.as_stored(tool, arguments)),
            opened_at=self._knowledge.clock(),
            asker="agent",
            agent=caller.name,
        )
        # Before it is stored: an immediate answer must find it waiting here.
        self._open[ask.id] = caller.conversation
        try:
            stored = await self._inbox.open(ask, self._knowledge.surroundings(caller.directory, where))
            if stored.settlement is None:
                stored = await self._inbox.hold(stored)
        except Exception:
            self._open.pop(ask.id, None)
            raise
        if stored.settlement is not None:
            self._open.pop(ask.id, None)
        return stored

    async def find(self, ask: str) -> Ask:
        """The ask in its current state; raises NoSuchAsk."""
        return await self._inbox.find(ask)

    def is_open(self, ask: str) -> bool:
        """Whether an external agent waits for it."""
        return ask in self._open

    async def settled(self, ask: Ask, waited: Waited | None = None) -> Ask:
        """The ask once it is settled, delivered to the agent."""
        found = await self.awaited(ask, waited)
        await self.hand_over(found)
        return found

    async def hand_over(self, ask: Ask) -> bool:
        """The agent has its result. Returns whether this is the first time."""
        return isinstance(ask.settlement, Withdrawn) or await self._inbox.delivered(ask.id)

    async def awaited(self, ask: Ask, waited: Waited | None = None) -> Ask:
        """The ask once it is settled. A waiting caller is present; if cancelled, it may return within the grace
        period."""
        future: asyncio.Future[Ask] = asyncio.get_running_loop().create_future()
        self._waiting[ask.id].append(future)
        with self.present(ask.id):
            found = await self._inbox.find_for_asker(ask.id)
            if found.settlement is None:
                found = await self._wait(found, future, waited)
        return found

    def seen(self, ask: str) -> None:
        """An agent polled for it and will do so again: restarts the grace period, which is longer."""
        self._forget(ask)
        self._expect(ask, self._grace * _BETWEEN_POLLS)

    @contextmanager
    def present(self, ask: str) -> Iterator[None]:
        """An agent waits for the ask while this is entered."""
        self._present[ask] += 1
        self._forget(ask)
        try:
            yield
        finally:
            self._present[ask] -= 1
            if not self._present[ask]:
                del self._present[ask]
                self._expect(ask)

    def cancel(self, caller: Caller, reference: str) -> None:
        """The agent no longer wants the result."""
        ask = ask_id(caller, reference)
        if ask in self._open and not self._closing.is_set():
            self._withdraw(ask, t("sessions.withdrawn.agent_cancelled"))

    def leave(self, caller: Caller) -> None:
        """The agent is gone for good, with all conversations that are part of its own."""
        if self._closing.is_set():
            return
        inside = f"{caller.conversation}/"
        for ask in [ask for ask, asker in self._open.items() if asker and f"{asker}/".startswith(inside)]:
            self._withdraw(ask, t("sessions.withdrawn.agent_gone"))

    async def _where(self, caller: Caller) -> DirectoryContext:
        found = await self._knowledge.whereabouts(caller.directory)
        if caller.timeout is None:
            return found
        return found._replace(options=replace(found.options, ask_user_timeout=caller.timeout))

    async def _wait(self, ask: Ask, future: asyncio.Future[Ask], waited: Waited | None) -> Ask:
        # Counts from when it was opened, so that progress keeps growing when an agent reconnects, even to another hub.
        total = (ask.expires_at - ask.opened_at).total_seconds() if ask.expires_at else None
        while True:
            done, _ = await asyncio.wait([future], timeout=self._progress)
            if done:
                return future.result()
            if waited is not None:
                await waited((self._knowledge.clock() - ask.opened_at).total_seconds(), total)

    def _ask_settled(self, ask: Ask) -> None:
        self._forget(ask.id)
        self._open.pop(ask.id, None)
        for future in self._waiting.pop(ask.id, []):
            if not future.done():
                future.set_result(ask)

    def _expect(self, ask: str, grace: float | None = None) -> None:
        """Nobody waits for it: it is withdrawn unless an agent comes back."""
        self._waiting.pop(ask, None)
        if ask not in self._open or self._closing.is_set():
            return
        loop = asyncio.get_running_loop()
        reason = t("sessions.withdrawn.agent_away")
        self._absent[ask] = loop.call_later(grace or self._grace, self._withdraw, ask, reason)

    def _forget(self, ask: str) -> None:
        timer = self._absent.pop(ask, None)
        if timer is not None:
            timer.cancel()

    def _withdraw(self, ask: str, reason: str) -> None:
        self._forget(ask)
        task = asyncio.get_running_loop().create_task(self._inbox.leave(ask, reason))
        self._withdrawing.add(task)
        task.add_done_callback(self._withdrawn)

    def _withdrawn(self, task: asyncio.Task[None]) -> None:
        self._withdrawing.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("could not withdraw an ask; it stays until it expires", exc_info=task.exception())


def ask_id(caller: Caller, reference: str) -> str:
    """The same call of the same conversation always has the same id."""
    return ids.spell("a", sha256(f"{caller.conversation}/{reference}".encode()).digest())
