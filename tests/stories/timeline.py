"""What stories ask of a timeline and of the processes behind it."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from handraise.desk.local import LocalDesk
from handraise.hub import Hub
from handraise.model.items import Content, Text, TurnEnded
from handraise.model.sessions import Session
from stories.house import DEADLINE, seen

C = TypeVar("C")


def texts(contents: list[Content]) -> list[str]:
    return [content.text for content in contents if isinstance(content, Text)]


def only(kind: type[C], contents: list[Content]) -> list[C]:
    return [content for content in contents if isinstance(content, kind)]


def times(count: int, kind: type[Content]) -> Callable[[Content], bool]:
    """Fits the n-th content of a kind."""
    found: list[Content] = []

    def fits(content: Content) -> bool:
        if isinstance(content, kind):
            found.append(content)
        return len(found) == count

    return fits


async def until_turn(desk: LocalDesk, session: Session, number: int = 1) -> list[Content]:
    return await seen(desk, times(number, TurnEnded), session.id)


def pid_of(hub: Hub, session: Session) -> int:
    runner = hub.crew.runner(session.id)
    assert runner is not None
    return runner.identity.pid


def claude_of(hub: Hub, session: Session) -> int:
    """Claude itself: in a sandbox it is the child of the process that is on record."""
    first = pid_of(hub, session)
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return next(
        pid for pid in (first, *map(int, children)) if b"stream-json" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )


async def kill(pid: int) -> None:
    """Returns when the process is dead."""
    pidfd = os.pidfd_open(pid)
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(pidfd, gone.set)
    try:
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(DEADLINE):
            await gone.wait()
    finally:
        asyncio.get_running_loop().remove_reader(pidfd)
        os.close(pidfd)
