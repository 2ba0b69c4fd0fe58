"""Runs a coroutine on the fastest loop that this machine has."""

import asyncio
from collections.abc import Coroutine


def run(main: Coroutine[object, object, None]) -> None:
    """uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)
