"""Runs blocking work in a thread of its own, which nothing waits for when it is abandoned.

The pool of the event loop has few threads, which others need, and the process waits for them when it ends.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """What the work returns or raises. If the caller is canceled, the thread continues, and its outcome is dropped."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(settled: Callable[[], None]) -> None:
        # The loop may be closed: then nobody waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: None if outcome.done() else settled())

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            failure = error
            settle(lambda: outcome.set_exception(failure))
        else:
            settle(lambda: outcome.set_result(result))

    threading.Thread(target=run, name="channel", daemon=True).start()
    return await outcome
