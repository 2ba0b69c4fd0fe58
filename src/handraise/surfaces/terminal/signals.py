"""Handles signals while a person follows a session: a kill restores the terminal, like leaving."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator


class Caught:
    """The last signal received, if any."""

    number: int | None = None


@contextlib.contextmanager
def told_by_signals(leave: Callable[[], None], interrupt: Callable[[], None]) -> Iterator[Caught]:
    """SIGTERM and SIGHUP leave, SIGINT interrupts."""
    loop = asyncio.get_running_loop()
    caught = Caught()
    wanted = {signal.SIGTERM: leave, signal.SIGHUP: leave, signal.SIGINT: interrupt}
    for number, act in wanted.items():
        loop.add_signal_handler(number, _catch, caught, number, act)
    try:
        yield caught
    finally:
        for number in wanted:
            loop.remove_signal_handler(number)


def _catch(caught: Caught, number: int, act: Callable[[], None]) -> None:
    caught.number = number
    act()
