"""Signals while somebody stays: a kill ends like a leave, so that the terminal is put back in order."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def told_by_signals(leave: Callable[[], None], interrupt: Callable[[], None]) -> Iterator[None]:
    """SIGTERM and SIGHUP leave, SIGINT interrupts."""
    loop = asyncio.get_running_loop()
    wanted = {signal.SIGTERM: leave, signal.SIGHUP: leave, signal.SIGINT: interrupt}
    for number, told in wanted.items():
        loop.add_signal_handler(number, told)
    try:
        yield
    finally:
        for number in wanted:
            loop.remove_signal_handler(number)
