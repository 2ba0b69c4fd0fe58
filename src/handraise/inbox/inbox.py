"""Settles each ask once. Deadlines and listeners follow what the store committed, not who applied the change."""

import asyncio
import heapq
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from handraise.inbox import considering, guidance
from handraise.inbox.considering import Objection, Preparation, Surroundings
from handraise.inbox.errors import AlreadySettled, AlreadyWithdrawn, NoSuchAsk, NotWhatWasShown, RuleUnreadable
from handraise.model import fit
from handraise.model.actors import Actor
from handraise.model.answers import Answer
from handraise.model.asks import AcceptedAnswer, Answered, Ask, Expired, Settlement, Withdrawn, is_dialog
from handraise.model.machines import LEASE
from handraise.model.rules import Rule
from handraise.policy.patterns import read_pattern
from handraise.store.changes import DeliverAsk, HoldAsk, OpenAsk, QueueSay, RecordLate, RemoveRule, SaveRule, SettleAsk
from handraise.store.interface import Store, StoreAway, StoreClosed, StoreError, StoreFenced
from handraise.store.waiting import insist

log = logging.getLogger("handraise.inbox")

OnSettled = Callable[[Ask], None]
_TRY_AGAIN = 1.0
_LONGEST_SLEEP = 30.0
"""Timers don't notice that the machine sleeps: deadlines are checked again after this long."""
_LOOK_AGAIN = LEASE.total_seconds()
"""How often an ask of another machine that is overdue is looked at: its own hub expires it, unless that is away."""


class Deadlines:
    """A heap; removed entries are skipped when they come up."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, str]] = []
        self._live: dict[str, float] = {}

    def add(self, ask: str, at: float) -> None:
        self._live[ask] = at
        heapq.heappush(self._heap, (at, ask))

    def remove(self, ask: str) -> None:
        self._live.pop(ask, None)

    def due(self, now: float) -> list[str]:
        """The asks that are due; they stay until they are removed."""
        self._skip_removed()
        return sorted((ask for ask, at in self._live.items() if at <= now), key=lambda ask: self._live[ask])

    def seconds_to_next(self, now: float) -> float | None:
        """How long to sleep; None if nothing has a deadline."""
        self._skip_removed()
        return max(0.0, self._heap[0][0] - now) if self._heap else None

    def _skip_removed(self) -> None:
        while self._heap and self._live.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)


def check_readable(rules: Iterable[Rule]) -> None:
    """Raises RuleUnreadable for a command that can't be parsed."""
    for rule in rules:
        if rule.command is not None and read_pattern(rule.command) is None:
            raise RuleUnreadable(rule)


class Inbox:
    """Entered with `async with`, inside the store's."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        settings: Sequence[Rule] = (),
        elapsed: Callable[[], float] | None = None,
    ) -> None:
        """`elapsed` counts seconds even if the clock is set; without it, timeouts follow the clock."""
        self._store = store
        self._clock = clock
        self._elapsed = elapsed or (lambda: clock().timestamp())
        self._settings = tuple(settings)
        self._rules: tuple[Rule, ...] = ()
        self._rules_here: tuple[Rule, ...] = ()
        self._reading = asyncio.Lock()
        """Held while rules are read: what was read first must not replace what was read last."""
        self._deadlines = Deadlines()
        self._elsewhere: dict[str, str] = {}
        """Asks with a deadline that another machine's hub has to keep, and that machine."""
        self._changed = asyncio.Event()
        self._outdated = asyncio.Event()
        self._listeners: list[tuple[tuple[str | None, ...], OnSettled]] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._store.listen_to_rules(self._outdated.set)
        await self.read_rules()
        self._store.listen_to_asks(self._committed)
        now = await self._time_of_store()
        for ask in await self._store.asks(state="open"):
            self._found(ask, now)
        self._tasks = [asyncio.create_task(self._keep_expiring()), asyncio.create_task(self._keep_reading_rules())]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """In the order they are tried: those of projects, of the settings, and those that people made.

        Rules for directories on other machines are among them; they never apply here.
        """
        return self._rules

    @contextmanager
    def listening(self, on_settled: OnSettled, *askers: str | None) -> Iterator[None]:
        """Calls back with every ask that is settled or answered late, once that is committed.

        `askers` are sessions, or None for external agents; without any, it is called for all asks.
        """
        listener = (askers, on_settled)
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def consider(self, ask: Ask, surroundings: Surroundings, prepared: Preparation | None = None) -> Ask:
        """The ask as it will be stored: settled by a rule, or open, with what a person needs to decide."""
        ours = replace(ask, machine=ask.machine or self._store.machine)
        return considering.consider(ours, surroundings, self._rules_here, self._clock(), prepared)

    def objects(self, ask: Ask, surroundings: Surroundings) -> Objection | None:
        """The rules' objection to a call that nobody was asked about. From memory: Claude is waiting."""
        return considering.objects(ask, surroundings, self._rules_here, self._clock())

    def prepare(self, ask: Ask, surroundings: Surroundings) -> Preparation | None:
        """What `consider` needs if Claude asks about this call next, as it does a few milliseconds after a check."""
        return considering.prepare(ask, surroundings)

    async def open(self, ask: Ask, surroundings: Surroundings) -> Ask:
        """Asks people, or lets a rule answer. The same reference is the same ask.

        Waits for a database that is away, as the asker does. An asker with more to store applies
        `OpenAsk(consider(…))` in its own batch, to the same effect.
        """
        applied = await insist(lambda: self._store.apply([OpenAsk(self.consider(ask, surroundings))]), log)
        return applied.asks[0] if applied.asks else await self.find_for_asker(ask.id)

    async def find_for_asker(self, ask_id: str) -> Ask:
        """Like `find`, for one that waits anyway: it also waits for a database that is away."""
        return await insist(lambda: self.find(ask_id), log)

    async def find(self, ask_id: str) -> Ask:
        """The ask as stored; raises NoSuchAsk."""
        ask = await self._store.ask(ask_id)
        if ask is None:
            raise NoSuchAsk(ask_id)
        return ask

    async def hold(self, ask: Ask) -> Ask:
        """The asker waits here from now on: an ask of another machine's hub becomes this one's."""
        if self._is_here(ask.machine):
            return ask
        held = HoldAsk(ask.id, self._store.machine, self._clock())
        applied = await insist(lambda: self._store.apply([held]), log)
        return applied.asks[0] if applied.asks else await self.find_for_asker(ask.id)

    async def leave(self, ask_id: str, reason: str) -> None:
        """The asker no longer waits here. Withdraws the ask, unless it waits at another machine's hub."""
        ask = await insist(lambda: self._store.ask(ask_id), log)
        # One that isn't there yet may be on its way.
        if ask is None or self._is_here(ask.machine):
            await self.withdraw(ask_id, reason)

    async def delivered(self, ask_id: str) -> bool:
        """The asker has its answer. Returns whether this is the first time; waits for a database that is away."""
        applied = await insist(lambda: self._store.apply([DeliverAsk(ask_id, self._clock())]), log)
        return applied.took[0]

    async def answer(
        self, ask_id: str, answer: Answer, by: Actor, source: str, digest: str | None = None
    ) -> AcceptedAnswer:
        """Settles the ask if the answer fits and is the first. Raises Misfit or an InboxError, and changes nothing."""
        return await self.answer_to(await self.find(ask_id), answer, by, source, digest)

    async def answer_to(
        self, ask: Ask, answer: Answer, by: Actor, source: str, digest: str | None = None
    ) -> AcceptedAnswer:
        """The same for an ask that was just read. Whether it is still open is decided when it is stored."""
        if digest is not None and digest != ask.digest:
            raise NotWhatWasShown(ask)
        fit.check(ask.body, answer)
        answered = Answered(answer, by, source, self._clock())
        if ask.settlement is None:
            granted = considering.standing_rules(ask, answered)
            applied = await self._store.apply([SettleAsk(ask.id, answered, granted)])
            if applied.asks:
                if granted:
                    await self.read_rules()
                return AcceptedAnswer(applied.asks[0])
            ask = await self.find(ask.id)
        return await self._too_late(ask, answered)

    async def withdraw(self, ask_id: str, reason: str) -> None:
        """The asker no longer waits. Waits for a database that is away."""
        await insist(lambda: self._store.apply([SettleAsk(ask_id, Withdrawn(reason, self._clock()))]), log)

    async def expire(self) -> None:
        """Expires every ask that is due: our own, and those of machines that are away."""
        due = self._deadlines.due(self._elapsed())
        online = await self._online() if any(ask in self._elsewhere for ask in due) else frozenset()
        for ask_id in due:
            if self._elsewhere.get(ask_id) in online:
                self._deadlines.add(ask_id, self._elapsed() + _LOOK_AGAIN)
                continue
            await self._store.apply([SettleAsk(ask_id, Expired(self._clock()))])
            self._forget(ask_id)

    async def save_rule(self, rule: Rule) -> None:
        """Raises RuleUnreadable."""
        check_readable([rule])
        await self._store.apply([SaveRule(rule)])
        await self.read_rules()

    async def remove_rule(self, rule: str) -> bool:
        """Returns whether there was one. Rules in the settings are changed there."""
        applied = await self._store.apply([RemoveRule(rule)])
        await self.read_rules()
        return applied.took[0]

    async def read_rules(self) -> None:
        """Also called after a project has changed: its rules apply immediately, to running sessions too."""
        async with self._reading:
            projects = await self._store.projects()
            # A project without a directory on this machine has an empty path, which names nothing.
            ids = {getattr(each, key): each.id for key in ("path", "name", "id") for each in projects}
            ids.pop("", None)
            others = [self._in_project(rule, ids) for rule in [*self._settings, *await self._store.rules()]]
            self._use([*(rule for project in projects for rule in project.rules), *others])

    def _in_project(self, rule: Rule, ids: dict[str, str]) -> Rule:
        """With the project's ID, however it is named. A directory on another machine is no project of ours."""
        if rule.project is None or not self._is_here(rule.machine):
            return rule
        return replace(rule, project=ids.get(rule.project, rule.project))

    def _use(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._rules_here = tuple(rule for rule in self._rules if self._is_here(rule.machine))

    def _is_here(self, machine: str) -> bool:
        return machine in ("", self._store.machine)

    async def _keep_reading_rules(self) -> None:
        """Rules that were changed through another hub apply here as well, as soon as they can be read."""
        while True:
            await self._outdated.wait()
            self._outdated.clear()
            try:
                await self.read_rules()
            except StoreClosed:
                return
            except StoreError as error:
                log.warning("rules of another hub could not be read, and are tried again: %s", error)
                self._outdated.set()
                await asyncio.sleep(_TRY_AGAIN)

    async def _too_late(self, ask: Ask, answered: Answered) -> AcceptedAnswer:
        match ask.settlement:
            case Answered(answer=first) if first == answered.answer:
                return AcceptedAnswer(ask)
            case Expired(late=None) if not is_dialog(ask.body):
                return await self._say_late(ask, answered)
            case Expired(late=Answered(answer=first)) if first == answered.answer:
                return AcceptedAnswer(ask, late=True)
            case Withdrawn():
                raise AlreadyWithdrawn(ask)
            case _:
                raise AlreadySettled(ask)

    async def _say_late(self, ask: Ask, answered: Answered) -> AcceptedAnswer:
        # Trust is for the next start; Claude itself never asked.
        follow_up = [QueueSay(guidance.late_say(ask, answered))] if ask.session and ask.kind != "trust" else []
        applied = await self._store.apply([RecordLate(ask.id, answered), *follow_up])
        if applied.asks:
            return AcceptedAnswer(applied.asks[0], late=True)
        return await self._too_late(await self.find(ask.id), answered)

    def _committed(self, asks: Sequence[Ask]) -> None:
        for ask in asks:
            if ask.settlement is None:
                self._opened(ask)
            else:
                self._settled(ask, ask.settlement)

    def _opened(self, ask: Ask) -> None:
        """Starts its timeout. For another machine's, only how long it may take counts: its clock may be wrong."""
        if ask.expires_at is not None:
            since = self._clock() if self._is_here(ask.machine) else ask.opened_at
            self._await(ask, (ask.expires_at - since).total_seconds())

    def _found(self, ask: Ask, now: datetime) -> None:
        """Continues its timeout; `now` is the store's time."""
        if ask.expires_at is not None:
            at = self._clock() if self._is_here(ask.machine) else now
            self._await(ask, (ask.expires_at - at).total_seconds())

    def _await(self, ask: Ask, seconds: float) -> None:
        if self._is_here(ask.machine):
            self._elsewhere.pop(ask.id, None)
        else:
            self._elsewhere[ask.id] = ask.machine
        self._deadlines.add(ask.id, self._elapsed() + seconds)
        self._changed.set()

    def _forget(self, ask: str) -> None:
        self._deadlines.remove(ask)
        self._elsewhere.pop(ask, None)

    async def _online(self) -> frozenset[str]:
        return frozenset(each.id for each in await self._store.machines() if each.away_since is None)

    async def _time_of_store(self) -> datetime:
        """As machines were seen last: clocks of machines may differ by minutes. Ours if there are none."""
        return max((each.seen_at for each in await self._store.machines()), default=self._clock())

    def _settled(self, ask: Ask, settlement: Settlement) -> None:
        self._forget(ask.id)
        if isinstance(settlement, Answered):
            # In force before Claude receives the answer: they may cover its next call.
            granted = considering.standing_rules(ask, settlement)
            if granted:
                self._use([*self._rules, *granted])
        for askers, on_settled in tuple(self._listeners):
            if not askers or ask.session in askers:
                try:
                    on_settled(ask)
                except Exception:  # a failing listener must not keep the answer from the others
                    log.exception("ask %s: a listener failed", ask.id)

    async def _keep_expiring(self) -> None:
        while True:
            wait = self._deadlines.seconds_to_next(self._elapsed())
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LONGEST_SLEEP if wait is None else min(wait, _LONGEST_SLEEP)):
                    await self._changed.wait()
            try:
                await self.expire()
            except (StoreFenced, StoreClosed):
                return
            except StoreAway as error:
                log.warning("deadlines wait: %s", error)
                await asyncio.sleep(_TRY_AGAIN)
            except StoreError:
                log.exception("an ask could not be expired; it is tried again")
                await asyncio.sleep(_TRY_AGAIN)
