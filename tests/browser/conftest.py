"""One browser for all tests of a worker."""

from collections.abc import AsyncIterator

import pytest

from browser.window import PROGRAM, shared_browsers


@pytest.fixture(scope="session", autouse=True)
async def _browsers(anyio_backend: str) -> AsyncIterator[None]:
    if PROGRAM is None:
        yield
        return
    async with shared_browsers():
        yield
