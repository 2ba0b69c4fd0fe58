"""The store over dicts: a batch works on a copy of the shelves, which replaces them if every change succeeds."""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from itertools import islice
from types import TracebackType
from typing import Self, TypeVar, Unpack

from msgspec import Struct, field

from handraise.model.asks import Ask, Kind, State
from handraise.model.audit import FIRST, AuditFilter, Entry
from handraise.model.instructions import Instruction
from handraise.model.items import Item, Preview
from handraise.model.machines import Machine
from handraise.model.projects import Project
from handraise.model.rules import Rule
from handraise.model.search import Query, SearchHit, find_in
from handraise.model.sessions import Checkpoint, Phase, Say, Session
from handraise.model.tokens import Token
from handraise.model.trust import DirectoryTrust
from handraise.store.changes import Applied, Change, changes_rules
from handraise.store.interface import (
    AskListener,
    Listener,
    LookupServer,
    PreviewListener,
    RuleListener,
    StoreClosed,
    StoreError,
    StoreFenced,
    Unanswered,
)
from handraise.store.memory.shelves import Shelves, is_undelivered, seen_from
from handraise.store.surrogates import mended
from handraise.texts import t

T = TypeVar("T")


class Listeners(Struct, eq=False):
    """Everything that one store calls back."""

    items: list[Listener] = field(default_factory=list)
    asks: list[AskListener] = field(default_factory=list)
    rules: list[RuleListener] = field(default_factory=list)
    previews: list[PreviewListener] = field(default_factory=list)
    wanted: frozenset[str] = frozenset()
    """The sessions whose previews it wants."""
    serves: Callable[[str], LookupServer | None] = lambda _machine: None
    """What answers lookups for a machine, if this store has it."""


class MemoryDatabase:
    """What several stores share, in one process and event loop. `clock` is its own, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.shelves = Shelves()
        self.everyone: list[Listeners] = []
        self.leases: dict[str, tuple[Listeners, float]] = {}
        """Who has each, and until when."""


class MemoryStore:
    """See `Store`."""

    def __init__(self, machine: str = "", database: MemoryDatabase | None = None) -> None:
        self.machine = machine
        self.shared = database is not None
        self._database = database or MemoryDatabase()
        self._epoch: int | None = None
        self._own = Listeners()
        self._open = False

    async def __aenter__(self) -> Self:
        self._open = True
        self._database.everyone.append(self._own)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        self._database.everyone.remove(self._own)

    def listen(self, listener: Listener) -> None:
        self._own.items.append(listener)

    def listen_to_asks(self, listener: AskListener) -> None:
        self._own.asks.append(listener)

    def listen_to_coming_asks(self, listener: AskListener) -> None:
        pass

    def listen_to_rules(self, listener: RuleListener) -> None:
        self._own.rules.append(listener)

    def listen_to_previews(self, listener: PreviewListener) -> None:
        self._own.previews.append(listener)

    def preview(self, preview: Preview) -> None:
        for other in self._others():
            for listener in other.previews if preview.session in other.wanted else ():
                asyncio.get_running_loop().call_soon(listener, preview)

    def want_previews(self, sessions: Collection[str]) -> None:
        self._own.wanted = frozenset(sessions)

    async def look_up(self, machine: str, question: bytes, seconds: float) -> bytes:
        there = self._contents().machines.get(machine)
        if not self.shared or there is None or there.away_since is not None:
            raise Unanswered("away")
        serving = next((serve for other in self._others() if (serve := other.serves(machine)) is not None), None)
        if serving is None:
            raise Unanswered("silent")
        try:
            async with asyncio.timeout(seconds):
                return await serving(question)
        except Exception as error:  # as over a real database: nobody says what went wrong there
            raise Unanswered("silent") from error

    def serve_lookups(self, serve: LookupServer) -> None:
        self._own.serves = lambda machine: serve if self._has(machine) else None

    async def claim(self, machine: Machine) -> Machine:
        claimed = await self._commit(lambda shelves: shelves.claim(machine))
        self._epoch = claimed.epoch
        return claimed

    async def beat(self, at: datetime) -> datetime:
        self._check_epoch()
        await self._commit(lambda shelves: shelves.beat(self.machine, at))
        return at

    async def release(self, at: datetime) -> None:
        if self._epoch is not None and not self._is_fenced():
            await self._commit(lambda shelves: shelves.release(self.machine, at))

    async def machines(self) -> list[Machine]:
        return sorted(self._contents().machines.values(), key=lambda machine: machine.name)

    async def instruction(self, instruction: str) -> Instruction | None:
        return self._contents().instructions.get(instruction)

    async def instructions(
        self, *, machine: str | None = None, session: str | None = None, unsettled: bool = True
    ) -> list[Instruction]:
        return [
            each
            for each in self._contents().instructions.values()
            if machine in (None, each.machine)
            and session in (None, each.session)
            and not (unsettled and each.is_settled)
        ]

    async def apply(self, changes: Sequence[Change]) -> Applied:
        self._check_epoch()

        def take(shelves: Shelves) -> Applied:
            took = tuple([shelves.take(mended(change), self.machine) for change in changes])
            return Applied(took, tuple(shelves.published), tuple(shelves.changed_asks))

        applied = await self._commit(take)
        if any(changes_rules(change) for change in changes):
            for listener in [each for other in self._others() for each in other.rules]:
                listener()
        return applied

    async def _commit(self, work: Callable[[Shelves], T]) -> T:
        shelves = self._contents().copy()
        result = work(shelves)
        items, asks = tuple(shelves.published), tuple(shelves.changed_asks)
        self._database.shelves = shelves
        loop = asyncio.get_running_loop()
        for each in self._database.everyone:
            for on_asks in each.asks if asks else ():
                loop.call_soon(on_asks, asks)
            for on_items in each.items if items else ():
                loop.call_soon(on_items, items)
        await asyncio.sleep(0)  # listeners run first
        return result

    def _others(self) -> list[Listeners]:
        return [each for each in self._database.everyone if each is not self._own]

    def _is_fenced(self) -> bool:
        return self._epoch is not None and self._contents().machines[self.machine].epoch != self._epoch

    def _has(self, machine: str) -> bool:
        try:
            return machine == self.machine and not self._is_fenced()
        except StoreError:
            return False

    def _check_epoch(self) -> None:
        if self._is_fenced():
            raise StoreFenced(t("error.store.fenced"), t("error.store.unfence"))

    async def session(self, session: str) -> Session | None:
        return self._contents().sessions.get(session)

    async def sessions(self, phases: Sequence[Phase] | None = None) -> list[Session]:
        found = [each for each in self._contents().sessions.values() if phases is None or each.phase in phases]
        return sorted(found, key=lambda session: session.created_at)[::-1]

    async def checkpoint(self, session: str) -> Checkpoint | None:
        return self._contents().checkpoints.get(session)

    async def ask(self, ask: str) -> Ask | None:
        return self._contents().asks.get(ask)

    async def asks(
        self,
        *,
        state: State | None = None,
        kind: Kind | None = None,
        session: str | None = None,
        undelivered: bool = False,
        limit: int | None = None,
        after: str | None = None,
        newest_first: bool = False,
    ) -> list[Ask]:
        asks = list(self._contents().asks.values())
        if newest_first and not undelivered:
            asks.reverse()
        if after is not None and not undelivered:
            positions = [position for position, ask in enumerate(asks, 1) if ask.id == after]
            asks = asks[positions[0] :] if positions else []
        return [
            ask
            for ask in asks
            if state in (None, ask.state)
            and kind in (None, ask.kind)
            and session in (None, ask.session)
            and (not undelivered or is_undelivered(ask))
        ][:limit]

    async def open_asks(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for ask in self._contents().asks.values():
            if ask.settlement is None and ask.session is not None:
                counts[ask.session] = counts.get(ask.session, 0) + 1
        return counts

    async def last_lines(self, session: str | None = None) -> dict[str, str]:
        return {key: line for key, line in self._contents().lines.items() if session in (None, key)}

    async def says(self, session: str, *, waiting: bool = True) -> list[Say]:
        found = [say for say in self._contents().says.values() if say.session == session]
        return [say for say in found if say.taken_at is None or not waiting]

    async def items(
        self,
        *,
        after: int | None = None,
        before: int | None = None,
        session: str | None = None,
        limit: int = 500,
    ) -> list[Item]:
        found = [
            item
            for item in self._contents().items.values()
            if (after is None or item.cursor > after)
            and (before is None or item.cursor < before)
            and session in (None, item.session)
        ]
        return found[max(len(found) - limit, 0) :] if after is None else found[:limit]

    async def search(
        self, query: Query, *, after: int, before: int, session: str | None = None, limit: int = 50
    ) -> list[SearchHit]:
        items = reversed(self._contents().items.values())
        here = (item for item in items if after < item.cursor < before and session in (None, item.session))
        return list(islice((found for item in here if (found := find_in(item, query)) is not None), limit))

    async def cursors(self) -> tuple[int, int]:
        return self._contents().pruned, self._contents().newest

    async def size(self) -> int:
        return sum(len(item.content) for item in self._contents().items.values())

    async def rules(self) -> list[Rule]:
        return list(self._contents().rules.values())

    async def trust(self, directory: str) -> DirectoryTrust | None:
        trusts = self._contents().trusts
        return trusts.get((self.machine, directory)) or trusts.get(("", directory))

    async def trusts(self) -> list[DirectoryTrust]:
        return sorted(self._contents().trusts.values(), key=lambda trust: (trust.directory, trust.machine))

    async def project(self, key: str) -> Project | None:
        projects = await self.projects()
        known = [project for project in projects if project.id == key]
        named = [project for project in projects if project.name == key]
        there = [project for project in projects if project.path and project.path == key]
        return next(iter([*known, *named, *there]), None)

    async def projects(self) -> list[Project]:
        found = [seen_from(project, self.machine) for project in self._contents().projects.values()]
        return sorted(found, key=lambda project: project.name)

    async def token(self, hash_of_secret: str) -> Token | None:
        return next((token for token in self._contents().tokens.values() if token.hash == hash_of_secret), None)

    async def tokens(self, ids: Collection[str] | None = None) -> list[Token]:
        found = [token for token in self._contents().tokens.values() if ids is None or token.id in ids]
        return sorted(found, key=lambda token: token.created_at)

    async def record(self, kind: str, key: str) -> bytes | None:
        return self._contents().records.get((kind, key))

    async def records(self, kind: str) -> dict[str, bytes]:
        return {key: value for (each, key), value in self._contents().records.items() if each == kind}

    async def lease(self, name: str, seconds: float) -> bool:
        self._contents()
        self._check_epoch()
        now, leases = self._database.clock(), self._database.leases
        holder, until = leases.get(name, (self._own, now))
        if holder is not self._own and now < until:
            return False
        leases[name] = self._own, now + seconds
        return True

    async def end_lease(self, name: str) -> None:
        if self._database.leases.get(name, (None,))[0] is self._own:
            del self._database.leases[name]

    async def audit(self, **wanted: Unpack[AuditFilter]) -> list[Entry]:
        before, since, until = wanted.get("before"), wanted.get("since"), wanted.get("until")
        return [
            entry
            for entry in self._contents().audit[:: -1 if wanted.get("newest_first") else 1]
            if entry.number > wanted.get("after", 0)
            and (before is None or entry.number < before)
            and (since is None or entry.at >= since)
            and (until is None or entry.at < until)
            and wanted.get("session") in (None, entry.session)
            and wanted.get("ask") in (None, entry.ask)
            and wanted.get("by") in (None, entry.by.name)
            and wanted.get("what") in (None, entry.what)
        ][: wanted.get("limit", FIRST)]

    def _contents(self) -> Shelves:
        if not self._open:
            raise StoreClosed("The store is closed.")
        return self._database.shelves
