"""The ordered log of changes, sent to followers. Never blocks a writer: a follower that can't keep up is cut off."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Literal, Self

from handraise.model.items import Item, Preview, Text, Thinking
from handraise.store.interface import Store

PAGE = 500
"""How many items of history are read at a time."""
ROOM = 5_000
"""How many items may be queued for a follower. Items are shared, so this isn't memory for each."""
PREVIEW_ROOM = 50
"""A follower with more than this queued gets no previews until it has caught up."""
_REMEMBERED = 20
# The type comes first in an item, so that other items needn't be decoded.
_BLOCKS = (b'{"type":"text"', b'{"type":"thinking"')
_SETTLED = b'{"type":"ask.settled"'


# history: items are read from the store; live ones are skipped. joining: live ones queue while the rest is read.
_Stage = Literal["history", "joining", "live", "cut off"]

News = Sequence[Item] | Preview
Taker = Callable[[News], bool]
"""Gets news before anyone is woken for it; returns whether it took it. It never waits."""


log = logging.getLogger("handraise.feed")


class FeedError(Exception):
    """The follower can't continue from here."""


class FellBehind(FeedError):
    """Too many items were queued for this follower. It can reconnect: it has received everything up to the cursor."""

    def __init__(self, cursor: int) -> None:
        super().__init__(f"the follower fell behind after cursor {cursor}")
        self.cursor = cursor


class CursorGone(FeedError):
    """Items after this cursor were pruned, or it was never issued. Start again from the current state."""

    def __init__(self, cursor: int, oldest: int, newest: int) -> None:
        super().__init__(f"cursor {cursor} is not between {oldest} and {newest}")
        self.cursor = cursor
        self.oldest = oldest
        """The first cursor that can still be followed."""
        self.newest = newest


class FeedFollower:
    """An async iterator over items, in cursor order, and previews. It ends when the feed closes.

    It reads history from the store until little is left, then queues live items, and only then reads the rest: nothing
    is lost in between, and duplicates are dropped by cursor.

    A `taker` gets live news directly, while the iterator waits for some and nothing is queued. What it doesn't take is
    queued, and so is all that follows, until the iterator has delivered that: the order stays the same.
    """

    def __init__(self, store: Store, session: str | None, room: int) -> None:
        self.session = session
        self.cursor = 0
        """The last item that was delivered."""
        self.elsewhere: frozenset[str] = frozenset()
        """The sessions on other machines whose previews it shows."""
        self._store = store
        self._room = room
        self.taker: Taker | None = None
        # A list, since there may be thousands of followers with nothing queued: an empty deque takes 760 bytes.
        self._waiting: list[News] = []
        self._items_waiting = 0
        self._wakes: asyncio.Future[None] | None = None
        """Done when there is something; None while the iterator isn't waiting."""
        self._stage: _Stage = "history"
        self._closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> News:
        # Cancelling the caller loses nothing: the cursor moves after the last await.
        while True:
            news = await self._next()
            if news:
                return news

    async def begin(self, after: int | None) -> None:
        """Moves to its position in the feed; None is the end. Raises CursorGone."""
        if after is None:
            self._stage = "live"
            _, self.cursor = await self._store.cursors()
        else:
            self.cursor = after
            await self._check_cursor()

    def offer(self, items: Sequence[Item]) -> None:
        """Queues items that were just committed."""
        if self._stage in ("history", "cut off") or self._take(items):
            return
        if self._items_waiting and self._items_waiting + len(items) > self._room:
            self._stage = "cut off"
            self._waiting.clear()
        else:
            self._waiting.append(items)
            self._items_waiting += len(items)
        self._wake()

    def offer_preview(self, preview: Preview) -> None:
        """Skipped if too much is queued already."""
        if self._stage == "live" and len(self._waiting) < PREVIEW_ROOM and not self._take(preview):
            self._waiting.append(preview)
            self._wake()

    def close(self) -> None:
        """Queued items are still delivered; history isn't read to its end."""
        self._closed = True
        self._wake()

    @property
    def is_idle(self) -> bool:
        """Whether everything was delivered: the iterator waits for news, and nothing is queued."""
        return self._wakes is not None and not self._waiting

    async def _next(self) -> News:
        """The next step, which may return nothing."""
        if self._stage == "cut off":
            raise FellBehind(self.cursor)
        if self._stage != "live" and not self._closed:
            return await self._read_history()
        if self._stage == "live" and self._waiting:
            return self._take_waiting()
        if self._closed:
            raise StopAsyncIteration
        self._wakes = asyncio.get_running_loop().create_future()
        try:
            await self._wakes
        finally:
            self._wakes = None
        return ()

    def _wake(self) -> None:
        if self._wakes is not None and not self._wakes.done():
            self._wakes.set_result(None)

    def _take(self, news: News) -> bool:
        """Whether the taker took it. Items that were in the history already count as taken."""
        if self.taker is None or not self.is_idle:
            return False
        unseen = news if isinstance(news, Preview) else self._unseen(news)
        try:
            if unseen and not self.taker(unseen):
                return False
        except Exception:  # one that fails must not keep the news from the others; it gets it as everyone does
            log.exception("news could not be handed over")
            return False
        if not isinstance(unseen, Preview):
            self._move_to(unseen)
        return True

    async def _read_history(self) -> Sequence[Item]:
        began = self._stage
        page = await self._store.items(after=self.cursor, session=self.session, limit=PAGE)
        await self._check_cursor()  # items pruned while we read would be skipped silently
        if len(page) < PAGE and self._stage == began:
            self._stage = "joining" if began == "history" else "live"
        if page:
            self.cursor = page[-1].cursor
        return page

    async def _check_cursor(self) -> None:
        pruned, newest = await self._store.cursors()
        if not pruned <= self.cursor <= newest:
            raise CursorGone(self.cursor, pruned, newest)

    def _take_waiting(self) -> News:
        """Returns nothing if all of it was in the history."""
        news = self._waiting.pop(0)
        if isinstance(news, Preview):
            return news
        self._items_waiting -= len(news)
        unseen = self._unseen(news)
        self._move_to(unseen)
        return unseen

    def _unseen(self, items: Sequence[Item]) -> Sequence[Item]:
        if items[0].cursor > self.cursor:
            return items
        return [item for item in items if item.cursor > self.cursor]

    def _move_to(self, items: Sequence[Item]) -> None:
        if items:
            self.cursor = items[-1].cursor


class Feed:
    """Entered with `async with`, inside the store's. Leaving it ends every follower.

    Previews of sessions on other machines come only while a follower shows them. Nobody shows all of them at once.
    """

    def __init__(self, store: Store, *, room: int = ROOM) -> None:
        self._store = store
        self._room = room
        self._followers: set[FeedFollower] = set()
        self._wanted: frozenset[str] = frozenset()
        self._complete: dict[str, deque[Text | Thinking]] = {}
        """The last blocks of the wanted sessions."""
        self._deferred: list[News] = []
        """What is spread as soon as those that wait for an answer had their turn."""
        self._open = False

    async def __aenter__(self) -> Self:
        self._store.listen(self._hear)
        self._store.listen_to_previews(self._show_from_elsewhere)
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        self._spread_deferred()
        for follower in self._followers:
            follower.close()

    @asynccontextmanager
    async def follow(
        self, after: int | None = None, session: str | None = None, watch: Collection[str] = ()
    ) -> AsyncIterator[FeedFollower]:
        """Everything after this cursor, of one session or of all; without a cursor, only new items.

        `watch` are sessions that are on a screen: their previews come from other machines, too.
        Raises CursorGone immediately if the cursor can't be followed. The follower raises FellBehind when it is cut
        off.
        """
        follower = FeedFollower(self._store, session, self._room)
        self._followers.add(follower)
        try:
            if self._open:
                await follower.begin(after)
                follower.elsewhere = await self._elsewhere({*watch, *([session] if session else [])})
                self._want_previews()
            else:
                follower.close()
            yield follower
        finally:
            self._followers.discard(follower)
            self._want_previews()

    def preview(self, preview: Preview) -> None:
        """Shows an unfinished block of a session that runs here to live followers, here and elsewhere."""
        self._show(preview)
        self._store.preview(preview)

    def _show_from_elsewhere(self, preview: Preview) -> None:
        # Only what someone here looks at: never a session of this machine, whoever sent it.
        if preview.session in self._wanted and not self._is_complete(preview):
            self._show(preview)

    def _is_complete(self, preview: Preview) -> bool:
        """Whether the block is stored already: between machines, its last preview may come later than that."""
        kind = Thinking if preview.kind == "thinking" else Text
        return any(
            isinstance(block, kind) and block.message == preview.message and block.text.startswith(preview.text)
            for block in self._complete.get(preview.session, ())
        )

    def _show(self, preview: Preview) -> None:
        if self._deferred:
            self._deferred.append(preview)
        else:
            self._spread_preview(preview)

    def _spread_preview(self, preview: Preview) -> None:
        for follower in tuple(self._followers):
            if follower.session in (None, preview.session):
                follower.offer_preview(preview)

    async def _elsewhere(self, sessions: Collection[str]) -> frozenset[str]:
        if not self._store.shared:
            return frozenset()
        found = [await self._store.session(each) for each in sessions]
        return frozenset(each.id for each in found if each and each.machine not in ("", self._store.machine))

    def _want_previews(self) -> None:
        if not self._store.shared:
            return
        wanted = frozenset[str]().union(*[follower.elsewhere for follower in self._followers])
        if wanted != self._wanted:
            self._wanted = wanted
            self._complete = {each: self._complete.get(each) or deque(maxlen=_REMEMBERED) for each in wanted}
            self._store.want_previews(wanted)

    def _remember(self, session: str, items: Sequence[Item]) -> None:
        blocks = [item.read() for item in items if item.content.startswith(_BLOCKS)]
        self._complete[session].extend([block for block in blocks if isinstance(block, Text | Thinking)])

    def _hear(self, items: Sequence[Item]) -> None:
        """Spreads what was committed. An asker that just got its answer goes first, however many followers there are.

        It was woken before this, and has its turn before a callback that is scheduled here. Callers of `apply` have
        theirs later.
        """
        if not self._deferred:
            if not any(item.content.startswith(_SETTLED) for item in items):
                self._spread(items)
                return
            asyncio.get_running_loop().call_soon(self._spread_deferred)
        self._deferred.append(items)

    def _spread_deferred(self) -> None:
        deferred, self._deferred = self._deferred, []
        for news in deferred:
            if isinstance(news, Preview):
                self._spread_preview(news)
            else:
                self._spread(news)

    def _spread(self, items: Sequence[Item]) -> None:
        by_session: dict[str | None, list[Item]] = {}
        for item in items:
            by_session.setdefault(item.session, []).append(item)
        for session in self._wanted:
            self._remember(session, by_session.get(session, ()))
        for follower in tuple(self._followers):
            news = items if follower.session is None else by_session.get(follower.session)
            if news:
                follower.offer(news)
