"""Two hubs on real sockets over one database, without sessions to run."""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from api.served import Served, served
from handraise.store.changes import Applied, Change
from handraise.store.interface import StoreAway
from handraise.store.memory.store import MemoryDatabase, MemoryStore


class CutOffStore(MemoryStore):
    """A real store, until its hub is cut off from the database: then it can't write any more."""

    is_cut_off = False
    wanted: frozenset[str] = frozenset()
    """The sessions whose previews it wants."""

    def want_previews(self, sessions: Collection[str]) -> None:
        self.wanted = frozenset(sessions)
        super().want_previews(sessions)

    async def apply(self, changes: Sequence[Change]) -> Applied:
        self._check_reached()
        return await super().apply(changes)

    async def records(self, kind: str) -> dict[str, bytes]:
        self._check_reached()
        return await super().records(kind)

    async def lease(self, name: str, seconds: float) -> bool:
        self._check_reached()
        return await super().lease(name, seconds)

    async def end_lease(self, name: str) -> None:
        self._check_reached()
        await super().end_lease(name)

    def _check_reached(self) -> None:
        if self.is_cut_off:
            raise StoreAway("The database can't be reached.")


def wanted_by(hub: Served) -> frozenset[str]:
    """The sessions on other machines that someone looks at there."""
    store = hub.up.hub.store
    assert isinstance(store, CutOffStore)
    return store.wanted


def cut_off(hub: Served, *, cut: bool = True) -> None:
    """As if its network were gone, or it had been killed."""
    store = hub.up.hub.store
    assert isinstance(store, CutOffStore)
    store.is_cut_off = cut


@asynccontextmanager
async def hub_over(database: MemoryDatabase, folder: Path, **settings: Any) -> AsyncIterator[Served]:
    """A hub of a machine of its own, over a database that others may use."""
    folder.mkdir(parents=True, exist_ok=True)
    async with served(folder, store=lambda machine: CutOffStore(machine, database), **settings) as hub:
        yield hub


@asynccontextmanager
async def two_hubs(
    tmp: Path, database: MemoryDatabase | None = None, **settings: Any
) -> AsyncIterator[tuple[Served, Served]]:
    """Two machines over one database."""
    database = database or MemoryDatabase()
    async with hub_over(database, tmp / "one", **settings) as one, hub_over(database, tmp / "two", **settings) as two:
        yield one, two
