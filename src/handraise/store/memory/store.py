"""The store over dicts: a batch works on a copy of the shelves, which replaces them if every change succeeds."""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Self, Unpack

from handraise.model.asks import Ask, Kind, State
from handraise.model.audit import FIRST, AuditFilter, Entry
from handraise.model.items import Item
from handraise.model.projects import Project
from handraise.model.rules import Rule
from handraise.model.sessions import Checkpoint, Phase, Say, Session
from handraise.model.tokens import Token
from handraise.model.trust import DirectoryTrust
from handraise.store.changes import Applied, Change
from handraise.store.interface import AskListener, Listener, StoreClosed
from handraise.store.memory.shelves import Shelves, is_undelivered
from handraise.store.surrogates import mended


class MemoryStore:
    """See `Store`."""

    def __init__(self) -> None:
        self._shelves = Shelves()
        self._listeners: list[Listener] = []
        self._ask_listeners: list[AskListener] = []
        self._open = False

    async def __aenter__(self) -> Self:
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def listen_to_asks(self, listener: AskListener) -> None:
        self._ask_listeners.append(listener)

    async def apply(self, changes: Sequence[Change]) -> Applied:
        shelves = self._contents().copy()
        took = tuple([shelves.take(mended(change)) for change in changes])
        items, asks = tuple(shelves.published), tuple(shelves.changed_asks)
        self._shelves = shelves
        loop = asyncio.get_running_loop()
        if asks:
            for on_asks in self._ask_listeners:
                loop.call_soon(on_asks, asks)
        if items:
            for on_items in self._listeners:
                loop.call_soon(on_items, items)
        await asyncio.sleep(0)  # listeners run first
        return Applied(took, items, asks)

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

    async def cursors(self) -> tuple[int, int]:
        return self._contents().pruned, self._contents().newest

    async def size(self) -> int:
        return sum(len(item.content) for item in self._contents().items.values())

    async def rules(self) -> list[Rule]:
        return list(self._contents().rules.values())

    async def trust(self, directory: str) -> DirectoryTrust | None:
        return self._contents().trusts.get(directory)

    async def trusts(self) -> list[DirectoryTrust]:
        return sorted(self._contents().trusts.values(), key=lambda trust: trust.directory)

    async def project(self, key: str) -> Project | None:
        projects = self._contents().projects
        named = [project for project in projects.values() if project.name == key]
        there = [project for project in projects.values() if project.path == key]
        return next(iter([*filter(None, [projects.get(key)]), *named, *there]), None)

    async def projects(self) -> list[Project]:
        return sorted(self._contents().projects.values(), key=lambda project: project.name)

    async def token(self, hash_of_secret: str) -> Token | None:
        return next((token for token in self._contents().tokens.values() if token.hash == hash_of_secret), None)

    async def tokens(self) -> list[Token]:
        return sorted(self._contents().tokens.values(), key=lambda token: token.created_at)

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
        return self._shelves
