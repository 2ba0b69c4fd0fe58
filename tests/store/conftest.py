"""The kinds of store that the contract suite tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from handraise.store.interface import Store
from handraise.store.memory.store import MemoryStore
from handraise.store.sqlite.store import SqliteStore


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    record: Store = MemoryStore("m_here") if request.param == "memory" else SqliteStore(tmp_path / "hub.db", "m_here")
    async with record:
        yield record
