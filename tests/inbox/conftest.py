"""The stores that an inbox is tested with."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from handraise.store.interface import Store
from handraise.store.memory.store import MemoryStore
from handraise.store.sqlite.store import SqliteStore


@pytest.fixture
async def memory() -> AsyncIterator[Store]:
    async with MemoryStore() as store:
        yield store


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    record: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "hub.db")
    async with record:
        yield record
