"""Two hubs on real sockets over one database, without sessions to run."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from api.served import Served
from handraise.serving.serve import ServeConfig, serving
from handraise.store.changes import Applied, Change
from handraise.store.interface import StoreAway
from handraise.store.memory.store import MemoryDatabase, MemoryStore


class CutOffStore(MemoryStore):
    """A real store, until its hub is cut off from the database: then it can't write any more."""

    is_cut_off = False

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


def cut_off(hub: Served, *, cut: bool = True) -> None:
    """As if its network were gone, or it had been killed."""
    store = hub.up.hub.store
    assert isinstance(store, CutOffStore)
    store.is_cut_off = cut


@asynccontextmanager
async def hub_over(database: MemoryDatabase, state: Path, **settings: Any) -> AsyncIterator[Served]:
    """A hub of a machine of its own."""
    state.mkdir(mode=0o700, parents=True)
    config = ServeConfig(
        state,
        Path("/bin/false"),
        {},
        port=0,
        page=state / "no page",
        store=lambda machine: CutOffStore(machine, database),
        **settings,
    )
    async with serving(config) as up:
        yield Served(up, state, await up.new_link())


@asynccontextmanager
async def two_hubs(
    tmp: Path, database: MemoryDatabase | None = None, *, seconds: float = 100, **settings: Any
) -> AsyncIterator[tuple[Served, Served]]:
    """Two machines, for at most this many seconds."""
    database = database or MemoryDatabase()
    async with (
        asyncio.timeout(seconds),
        hub_over(database, tmp / "one", **settings) as one,
        hub_over(database, tmp / "two", **settings) as two,
    ):
        yield one, two
