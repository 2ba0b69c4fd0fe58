"""A Claude played by the test: it writes what it is told to, and records what was written to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from posixpath import normpath
from typing import Any, cast

import msgspec

from handraise.claude.claude import Claude
from handraise.claude.fifo import ChildGone
from handraise.claude.process import Identity
from handraise.feed import Feed
from handraise.inbox.considering import Surroundings
from handraise.inbox.inbox import Inbox
from handraise.model.asks import Ask
from handraise.model.projects import Patience
from handraise.model.sessions import Session
from handraise.session.machine import SessionLimits, SessionMachine
from handraise.session.memory import Memory
from handraise.session.runner import Runner
from handraise.store.changes import SaveSession
from handraise.store.interface import Store
from handraise.wire.connection import Connection
from session.claude_says import NOON, Line

DEADLINE = 60.0


class StandIn:
    """Looks like a Claude to a runner. Clear `read` to make it stop reading."""

    def __init__(self) -> None:
        self.journal = b""
        self.written: list[Any] = []
        self.farewells: list[bytes | None] = []
        self.read = asyncio.Event()
        self.read.set()
        self.ended = asyncio.Event()
        self.identity = Identity(1, "", "")
        self.exit_code: int | None = None
        self.offset = 0
        self.process = self
        self.folder = self
        self._news = asyncio.Condition()

    def last_errors(self) -> str:
        return "as the test wanted"

    async def say(self, *lines: Line) -> None:
        async with self._news:
            self.journal += b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
            self._news.notify_all()

    async def end(self, exit_code: int | None = 0) -> None:
        async with self._news:
            self.exit_code = exit_code
            self.ended.set()
            self._news.notify_all()

    async def follow(self, offset: int) -> AsyncIterator[bytes]:
        while chunk := await self._next(offset):
            offset += len(chunk)
            yield chunk

    def write_now(self, line: bytes) -> bool:
        return False

    async def write(self, line: bytes) -> None:
        if self.ended.is_set():
            raise ChildGone("Claude has exited")
        await self.read.wait()
        async with self._news:
            self.written.append(msgspec.json.decode(line))
            self._news.notify_all()

    def taken_in(self, offset: int) -> None:
        self.offset = offset

    async def stop(self, farewell: bytes | None = None) -> None:
        self.farewells.append(farewell)
        await self.end(0)

    async def heard(self, kind: str, count: int = 1) -> list[Any]:
        """This many lines of a type, as soon as they are written."""
        async with asyncio.timeout(DEADLINE), self._news:
            await self._news.wait_for(lambda: len(self.lines(kind)) >= count)
        return self.lines(kind)

    def lines(self, kind: str) -> list[Any]:
        return [line for line in self.written if line["type"] == kind]

    async def _next(self, offset: int) -> bytes:
        async with self._news:
            await self._news.wait_for(lambda: len(self.journal) > offset or self.ended.is_set())
            return self.journal[offset:]


class StandInClock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Stage:
    """A runner and everything around it."""

    def __init__(
        self, store: Store, feed: Feed, inbox: Inbox, claude: StandIn, runner: Runner, clock: StandInClock
    ) -> None:
        self.store = store
        self.feed = feed
        self.inbox = inbox
        self.claude = claude
        self.runner = runner
        self.clock = clock

    async def ask(self, reference: str = "r_1") -> Ask:
        """The ask that Claude raised with this request, as soon as it is stored."""
        async with asyncio.timeout(DEADLINE), self.feed.follow(0) as follower:
            async for _ in follower:
                for ask in await self.store.asks(session="s_1"):
                    if ask.origin.reference == reference:
                        return ask
        raise AssertionError("the feed ended")

    async def until(self, kind: type) -> Any:
        """The first content of a kind."""
        async with asyncio.timeout(DEADLINE), self.feed.follow(0) as follower:
            async for news in follower:
                for content in [item.read() for item in news if hasattr(item, "read")]:  # type: ignore[union-attr]
                    if isinstance(content, kind):
                        return content
        raise AssertionError("the feed ended")


SESSION = Session("s_1", None, "/work/app", "claude-1", "Fix it", NOON, NOON, phase="starting", run=1)


@asynccontextmanager
async def stage(
    store: Store,
    claude: StandIn | None = None,
    *,
    limits: SessionLimits | None = None,
    patience: Patience | None = None,
    clock: StandInClock | None = None,
) -> AsyncIterator[Stage]:
    """A running runner: a first one, or the next one on the same store."""
    claude, clock = claude or StandIn(), clock or StandInClock()
    record = await store.session("s_1")
    if record is None:
        await store.apply([SaveSession(SESSION)])
    checkpoint = await store.checkpoint("s_1")
    memory = Memory.load(checkpoint.memory) if checkpoint else Memory(version="2.1.325")
    memory.title = (record or SESSION).title
    wire = Connection(checkpoint.offset if checkpoint else 0, memory.requests)
    async with Feed(store) as feed, Inbox(store, clock) as inbox:
        runner = Runner(
            record or SESSION,
            SessionMachine("s_1", None, memory, wire, limits or SessionLimits()),
            cast(Claude, claude),
            store=store,
            inbox=inbox,
            feed=feed,
            surroundings=lambda session: Surroundings(
                session.directory, session.mode, patience or Patience(), normpath, lambda _: None
            ),
            clock=clock,
        )
        running = asyncio.create_task(runner.run())
        try:
            yield Stage(store, feed, inbox, claude, runner, clock)
        finally:
            running.cancel()
            await asyncio.wait({running})
            if not running.cancelled() and running.exception() is not None:
                raise running.exception() or AssertionError
