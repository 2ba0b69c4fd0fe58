"""Holds every open ask, settles each one once, and tells whoever waits. The store's conditional update is the truth."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from types import TracebackType
from typing import NamedTuple, Self

from msgspec.structs import replace

from handraise.inbox import considering, guidance
from handraise.inbox.considering import Objection, Surroundings
from handraise.inbox.deadlines import Deadlines
from handraise.inbox.errors import AlreadySettled, AlreadyWithdrawn, NoSuchAsk, NotWhatWasShown, RuleUnreadable
from handraise.model import fit
from handraise.model.actors import Actor
from handraise.model.answers import Answer
from handraise.model.asks import Answered, Ask, Expired, Withdrawn
from handraise.model.rules import Rule
from handraise.policy.patterns import read_pattern
from handraise.store.changes import DeliverAsk, OpenAsk, QueueSay, RecordLate, RemoveRule, SaveRule, SettleAsk
from handraise.store.interface import Store, StoreError

_TRY_AGAIN = 1.0
_LONGEST_SLEEP = 30.0
"""The machine may sleep, which no timer sees: deadlines are looked at again after this long."""

log = logging.getLogger("handraise.inbox")

Told = Callable[[Ask], None]


class Outcome(NamedTuple):
    """An answer that counted. A late one is guidance, and is said to Claude."""

    ask: Ask
    late: bool = False


def check_readable(rules: Iterable[Rule]) -> None:
    """Raises RuleUnreadable for a command that means nothing to anybody."""
    for rule in rules:
        if rule.command is not None and read_pattern(rule.command) is None:
            raise RuleUnreadable(rule)


class Inbox:
    """Entered with `async with`, inside the store's own."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        settings: Sequence[Rule] = (),
        elapsed: Callable[[], float] | None = None,
    ) -> None:
        """`elapsed` counts seconds whatever the clock is set to; without it, patience goes by the clock."""
        self._store = store
        self._clock = clock
        self._elapsed = elapsed or (lambda: clock().timestamp())
        self._settings = tuple(settings)
        self._rules: tuple[Rule, ...] = ()
        self._deadlines = Deadlines()
        self._changed = asyncio.Event()
        self._askers: dict[str | None, Told] = {}
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.read_rules()
        for ask in await self._store.asks(state="open"):
            self.opened(ask)
        self._watch = asyncio.create_task(self._expire_for_ever())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watch is not None:
            self._watch.cancel()
            with suppress(asyncio.CancelledError):
                await self._watch

    @property
    def rules(self) -> tuple[Rule, ...]:
        """In the order in which they are tried: those of projects, of the settings, and those that people made."""
        return self._rules

    def tell(self, session: str | None, told: Told) -> None:
        """Calls back with every ask of this asker that is settled; None is for askers outside."""
        self._askers[session] = told

    def tell_no_more(self, session: str | None) -> None:
        self._askers.pop(session, None)

    def consider(self, ask: Ask, surroundings: Surroundings) -> Ask:
        """The ask as it goes into the store: settled by a rule, or open, with what a person needs to decide."""
        return considering.consider(ask, surroundings, self.rules, self._clock())

    def objects(self, ask: Ask, surroundings: Surroundings) -> Objection | None:
        """What the rules have against a call that nobody was asked about. From memory: Claude waits for it."""
        return considering.objects(ask, surroundings, self.rules, self._clock())

    def opened(self, ask: Ask) -> None:
        """The ask is in the store: its patience runs from here."""
        if ask.settlement is None and ask.expires_at is not None:
            left = (ask.expires_at - self._clock()).total_seconds()
            self._deadlines.add(ask.id, self._elapsed() + left)
            self._changed.set()

    def closed(self, ask: str) -> None:
        """The ask is settled in the store."""
        self._deadlines.remove(ask)

    async def open(self, ask: Ask, surroundings: Surroundings) -> Ask:
        """For an asker outside: puts it to people, or has a rule answer. The same reference is the same ask."""
        considered = self.consider(ask, surroundings)
        await self._store.apply([OpenAsk(considered)])
        stored = await self.find(ask.id)
        self.opened(stored)
        return stored

    async def find(self, ask_id: str) -> Ask:
        """The ask as it is stored; raises NoSuchAsk."""
        ask = await self._store.ask(ask_id)
        if ask is None:
            raise NoSuchAsk(ask_id)
        return ask

    async def delivered(self, ask_id: str) -> bool:
        """For an asker outside: it has its answer. Whether it had not had it before."""
        applied = await self._store.apply([DeliverAsk(ask_id, self._clock())])
        return applied.took[0]

    async def answer(self, ask_id: str, answer: Answer, by: Actor, source: str, digest: str | None = None) -> Outcome:
        """Settles the ask, if it fits and is the first. Raises Misfit or an InboxError, and then nothing happened."""
        ask = await self.find(ask_id)
        if digest is not None and digest != ask.digest:
            raise NotWhatWasShown(ask)
        fit.check(ask.body, answer)
        answered = Answered(answer, by, source, self._clock())
        if ask.settlement is None:
            granted = considering.standing_rules(ask, answered)
            applied = await self._store.apply([SettleAsk(ask_id, answered, granted)])
            ask = await self.find(ask_id)
            if applied.took[0]:
                if granted:
                    await self.read_rules()
                self._settled(ask)
                return Outcome(ask)
        return await self._too_late(ask, answered)

    async def withdraw(self, ask_id: str, reason: str) -> None:
        """The asker no longer waits."""
        applied = await self._store.apply([SettleAsk(ask_id, Withdrawn(reason, self._clock()))])
        if applied.took[0]:
            self._settled(await self.find(ask_id))

    async def expire(self) -> None:
        """Ends the patience of every ask whose time has come."""
        for ask_id in self._deadlines.due(self._elapsed()):
            applied = await self._store.apply([SettleAsk(ask_id, Expired(self._clock()))])
            self._deadlines.remove(ask_id)
            if applied.took[0]:
                self._settled(await self.find(ask_id))

    async def save_rule(self, rule: Rule) -> None:
        """Raises RuleUnreadable."""
        check_readable([rule])
        await self._store.apply([SaveRule(rule)])
        await self.read_rules()

    async def remove_rule(self, rule: str) -> bool:
        """Whether there was one; what is in the settings is changed there."""
        applied = await self._store.apply([RemoveRule(rule)])
        await self.read_rules()
        return applied.took[0]

    async def read_rules(self) -> None:
        """After a project has changed, too: its rules hold from here on, also for sessions that run."""
        projects = await self._store.projects()
        ids = {getattr(project, key): project.id for key in ("path", "name", "id") for project in projects}
        others = [replace(rule, project=ids.get(rule.project or "", rule.project)) for rule in await self._general()]
        self._rules = (*(rule for project in projects for rule in project.rules), *others)

    async def _general(self) -> list[Rule]:
        return [*self._settings, *await self._store.rules()]

    async def _too_late(self, ask: Ask, answered: Answered) -> Outcome:
        match ask.settlement:
            case Answered(answer=first) if first == answered.answer:
                return Outcome(ask)
            case Expired(late=None):
                return await self._say_late(ask, answered)
            case Expired(late=Answered(answer=first)) if first == answered.answer:
                return Outcome(ask, late=True)
            case Withdrawn():
                raise AlreadyWithdrawn(ask)
            case _:
                raise AlreadySettled(ask)

    async def _say_late(self, ask: Ask, answered: Answered) -> Outcome:
        # Trust is for the next start; Claude itself never asked.
        said = [QueueSay(guidance.late_say(ask, answered))] if ask.session and ask.kind != "trust" else []
        applied = await self._store.apply([RecordLate(ask.id, answered), *said])
        stored = await self.find(ask.id)
        if not applied.took[0]:
            return await self._too_late(stored, answered)
        self._settled(stored)
        return Outcome(stored, late=True)

    def _settled(self, ask: Ask) -> None:
        self._deadlines.remove(ask.id)
        told = self._askers.get(ask.session)
        if told is not None:
            told(ask)

    async def _expire_for_ever(self) -> None:
        while True:
            wait = self._deadlines.seconds_to_next(self._elapsed())
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LONGEST_SLEEP if wait is None else min(wait, _LONGEST_SLEEP)):
                    await self._changed.wait()
            try:
                await self.expire()
            except StoreError:
                log.exception("an ask could not be expired; it is tried again")
                await asyncio.sleep(_TRY_AGAIN)
