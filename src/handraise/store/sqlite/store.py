"""The store over one SQLite file, used from an event loop: batches go to the writer, slow reads to the reader."""

import asyncio
import zlib
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, Unpack

import apsw
from msgspec import MsgspecError
from msgspec.structs import replace

from handraise.model.asks import Ask, Kind, State
from handraise.model.audit import AuditFilter, Entry
from handraise.model.instructions import Instruction
from handraise.model.items import Item, Preview
from handraise.model.machines import Machine
from handraise.model.projects import Project
from handraise.model.rules import Rule
from handraise.model.search import Query, SearchHit
from handraise.model.sessions import Checkpoint, Phase, Say, Session
from handraise.model.tokens import Token
from handraise.model.trust import DirectoryTrust
from handraise.store.changes import Applied, Change, SaveMachine
from handraise.store.interface import (
    AskListener,
    Listener,
    LookupServer,
    PreviewListener,
    RuleListener,
    StoreClosed,
    Unanswered,
)
from handraise.store.sqlite.database import explain, open_for_reading, open_for_writing
from handraise.store.sqlite.reader import Reader
from handraise.store.sqlite.writer import Outcome, QueuedBatch, Writer

T = TypeVar("T")
_Order = QueuedBatch[asyncio.Future[Applied]]
_UNREADABLE = (apsw.Error, MsgspecError, ValueError, TypeError, LookupError, ArithmeticError, zlib.error)
"""What SQLite or our decoders raise for a row that is damaged."""


class SqliteStore:
    """See `Store`. One hub uses it, so nothing comes from elsewhere, and nobody else claims its machine.

    `busy_seconds` is how long to wait for another process that locks the file.
    """

    def __init__(self, path: Path, machine: str = "", *, busy_seconds: float = 5.0) -> None:
        self.machine = machine
        self.shared = False
        self._path = path
        self._busy_seconds = busy_seconds
        self._listeners: tuple[Listener, ...] = ()
        self._ask_listeners: tuple[AskListener, ...] = ()
        self._coming_listeners: tuple[AskListener, ...] = ()
        self._open = False

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._reading = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store-reader")
        try:
            await self._loop.run_in_executor(self._reading, self._connect)
        except (apsw.Error, OSError) as error:
            self._reading.shutdown()
            raise explain(error, self._path) from error
        except BaseException:
            self._reading.shutdown(wait=False)
            raise
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        await asyncio.to_thread(self._close)

    def listen(self, listener: Listener) -> None:
        self._listeners = (*self._listeners, listener)

    def listen_to_asks(self, listener: AskListener) -> None:
        self._ask_listeners = (*self._ask_listeners, listener)

    def listen_to_coming_asks(self, listener: AskListener) -> None:
        self._coming_listeners = (*self._coming_listeners, listener)

    def listen_to_rules(self, listener: RuleListener) -> None:
        pass

    def listen_to_previews(self, listener: PreviewListener) -> None:
        pass

    def preview(self, preview: Preview) -> None:
        pass

    def want_previews(self, sessions: Collection[str]) -> None:
        pass

    async def look_up(self, machine: str, question: bytes, seconds: float) -> bytes:  # noqa: ARG002 - nobody is there
        raise Unanswered("away")

    def serve_lookups(self, serve: LookupServer) -> None:
        pass

    async def claim(self, machine: Machine) -> Machine:
        stored = await self._look(lambda reader: reader.machine(machine.id))
        name, epoch = (stored.name, stored.epoch + 1) if stored else (machine.name, 1)
        claimed = replace(machine, name=name, epoch=epoch, seen_at=machine.started_at, away_since=None)
        await self.apply([SaveMachine(claimed, machine.started_at)])
        return claimed

    async def beat(self, at: datetime) -> datetime:
        return at

    async def release(self, at: datetime) -> None:
        stored = await self._look(lambda reader: reader.machine(self.machine))
        if stored is not None:
            await self.apply([SaveMachine(replace(stored, away_since=at), at)])

    async def machines(self) -> list[Machine]:
        return await self._ask(self._reader.machines)

    async def instruction(self, instruction: str) -> Instruction | None:
        return await self._look(lambda reader: reader.instruction(instruction))

    async def instructions(
        self, *, machine: str | None = None, session: str | None = None, unsettled: bool = True
    ) -> list[Instruction]:
        return await self._ask(lambda: self._reader.instructions(machine, session, unsettled))

    async def apply(self, changes: Sequence[Change]) -> Applied:
        self._check_open()
        caller: asyncio.Future[Applied] = self._loop.create_future()
        self._writer.order(QueuedBatch(tuple(changes), caller))
        return await caller

    async def session(self, session: str) -> Session | None:
        return await self._look(lambda reader: reader.session(session))

    async def sessions(self, phases: Sequence[Phase] | None = None) -> list[Session]:
        return await self._ask(lambda: self._reader.sessions(phases))

    async def checkpoint(self, session: str) -> Checkpoint | None:
        return await self._look(lambda reader: reader.checkpoint(session))

    async def ask(self, ask: str) -> Ask | None:
        return await self._look(lambda reader: reader.ask(ask))

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
        return await self._ask(lambda: self._reader.asks(state, kind, session, undelivered, limit, after, newest_first))

    async def open_asks(self) -> dict[str, int]:
        return await self._ask(self._reader.open_asks)

    async def last_lines(self, session: str | None = None) -> dict[str, str]:
        return await self._ask(lambda: self._reader.last_lines(session))

    async def says(self, session: str, *, waiting: bool = True) -> list[Say]:
        return await self._ask(lambda: self._reader.says(session, waiting))

    async def items(
        self,
        *,
        after: int | None = None,
        before: int | None = None,
        session: str | None = None,
        limit: int = 500,
    ) -> list[Item]:
        return await self._ask(lambda: self._reader.items(after, before, session, limit))

    async def search(
        self, query: Query, *, after: int, before: int, session: str | None = None, limit: int = 50
    ) -> list[SearchHit]:
        return await self._ask(lambda: self._reader.search(query, after, before, session, limit))

    async def cursors(self) -> tuple[int, int]:
        return await self._ask(self._reader.cursors)

    async def size(self) -> int:
        return await self._ask(self._reader.size)

    async def rules(self) -> list[Rule]:
        return await self._ask(self._reader.rules)

    async def trust(self, directory: str) -> DirectoryTrust | None:
        return await self._look(lambda reader: reader.trust(directory))

    async def trusts(self) -> list[DirectoryTrust]:
        return await self._ask(self._reader.trusts)

    async def project(self, key: str) -> Project | None:
        return await self._look(lambda reader: reader.project(key))

    async def projects(self) -> list[Project]:
        return await self._ask(self._reader.projects)

    async def token(self, hash_of_secret: str) -> Token | None:
        return await self._look(lambda reader: reader.token(hash_of_secret))

    async def tokens(self, ids: Collection[str] | None = None) -> list[Token]:
        return await self._ask(lambda: self._reader.tokens(ids))

    async def record(self, kind: str, key: str) -> bytes | None:
        return await self._look(lambda reader: reader.record(kind, key))

    async def records(self, kind: str) -> dict[str, bytes]:
        return await self._ask(lambda: self._reader.records(kind))

    async def lease(self, name: str, seconds: float) -> bool:  # noqa: ARG002 (nobody else can have it)
        self._check_open()
        return True

    async def end_lease(self, name: str) -> None:
        pass

    async def audit(self, **wanted: Unpack[AuditFilter]) -> list[Entry]:
        return await self._ask(lambda: self._reader.audit(wanted))

    def _connect(self) -> None:
        writing = open_for_writing(self._path, self._busy_seconds)
        self._reader = Reader(open_for_reading(self._path, self._busy_seconds), self.machine)
        self._near = Reader(open_for_reading(self._path, 0), self.machine)
        self._writer = Writer(writing, self._path, self._report, self.machine, self._foretell)

    def _close(self) -> None:
        self._reading.submit(self._reader.close)
        self._reading.shutdown()
        self._near.close()
        self._writer.close()

    def _check_open(self) -> None:
        if not self._open:
            raise StoreClosed(f"The store in {self._path} is closed.")

    async def _look(self, question: Callable[[Reader], T]) -> T:
        """One row by its key, on this thread, so neither the writer nor a slow read delays it."""
        self._check_open()
        try:
            return question(self._near)
        except apsw.BusyError:
            return await self._ask(lambda: question(self._reader))  # another process holds the lock: wait for it there
        except _UNREADABLE as error:
            raise explain(error, self._path, reading=True) from error

    async def _ask(self, question: Callable[[], T]) -> T:
        self._check_open()
        try:
            return await self._loop.run_in_executor(self._reading, question)
        except _UNREADABLE as error:
            raise explain(error, self._path, reading=True) from error

    def _foretell(self, asks: Sequence[Ask]) -> None:
        # Runs on the writer's thread, right before it waits for the disk.
        for on_coming in self._coming_listeners:
            self._loop.call_soon_threadsafe(on_coming, tuple(asks))

    def _report(self, orders: Sequence[_Order], outcomes: Sequence[Outcome]) -> None:
        # Runs on the writer's thread. The loop calls these in order; one listener's error doesn't affect the others.
        applied = [outcome for outcome in outcomes if isinstance(outcome, Applied)]
        asks = tuple([ask for each in applied for ask in each.asks])
        if asks:
            for on_asks in self._ask_listeners:
                self._loop.call_soon_threadsafe(on_asks, asks)
        items = tuple([item for each in applied for item in each.items])
        if items:
            for on_items in self._listeners:
                self._loop.call_soon_threadsafe(on_items, items)
        self._loop.call_soon_threadsafe(_tell_callers, orders, outcomes)


def _tell_callers(orders: Sequence[_Order], outcomes: Sequence[Outcome]) -> None:
    for order, outcome in zip(orders, outcomes, strict=True):
        if order.caller.done():
            continue  # the caller was cancelled: it stopped waiting, but the batch is stored
        if isinstance(outcome, Applied):
            order.caller.set_result(outcome)
        else:
            order.caller.set_exception(outcome)
