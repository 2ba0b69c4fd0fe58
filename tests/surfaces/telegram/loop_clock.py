"""A clock under a test's control: the event loop's own time, which jumps to the next timer whenever nothing happens."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from selectors import BaseSelector
from typing import Any

FARTHEST = 4.0
"""It never jumps over more than this: deadlines are further away, and pass only if a test wants it."""
_IN_FLIGHT = 0.002
"""Real seconds in which something on loopback may still arrive."""


class LoopClock:
    """The time as the loop sees it. However slow the machine is, no time passes while something is being done."""

    def __init__(self, selector: BaseSelector) -> None:
        self._selector = selector
        self._at = time.monotonic()

    def __call__(self) -> float:
        return self._at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._selector, name)

    def pass_by(self, seconds: float) -> None:
        """Everything that is due in this time happens when the test waits next."""
        self._at += seconds

    def select(self, timeout: float | None = None) -> Any:
        """Instead of the selector's: what would be waited for is skipped."""
        if timeout is None or timeout <= 0:
            return self._selector.select(timeout)
        ready = self._selector.select(min(timeout, _IN_FLIGHT))
        if ready or timeout > FARTHEST:
            return ready or self._selector.select(timeout)
        self._at += timeout
        return []


@contextmanager
def loop_clock() -> Iterator[LoopClock]:
    """The running loop's time is this clock's until it is left."""
    loop: Any = asyncio.get_running_loop()
    selector = loop._selector
    clock = LoopClock(selector)
    loop._selector, loop.time = clock, clock
    try:
        yield clock
    finally:
        loop._selector = selector
        del loop.time
