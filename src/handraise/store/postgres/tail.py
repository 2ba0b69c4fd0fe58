"""Spreads what was committed, by this hub or another, in the order of the cursors. Owns how far that went."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from handraise.model.asks import Ask
from handraise.model.items import Item
from handraise.store.interface import StoreError
from handraise.store.postgres.reader import PostgresReader

T = TypeVar("T")
Spread = Callable[[Sequence[Item], Sequence[Ask]], None]

POLL = 1.0
"""How often the database is asked while nothing is heard, in seconds."""
POLL_DEAF = 0.2
"""The same if notifications can't reach us."""
_STEP = 500


class Read(Protocol):
    """Asks the database."""

    async def __call__(self, question: Callable[[PostgresReader], Awaitable[T]]) -> T: ...


class Commit(Struct, frozen=True):
    """What a transaction of this hub did, and how to tell those who wait for it."""

    tell: Callable[[], None]
    base: int | None = None
    """The newest cursor before it; None if it published nothing."""
    newest: int = 0
    items: Sequence[Item] = ()
    asks: Sequence[Ask] = ()
    rules: int = 0
    changed_rules: int = 0


class FeedTail:
    """Listeners hear of an item once, after all items before it; who committed it hears of its outcome after that.

    Notifications are hints: without any, the database is asked every second.
    """

    def __init__(
        self, read: Read, spread: Spread, on_rules: Callable[[], None], is_deaf: Callable[[], bool] = lambda: False
    ) -> None:
        """`is_deaf` tells whether notifications don't arrive at all: then it asks more often."""
        self._read = read
        self._spread = spread
        self._on_rules = on_rules
        self._commits: deque[Commit] = deque()
        self._wake = asyncio.Event()
        self._hinted = 0
        """The newest cursor that another hub told of."""
        self._polling = False
        """Something may have been missed."""
        self.position = 0
        self.last: Item | None = None
        """The newest item that was spread."""
        self.rules = 0
        self._is_deaf = is_deaf

    async def begin(self) -> None:
        """From here on."""
        self.position, self.rules = await self._newest()

    def committed(self, commit: Commit) -> None:
        """Called by the writer, in the order of its commits."""
        if not self._commits and self._is_next(commit):
            self._finish(commit)
        else:
            self._commits.append(commit)
            self._wake.set()

    def hint(self, newest: int) -> None:
        """Another hub says that it has committed this much."""
        if newest > self.position:
            self._hinted = max(self._hinted, newest)
            self._wake.set()

    def poll(self) -> None:
        """Something may have been missed."""
        self._polling = True
        self._wake.set()

    def heard_rules(self, rules: int) -> None:
        """Another hub says how often rules were changed."""
        if rules > self.rules:
            self.rules = rules
            self._on_rules()

    async def run(self) -> None:
        """Until it is cancelled. While the database is away, it tries again and again."""
        while True:
            try:
                async with asyncio.timeout(POLL_DEAF if self._is_deaf() else POLL):
                    await self._wake.wait()
            except TimeoutError:
                self._polling = True
            self._wake.clear()
            try:
                await self._follow()
            except StoreError:
                self._tell_all()
                await asyncio.sleep(POLL_DEAF)
                self.poll()

    def close(self) -> None:
        """Tells those who wait, even if not all was spread."""
        self._tell_all()

    async def _follow(self) -> None:
        while self._commits:
            commit = self._commits[0]
            if not self._is_next(commit):
                # Others committed before it, or a part of it was read from the database already.
                await self._catch_up(commit.newest if self.position > (commit.base or 0) else commit.base or 0)
            self._finish(self._commits.popleft())
        # A hint may come from anyone who may connect, so it is not believed beyond what is there.
        if self._hinted > self.position:
            await self._catch_up(self._hinted)
        if self._polling or self._hinted > self.position:
            newest, rules = await self._newest()
            await self._catch_up(newest)
            self.heard_rules(rules)
            self._polling, self._hinted = False, 0

    def _is_next(self, commit: Commit) -> bool:
        return commit.base is None or self.position == commit.base or self.position >= commit.newest

    def _finish(self, commit: Commit) -> None:
        if commit.base is not None:
            if self.position == commit.base:
                self.position = commit.newest
                self.last = commit.items[-1] if commit.items else self.last
                self._spread(commit.items, commit.asks)
            if commit.rules > self.rules + commit.changed_rules:
                self._on_rules()
            self.rules = max(self.rules, commit.rules)
        asyncio.get_running_loop().call_soon(commit.tell)

    async def _catch_up(self, newest: int) -> None:
        while self.position < newest:
            first = self.position

            async def read(reader: PostgresReader, first: int = first) -> tuple[list[Item], list[Ask]]:
                items = await reader.items(first, newest + 1, None, _STEP)
                return items, await reader.asks_in(items)

            items, asks = await self._read(read)
            if self.position != first:
                continue  # a commit of our own came in between
            if not items:
                return await self._skip_pruned(newest)
            self.position = items[-1].cursor
            self.last = items[-1]
            self._spread(items, asks)
        return None

    async def _skip_pruned(self, newest: int) -> None:
        """Nothing is there up to this cursor, because it was pruned, or because nobody has got that far."""
        there, _ = await self._newest()
        self.position = max(self.position, min(newest, there))

    async def _newest(self) -> tuple[int, int]:
        return await self._read(PostgresReader.newest)

    def _tell_all(self) -> None:
        """It is committed; what wasn't spread is read from the database later."""
        while self._commits:
            asyncio.get_running_loop().call_soon(self._commits.popleft().tell)
