"""Waits for a database that can't be reached. Never for anything else: other errors are the caller's."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from handraise.store.interface import StoreAway

_AGAIN = 1.0

T = TypeVar("T")


async def insist(work: Callable[[], Awaitable[T]], log: logging.Logger) -> T:
    """Repeats the work until the database could be reached. Work that was interrupted by that wasn't done."""
    while True:
        try:
            return await work()
        except StoreAway as error:
            log.warning("%s", error)
            await asyncio.sleep(_AGAIN)
