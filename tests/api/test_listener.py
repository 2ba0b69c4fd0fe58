"""A listener that nobody talks to sleeps."""

import asyncio
from typing import Any

import pytest
from starlette.applications import Starlette

from handraise.api.server import Listener, listen_on_port


async def wakings_of_an_idle_listener(monkeypatch: pytest.MonkeyPatch) -> list[asyncio.TimerHandle]:
    """What would wake the loop up within a second. Then the listener is stopped."""
    loop, timers = asyncio.get_running_loop(), []
    call_at = loop.call_at

    def noted(when: float, *arguments: Any, **named: Any) -> asyncio.TimerHandle:
        timer = call_at(when, *arguments, **named)
        timers.append(timer)
        return timer

    monkeypatch.setattr(loop, "call_at", noted)
    socket = listen_on_port("127.0.0.1", 0)
    listener = Listener(Starlette(), socket)
    serving = asyncio.create_task(listener.serve())
    _, writer = await asyncio.open_connection(*socket.getsockname())
    writer.close()
    await writer.wait_closed()
    waking = [each for each in timers if not each.cancelled() and each.when() < loop.time() + 1]
    listener.stop()
    await serving
    return waking


async def test_an_idle_listener_does_not_wake_up_by_itself_and_ends_when_it_is_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # On a loop of its own: others have timers on this one.
    assert await asyncio.to_thread(asyncio.run, wakings_of_an_idle_listener(monkeypatch)) == []
