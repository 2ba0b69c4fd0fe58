"""The interface of every store. A batch of changes is durable when `apply` returns, or it never happened."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from types import TracebackType
from typing import Literal, Protocol, Self, Unpack

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
from handraise.store.changes import Applied, Change

Listener = Callable[[Sequence[Item]], None]
AskListener = Callable[[Sequence[Ask]], None]
RuleListener = Callable[[], None]
PreviewListener = Callable[[Preview], None]
LookupServer = Callable[[bytes], Awaitable[bytes]]

MOST_ANSWER = 32 * 1024 * 1024
"""Bytes of an answer to a lookup."""


class StoreError(Exception):
    """Nothing of the batch was stored. The text says what is wrong and what to do: `problem` and `advice`."""

    def __init__(self, problem: str, advice: str = "") -> None:
        super().__init__(f"{problem} {advice}".rstrip())
        self.problem = problem
        self.advice = advice


class StoreFull(StoreError):
    """The disk is full."""


class StoreBusy(StoreError):
    """Another process holds the database."""


class StoreDamaged(StoreError):
    """The database file is damaged, or not a database."""


class StoreNewer(StoreError):
    """The database was written by a newer version."""


class StoreConflict(StoreError):
    """The batch contradicts what is stored: another project has the name or path, or the journal was already read."""


class StoreFenced(StoreError):
    """Another hub has taken this machine over: nothing may be written for it from here."""


class StoreAway(StoreError):
    """The database can't be reached. Nothing was stored; it may work again soon."""


class StoreClosed(StoreError):
    """The store was closed before the batch could be stored."""


class Unanswered(Exception):
    """A lookup got no answer. `away`: nobody is there; `silent`: nobody answered in time, or not all of it arrived."""

    def __init__(self, why: Literal["away", "silent"]) -> None:
        super().__init__(why)
        self.why = why


class Store(Protocol):
    """Entered with `async with`; used from one event loop.

    Several stores may share one database, each for its own machine. Then listeners hear of every commit, whichever
    store made it, in cursor order.
    """

    machine: str
    """The machine that it belongs to; projects and trust are read for it."""
    shared: bool
    """Whether stores of other hubs may use the same database."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def listen(self, listener: Listener) -> None:
        """Calls back on the loop with the items of every commit, in order, before its `apply` returns."""

    def listen_to_asks(self, listener: AskListener) -> None:
        """Calls back with the asks of every commit (`Applied.asks`), before the item listeners."""

    def listen_to_coming_asks(self, listener: AskListener) -> None:
        """Calls back with asks that are about to be committed, where that takes long enough to prepare something.

        The commit may still fail: nothing of this may be shown, or have an effect.
        """

    def listen_to_rules(self, listener: RuleListener) -> None:
        """Calls back when rules or projects were changed through another store: read them again."""

    def listen_to_previews(self, listener: PreviewListener) -> None:
        """Calls back with unfinished blocks of sessions on other machines, as far as `want_previews` wants them."""

    def preview(self, preview: Preview) -> None:
        """Shows an unfinished block to other machines that want it. Never waits, and may drop it."""

    def want_previews(self, sessions: Collection[str]) -> None:
        """The sessions on other machines that someone follows here, from now on."""

    async def look_up(self, machine: str, question: bytes, seconds: float) -> bytes:
        """What the hub of another machine answers; raises Unanswered, after so long at the latest, or a StoreError.

        Neither is kept: what was asked is gone once it was taken, and the answer once it was read, or after a minute.
        In a store that isn't shared, nobody is there.
        """
        ...

    def serve_lookups(self, serve: LookupServer) -> None:
        """Answers what other hubs ask of this machine from now on, each question once, while this store has it."""

    async def claim(self, machine: Machine) -> Machine:
        """Takes this machine over with a new epoch, from `started_at` by the store's clock; publishes it.

        From then on, batches raise StoreFenced once another store has claimed the same machine. A known machine keeps
        its name; a name that another has gets a number.
        """
        ...

    async def beat(self, at: datetime) -> datetime:
        """Says that this machine is there, and finds those that no longer say so; publishes changes.

        Raises StoreFenced. A database with a clock of its own uses that, and the time is returned.
        """
        ...

    async def release(self, at: datetime) -> None:
        """This machine goes away; publishes it. Does nothing if it was never claimed, or was taken over."""
        ...

    async def machines(self) -> list[Machine]:
        """By name."""
        ...

    async def instruction(self, instruction: str) -> Instruction | None: ...

    async def instructions(
        self, *, machine: str | None = None, session: str | None = None, unsettled: bool = True
    ) -> list[Instruction]:
        """Oldest first; `unsettled` leaves out what was carried out, refused or taken back."""
        ...

    async def apply(self, changes: Sequence[Change]) -> Applied:
        """All of the changes or none; raises a StoreError. Cancelling the caller stops the wait, not the batch."""
        ...

    async def session(self, session: str) -> Session | None: ...

    async def sessions(self, phases: Sequence[Phase] | None = None) -> list[Session]:
        """Newest first."""
        ...

    async def checkpoint(self, session: str) -> Checkpoint | None:
        """How far the journal of its latest run was read."""
        ...

    async def ask(self, ask: str) -> Ask | None: ...

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
        """Oldest first, unless `newest_first`. `after` continues after this ask in that order; an unknown one gives
        none.

        `undelivered`: answered or expired, not yet confirmed by Claude; always all of them, oldest first.
        """
        ...

    async def open_asks(self) -> dict[str, int]:
        """The number of open asks, by session."""
        ...

    async def last_lines(self, session: str | None = None) -> dict[str, str]:
        """The last activity of each session in one line; sessions without any are left out."""
        ...

    async def says(self, session: str, *, waiting: bool = True) -> list[Say]:
        """Oldest first; `waiting` leaves out what Claude received."""
        ...

    async def items(
        self,
        *,
        after: int | None = None,
        before: int | None = None,
        session: str | None = None,
        limit: int = 500,
    ) -> list[Item]:
        """In cursor order: the first ones after a cursor (up to `before`), else the last ones before it, or of all."""
        ...

    async def search(
        self, query: Query, *, after: int, before: int, session: str | None = None, limit: int = 50
    ) -> list[SearchHit]:
        """What is found between two cursors, newest first."""
        ...

    async def cursors(self) -> tuple[int, int]:
        """The last cursor that was pruned (0 for none), and the newest one."""
        ...

    async def size(self) -> int:
        """Bytes in use, without pages that are free for reuse."""
        ...

    async def rules(self) -> list[Rule]:
        """In the order they are tried."""
        ...

    async def trust(self, directory: str) -> DirectoryTrust | None:
        """The decision about exactly this directory, on this machine."""
        ...

    async def trusts(self) -> list[DirectoryTrust]:
        """Of all machines, by directory."""
        ...

    async def project(self, key: str) -> Project | None:
        """By id, name, or path on this machine."""
        ...

    async def projects(self) -> list[Project]:
        """By name."""
        ...

    async def token(self, hash_of_secret: str) -> Token | None:
        """By the hash of its secret, including revoked and expired ones."""
        ...

    async def tokens(self, ids: Collection[str] | None = None) -> list[Token]:
        """All, or those with these ids, oldest first."""
        ...

    async def record(self, kind: str, key: str) -> bytes | None:
        """What `SaveRecord` stored."""
        ...

    async def records(self, kind: str) -> dict[str, bytes]:
        """All of a kind, by key."""
        ...

    async def lease(self, name: str, seconds: float) -> bool:
        """Whether this store has the lease from now on, for this long by the database's clock; renews its own.

        At most one store of a database has a lease of this name. A fenced store gets none: it raises StoreFenced.
        """
        ...

    async def end_lease(self, name: str) -> None:
        """Others may have it at once. Does nothing if another store has it."""
        ...

    async def audit(self, **wanted: Unpack[AuditFilter]) -> list[Entry]:
        """The first 500 entries, or the given number."""
        ...
