"""The store over a PostgreSQL database that several machines share: the writer, the readers, and the feed's tail."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from secrets import token_hex
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from handraise.model.asks import Ask, Kind, State
from handraise.model.audit import AuditFilter, Entry
from handraise.model.instructions import Instruction
from handraise.model.items import Item, Preview
from handraise.model.machines import LEASE, Machine
from handraise.model.projects import Project
from handraise.model.rules import Rule
from handraise.model.search import Query, SearchHit
from handraise.model.sessions import Checkpoint, Phase, Say, Session
from handraise.model.tokens import Token
from handraise.model.trust import DirectoryTrust
from handraise.store.changes import Applied, Change
from handraise.store.interface import (
    AskListener,
    Listener,
    LookupServer,
    PreviewListener,
    RuleListener,
    StoreAway,
    StoreClosed,
    StoreFenced,
)
from handraise.store.postgres.connecting import CONNECT_SECONDS, Connecting, Connection, read_address, watched
from handraise.store.postgres.database import prepare
from handraise.store.postgres.errors import explain
from handraise.store.postgres.hints import Hearing, HintListener
from handraise.store.postgres.lookups import LookupExchange
from handraise.store.postgres.pool import ConnectionPool
from handraise.store.postgres.previews import PreviewExchange, channel_of
from handraise.store.postgres.reader import PostgresReader
from handraise.store.postgres.tail import FeedTail
from handraise.store.postgres.writer import CHANNEL, Perform, PostgresWriter, WriteOrder
from handraise.texts import t

T = TypeVar("T")
_LEASE = round(LEASE.total_seconds() * 1_000_000)
_PREPARE_SECONDS = 120.0
_CLOSE_SECONDS = 20.0
_log = logging.getLogger(__name__)


class PostgresStore:
    """See `Store`. `database` is a URL (`postgresql://…`); `password` takes precedence over one in it.

    `identity` names this store in the database, for as long as it is open; it is random if it isn't given.
    A caller waits for `patience`, in seconds, for a database that is away. A connection whose server says nothing for
    `hang_seconds` counts as lost.
    """

    def __init__(
        self,
        database: str,
        machine: str = "",
        *,
        identity: str = "",
        password: str | None = None,
        patience: float = 2.0,
        hang_seconds: float = 15.0,
    ) -> None:
        self.machine = machine
        self.shared = True
        self._connecting = Connecting(read_address(database, password), patience=patience, hang_seconds=hang_seconds)
        self._identity = identity or token_hex(8)
        self._listeners: tuple[Listener, ...] = ()
        self._ask_listeners: tuple[AskListener, ...] = ()
        self._rule_listeners: tuple[RuleListener, ...] = ()
        self._preview_listeners: tuple[PreviewListener, ...] = ()
        self._open = False

    @property
    def hearing(self) -> Hearing:
        """Whether notifications of other hubs arrive. If not, this store asks the database for news."""
        return self._hints.hearing if self._open else "unknown"

    @property
    def away(self) -> StoreAway | None:
        """Why the database can't be reached, while it can't."""
        return self._writer.away if self._open else None

    async def __aenter__(self) -> Self:
        await self._prepare()
        self._pool = ConnectionPool(self._connecting, f"handraise reader {self._identity}")
        self._tail = FeedTail(self._read, self._spread, self._tell_of_rules, lambda: self._hints.hearing == "no")
        tail = self._tail
        self._writer = PostgresWriter(self._connecting, self._identity, self.machine, tail.committed, lambda: tail.last)
        channels = (CHANNEL, channel_of(self._identity))
        self._hints = HintListener(self._connecting, f"handraise listener {self._identity}", channels, self._hear)
        self._previews = PreviewExchange(
            self._identity, self._pool.use, lambda: self._hints.hearing == "yes", self._show
        )
        self._lookups = LookupExchange(
            self._identity,
            self.machine,
            self._pool.use,
            lambda: self._hints.hearing == "yes",
            lambda: self._writer.epoch,
        )
        try:
            await self._tail.begin()
        except BaseException:
            await self._pool.close()
            raise
        self._open = True
        self._writing = asyncio.create_task(self._writer.run())
        parts = (self._tail.run(), self._hints.run(), self._previews.run(), self._lookups.run())
        self._tasks = [self._writing, *(asyncio.create_task(part) for part in parts)]
        for task in self._tasks:
            task.add_done_callback(self._report_bug)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        self._writer.close()
        await asyncio.wait(
            [self._writing], timeout=_CLOSE_SECONDS if self._writer.away is None else self._connecting.patience
        )
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tail.close()
        await self._pool.close()

    def listen(self, listener: Listener) -> None:
        self._listeners = (*self._listeners, listener)

    def listen_to_asks(self, listener: AskListener) -> None:
        self._ask_listeners = (*self._ask_listeners, listener)

    def listen_to_coming_asks(self, listener: AskListener) -> None:
        pass

    def listen_to_rules(self, listener: RuleListener) -> None:
        self._rule_listeners = (*self._rule_listeners, listener)

    def listen_to_previews(self, listener: PreviewListener) -> None:
        self._preview_listeners = (*self._preview_listeners, listener)

    def preview(self, preview: Preview) -> None:
        if self._open:
            self._previews.offer(preview)

    def want_previews(self, sessions: Collection[str]) -> None:
        if self._open:
            self._previews.want(sessions)

    async def look_up(self, machine: str, question: bytes, seconds: float) -> bytes:
        self._check_open()
        self._check_there()
        return await self._lookups.ask(machine, question, seconds)

    def serve_lookups(self, serve: LookupServer) -> None:
        if self._open:
            self._lookups.serve = serve

    async def claim(self, machine: Machine) -> Machine:
        claimed: Machine = await self._order(perform=lambda batch: batch.claim(machine), fenced=False)
        return claimed

    async def beat(self, at: datetime) -> datetime:
        seen_at: datetime | None = await self._order(perform=lambda batch: batch.beat(self.machine, _LEASE))
        return seen_at or at

    async def release(self, at: datetime) -> None:  # noqa: ARG002 - the database has a clock of its own
        if self._writer.epoch is None:
            return
        try:
            await self._order(perform=lambda batch: batch.release(self.machine))
        except StoreFenced:
            pass

    async def machines(self) -> list[Machine]:
        return await self._ask(PostgresReader.machines)

    async def instruction(self, instruction: str) -> Instruction | None:
        return await self._ask(lambda reader: reader.instruction(instruction))

    async def instructions(
        self, *, machine: str | None = None, session: str | None = None, unsettled: bool = True
    ) -> list[Instruction]:
        return await self._ask(lambda reader: reader.instructions(machine, session, unsettled))

    async def apply(self, changes: Sequence[Change]) -> Applied:
        if not changes:
            self._check_open()
            return Applied((), ())
        applied: Applied = await self._order(tuple(changes))
        return applied

    async def session(self, session: str) -> Session | None:
        return await self._ask(lambda reader: reader.session(session))

    async def sessions(self, phases: Sequence[Phase] | None = None) -> list[Session]:
        return await self._ask(lambda reader: reader.sessions(phases))

    async def checkpoint(self, session: str) -> Checkpoint | None:
        return await self._ask(lambda reader: reader.checkpoint(session))

    async def ask(self, ask: str) -> Ask | None:
        return await self._ask(lambda reader: reader.ask(ask))

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
        return await self._ask(
            lambda reader: reader.asks(state, kind, session, undelivered, limit, after, newest_first)
        )

    async def open_asks(self) -> dict[str, int]:
        return await self._ask(PostgresReader.open_asks)

    async def last_lines(self, session: str | None = None) -> dict[str, str]:
        return await self._ask(lambda reader: reader.last_lines(session))

    async def says(self, session: str, *, waiting: bool = True) -> list[Say]:
        return await self._ask(lambda reader: reader.says(session, waiting))

    async def items(
        self,
        *,
        after: int | None = None,
        before: int | None = None,
        session: str | None = None,
        limit: int = 500,
    ) -> list[Item]:
        return await self._ask(lambda reader: reader.items(after, before, session, limit))

    async def search(
        self, query: Query, *, after: int, before: int, session: str | None = None, limit: int = 50
    ) -> list[SearchHit]:
        return await self._ask(lambda reader: reader.search(query, after, before, session, limit))

    async def cursors(self) -> tuple[int, int]:
        return await self._ask(PostgresReader.cursors)

    async def size(self) -> int:
        return await self._ask(PostgresReader.size)

    async def rules(self) -> list[Rule]:
        return await self._ask(PostgresReader.rules)

    async def trust(self, directory: str) -> DirectoryTrust | None:
        return await self._ask(lambda reader: reader.trust(directory))

    async def trusts(self) -> list[DirectoryTrust]:
        return await self._ask(PostgresReader.trusts)

    async def project(self, key: str) -> Project | None:
        return await self._ask(lambda reader: reader.project(key))

    async def projects(self) -> list[Project]:
        return await self._ask(PostgresReader.projects)

    async def token(self, hash_of_secret: str) -> Token | None:
        return await self._ask(lambda reader: reader.token(hash_of_secret))

    async def tokens(self, ids: Collection[str] | None = None) -> list[Token]:
        return await self._ask(lambda reader: reader.tokens(ids))

    async def record(self, kind: str, key: str) -> bytes | None:
        return await self._ask(lambda reader: reader.record(kind, key))

    async def records(self, kind: str) -> dict[str, bytes]:
        return await self._ask(lambda reader: reader.records(kind))

    async def lease(self, name: str, seconds: float) -> bool:
        epoch, microseconds = self._writer.epoch, round(seconds * 1_000_000)
        may, has = await self._ask(lambda reader: reader.lease(name, self._identity, microseconds, epoch))
        if not may:
            raise StoreFenced(t("error.store.fenced"), t("error.store.unfence"))
        return has

    async def end_lease(self, name: str) -> None:
        await self._ask(lambda reader: reader.end_lease(name, self._identity))

    async def audit(self, **wanted: Unpack[AuditFilter]) -> list[Entry]:
        return await self._ask(lambda reader: reader.audit(wanted))

    async def _prepare(self) -> None:
        connection = await self._connecting.connect(f"handraise setup {self._identity}")
        try:
            with watched(connection, _PREPARE_SECONDS):
                await prepare(connection, self._connecting.address.shown)
                await connection.close(timeout=CONNECT_SECONDS)
        except Exception as error:
            explained = explain(error, self._connecting.address.shown)
            if explained is error:
                raise
            raise explained from error
        finally:
            connection.terminate()

    def _check_open(self) -> None:
        if not self._open:
            raise StoreClosed(t("error.postgres.closed", where=self._connecting.address.shown))

    def _check_there(self) -> None:
        """Nobody waits for a database that has been away for longer than that."""
        away = self._writer.given_up
        if away is not None:
            raise StoreAway(away.problem, away.advice)

    async def _order(
        self, changes: Sequence[Change] = (), *, perform: Perform | None = None, fenced: bool = True
    ) -> Any:  # noqa: ANN401 - what `perform` returns
        self._check_open()
        self._check_there()
        loop = asyncio.get_running_loop()
        order = WriteOrder(loop.create_future(), loop.time() + self._connecting.patience, changes, perform, fenced)
        self._writer.order(order)
        return await order.caller

    async def _read(self, question: Callable[[PostgresReader], Awaitable[T]]) -> T:
        self._check_there()

        async def work(connection: Connection) -> T:
            return await question(PostgresReader(connection, self.machine))

        return await self._pool.use(work)

    async def _ask(self, question: Callable[[PostgresReader], Awaitable[T]]) -> T:
        self._check_open()
        return await self._read(question)

    def _hear(self, payload: str) -> None:
        kind, _, words = payload.partition(" ")
        try:
            match kind:
                case "":
                    self._tail.poll()
                    self._previews.hear_watchers()
                    self._lookups.hear_lookups("")
                case "c":
                    newest, rules, writer = words.split()
                    if writer != self._identity:
                        self._tail.hint(int(newest))
                        self._tail.heard_rules(int(rules))
                case "w" if words != self._identity:
                    self._previews.hear_watchers()
                case "p" if words != self._identity:
                    self._previews.hear_previews()
                case "l":
                    self._lookups.hear_lookups(words)
                case "a":
                    self._lookups.hear_pieces(words)
        except ValueError:
            pass  # anyone who may connect to the database may say anything here

    def _spread(self, items: Sequence[Item], asks: Sequence[Ask]) -> None:
        # The loop calls these in order; one listener's error doesn't affect the others.
        loop = asyncio.get_running_loop()
        self._previews.settle({item.session for item in items if item.session is not None})
        if asks:
            for on_asks in self._ask_listeners:
                loop.call_soon(on_asks, tuple(asks))
        if items:
            for on_items in self._listeners:
                loop.call_soon(on_items, tuple(items))

    def _tell_of_rules(self) -> None:
        for listener in self._rule_listeners:
            asyncio.get_running_loop().call_soon(listener)

    def _show(self, preview: Preview) -> None:
        for listener in self._preview_listeners:
            asyncio.get_running_loop().call_soon(listener, preview)

    def _report_bug(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and task.exception() is not None:
            _log.error("a part of the store ended", exc_info=task.exception())
