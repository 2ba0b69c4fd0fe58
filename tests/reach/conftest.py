"""The kinds of store that keep what people set and what was sent."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from handraise.store.interface import Store
from handraise.store.memory.store import MemoryStore
from handraise.store.postgres.store import PostgresStore
from handraise.store.sqlite.store import SqliteStore
from reach.reached import ReachedWorld, world_in


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def everywhere(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ReachedWorld]:
    """A world in each kind of store."""
    async with a_store(request, tmp_path) as store, world_in(store) as world:
        yield world


@pytest.fixture
async def world() -> AsyncIterator[ReachedWorld]:
    """A world in memory."""
    async with MemoryStore("m_here") as store, world_in(store) as world:
        yield world


def a_store(request: pytest.FixtureRequest, folder: Path) -> Store:
    match request.param:
        case "memory":
            return MemoryStore("m_here")
        case "sqlite":
            return SqliteStore(folder / "hub.db", "m_here")
        case _:
            return PostgresStore(request.getfixturevalue("database"), "m_here")
