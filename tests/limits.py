"""A time limit for each test. A hanging coroutine is cancelled where it hangs; anything else ends its process."""

import asyncio
import faulthandler
import functools
import inspect
import os
from collections.abc import Generator
from typing import Any

import pytest

SECONDS = 240
"""Far more than any test needs on a busy machine."""
GRACE = 60
"""How long a cancelled test has to clean up."""

_terminal = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    # Nothing is captured here: output to this copy is visible even if the process exits immediately.
    config.stash[_terminal] = os.dup(2)
    config.addinivalue_line("markers", "limit(seconds): how long this test may take, if it is not the usual time")


def pytest_itemcollected(item: pytest.Item) -> None:
    if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
        item.obj = _limited(item.obj, _seconds(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    # With pytest-xdist only this worker exits: the test is reported as failed, and a new worker runs the rest.
    faulthandler.dump_traceback_later(_seconds(item) + GRACE, exit=True, file=item.config.stash[_terminal])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _seconds(item: pytest.Item) -> float:
    marker = item.get_closest_marker("limit")
    return float(marker.args[0]) if marker else SECONDS


def _limited(test: Any, seconds: float) -> Any:
    @functools.wraps(test)
    async def run(*args: Any, **more: Any) -> None:
        async with asyncio.timeout(seconds):
            await test(*args, **more)

    return run
