"""Two hubs on real sockets over one database, without sessions to run."""

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from api.served import Served
from handraise.claude import sandbox_support
from handraise.feed import Feed
from handraise.hub.desk import LocalDesk
from handraise.hub.hub import Hub, elapsed, now
from handraise.inbox.inbox import Inbox
from handraise.model.actors import Person
from handraise.serving.serve import ServeConfig, reachable
from handraise.session.pool import SessionPool
from handraise.session.supervisor import Supervisor
from handraise.store.changes import Applied, Change
from handraise.store.interface import Store, StoreAway
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
async def hub_over(store: Store, state: Path, **settings: Any) -> AsyncIterator[Served]:
    """A hub over an entered store."""
    state.mkdir(mode=0o700, parents=True)
    settings.setdefault("page", state / "no page")
    config = ServeConfig(state, Path("/bin/false"), {}, port=0, **settings)
    claudes = config.for_sessions(await sandbox_support.look())
    async with (
        Feed(store) as feed,
        Inbox(store, now, (), elapsed) as inbox,
        SessionPool(claudes, store, feed, inbox) as pool,
    ):
        desk = LocalDesk(
            Person("owner"),
            "hub",
            store=store,
            feed=feed,
            inbox=inbox,
            supervisor=Supervisor(claudes, store, pool),
            clock=now,
            entropy=os.urandom,
        )
        async with reachable(Hub(desk, pool, store, feed, inbox, claudes.wall), config) as up:
            yield Served(up, state, await up.new_link())


@asynccontextmanager
async def two_hubs(
    tmp: Path, database: MemoryDatabase | None = None, *, seconds: float = 100, **settings: Any
) -> AsyncIterator[tuple[Served, Served]]:
    """Two machines, for at most this many seconds."""
    database = database or MemoryDatabase()
    async with (
        asyncio.timeout(seconds),
        CutOffStore("m_1", database) as first,
        CutOffStore("m_2", database) as second,
        hub_over(first, tmp / "one", **settings) as one,
        hub_over(second, tmp / "two", **settings) as two,
    ):
        yield one, two
