"""What stories check about a timeline and its processes."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from handraise.hub.desk import LocalDesk
from handraise.hub.hub import Hub
from handraise.model.asks import Ask
from handraise.model.items import Content, Text, TurnEnded
from handraise.model.sessions import Session
from stories.house import DEADLINE, House, next_ask, seen

C = TypeVar("C")


def texts(contents: list[Content]) -> list[str]:
    return [content.text for content in contents if isinstance(content, Text)]


def only(kind: type[C], contents: list[Content]) -> list[C]:
    return [content for content in contents if isinstance(content, kind)]


def times(count: int, kind: type[Content]) -> Callable[[Content], bool]:
    """Matches the n-th content of a kind."""
    found: list[Content] = []

    def fits(content: Content) -> bool:
        if isinstance(content, kind):
            found.append(content)
        return len(found) == count

    return fits


async def until_turn(desk: LocalDesk, session: Session, number: int = 1) -> list[Content]:
    return await seen(desk, times(number, TurnEnded), session.id)


class Stay:
    """One session for many stories: each starts with a message, and sees what follows."""

    def __init__(self, home: House, hub: Hub) -> None:
        self.home = home
        self.hub = hub
        self.desk = hub.desk
        self._session: Session | None = None
        self._after = 0

    @property
    def session(self) -> Session:
        assert self._session is not None
        return self._session

    async def begin(self, words: str, mode: str = "default") -> Session:
        """Sends the message in the session if it is idle, else in a new one; in this mode."""
        self._after = await self.desk.newest()
        now = (await self.desk.session(self._session.id)).session if self._session else None
        if now and now.phase == "idle":
            if now.mode != mode:
                await self.desk.change_mode(now.id, mode)
            self._session = now
            await self.desk.say(now.id, words)
        else:
            self._session = (await self.desk.start(words, str(self.home.work), mode=mode)).session
        return self.session

    def go_on_with(self, session: Session) -> None:
        """The next story uses this session."""
        self._session = session

    def leave(self) -> None:
        """The next story uses a new session."""
        self._session = None

    async def next_ask(self, but: set[str] | None = None) -> Ask:
        return await next_ask(self.desk, self.session, but)

    async def seen(self, fits: Callable[[Content], bool]) -> list[Content]:
        return await seen(self.desk, fits, self.session.id, self._after)

    async def until_turn(self, number: int = 1) -> list[Content]:
        """Up to the end of a turn, when Claude is idle."""
        contents = await self.seen(times(number, TurnEnded))
        await self.until_idle()
        return contents

    async def until_idle(self) -> None:
        await until_phase(self.desk, self.session, "idle")


async def until_phase(desk: LocalDesk, session: Session, phase: str) -> None:
    async with asyncio.timeout(DEADLINE), desk.follow(0, session.id) as follower:
        async for _ in follower:
            if (await desk.session(session.id)).session.phase == phase:
                return
    raise AssertionError("the feed ended")


def pid_of(hub: Hub, session: Session) -> int:
    runner = hub.pool.runner(session.id)
    assert runner is not None
    return runner.identity.pid


def claude_of(hub: Hub, session: Session) -> int:
    """Claude itself: in a sandbox it is the child of the recorded process."""
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
