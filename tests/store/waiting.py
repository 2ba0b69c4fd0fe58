"""Waits for what another store, or the database, does in its own time."""

import asyncio
from collections.abc import Callable

SECONDS = 60
"""Far more than anything needs on a busy machine."""


async def until(condition: Callable[[], object]) -> None:
    """Returns when it holds."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.005)
