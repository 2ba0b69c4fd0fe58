"""The interface of every store. A batch of changes is durable when `apply` returns, or it never happened."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol, Self, Unpack

from handraise.model.asks import Ask, Kind, State
from handraise.model.audit import AuditFilter, Entry
from handraise.model.items import Item
from handraise.model.projects import Project
from handraise.model.rules import Rule
from handraise.model.sessions import Checkpoint, Phase, Say, Session
from handraise.model.tokens import Token
from handraise.model.trust import DirectoryTrust
from handraise.store.changes import Applied, Change

Listener = Callable[[Sequence[Item]], None]
AskListener = Callable[[Sequence[Ask]], None]


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


class StoreClosed(StoreError):
    """The store was closed before the batch could be stored."""


class Store(Protocol):
    """Entered with `async with`; used from one event loop."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def listen(self, listener: Listener) -> None:
        """Calls back on the loop with the items of every commit, in order, before its `apply` returns."""

    def listen_to_asks(self, listener: AskListener) -> None:
        """Calls back with the asks of every commit (`Applied.asks`), before the item listeners."""

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
        """The decision about exactly this directory."""
        ...

    async def trusts(self) -> list[DirectoryTrust]:
        """By directory."""
        ...

    async def project(self, key: str) -> Project | None:
        """By id, name or path."""
        ...

    async def projects(self) -> list[Project]:
        """By name."""
        ...

    async def token(self, hash_of_secret: str) -> Token | None:
        """By the hash of its secret, including revoked and expired ones."""
        ...

    async def tokens(self) -> list[Token]:
        """Oldest first."""
        ...

    async def audit(self, **wanted: Unpack[AuditFilter]) -> list[Entry]:
        """The first 500 entries, or the given number."""
        ...
