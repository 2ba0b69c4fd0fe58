"""Blocking work in a thread of its own."""

import asyncio
import threading

import pytest

from handraise.channels.threads import in_thread


async def test_work_returns_and_raises_as_if_it_were_here() -> None:
    assert await in_thread(lambda: threading.current_thread().name) == "channel"
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0)


async def test_canceled_work_holds_up_nobody() -> None:
    started, ended = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(started.set)
        ended.wait()

    task = asyncio.create_task(in_thread(work))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    ended.set()


def test_work_that_ends_after_its_loop_is_forgotten() -> None:
    ended = threading.Event()
    threads: list[threading.Thread] = []

    def work() -> None:
        threads.append(threading.current_thread())
        ended.wait()

    async def abandon() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await in_thread(work)

    asyncio.run(abandon())
    ended.set()
    for each in threads:
        each.join()
