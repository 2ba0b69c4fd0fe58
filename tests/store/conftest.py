"""The kinds of store that the contract suite tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from handraise.store.interface import Store
from handraise.store.memory.store import MemoryStore
from handraise.store.postgres.store import PostgresStore
from handraise.store.sqlite.store import SqliteStore
from store.empty import copy_empty

MACHINE = "m_here"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with a_store(request, tmp_path) as record:
        yield record


def a_store(request: pytest.FixtureRequest, folder: Path) -> Store:
    """Of the kind that the fixture's parameter names."""
    match request.param:
        case "memory":
            return MemoryStore(MACHINE)
        case "sqlite":
            return SqliteStore(copy_empty(folder), MACHINE)
        case _:
            return PostgresStore(request.getfixturevalue("database"), MACHINE)
