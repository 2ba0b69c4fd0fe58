"""Takers: they get live news in the same moment, in the same order as the iterator would."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from feed.test_feed import a_preview, texts
from handraise.feed import PAGE, Feed, FeedFollower, FellBehind, News
from handraise.model.items import Item, Preview
from handraise.store.memory.store import MemoryStore


class RoomyReader:
    """A follower's client: takes what it is handed while it has room, and reads the rest from the iterator."""

    def __init__(self, follower: FeedFollower, *, room: int = 1_000_000) -> None:
        self.follower = follower
        self.seen: list[int | str] = []
        self.taken = 0
        self.room = room
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()
        follower.taker = self.take

    def take(self, news: News) -> bool:
        if self.room <= 0:
            return False
        self.room -= 1
        self.taken += 1
        self.note(news)
        return True

    async def run(self) -> None:
        async for news in self.follower:
            await self.may_go_on.wait()
            self.note(news)

    def note(self, news: News) -> None:
        self.seen += [news.text] if isinstance(news, Preview) else [item.cursor for item in news]


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    async with MemoryStore() as opened:
        yield opened


@pytest.fixture
async def feed(store: MemoryStore) -> AsyncIterator[Feed]:
    async with Feed(store) as opened:
        yield opened


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_live_news_is_taken_before_apply_returns(store: MemoryStore, feed: Feed) -> None:
    async with feed.follow(0) as follower, asyncio.TaskGroup() as tasks:
        reader = RoomyReader(follower)
        running = tasks.create_task(reader.run())
        await settled()
        await store.apply(texts(2))
        assert reader.seen == [1, 2]
        feed.preview(a_preview("Hel"))
        assert (reader.seen, reader.taken, follower.cursor) == ([1, 2, "Hel"], 2, 2)
        running.cancel()


async def test_what_is_not_taken_is_queued_and_so_is_all_that_follows(store: MemoryStore, feed: Feed) -> None:
    async with feed.follow(0) as follower, asyncio.TaskGroup() as tasks:
        reader = RoomyReader(follower, room=1)
        running = tasks.create_task(reader.run())
        await settled()
        await store.apply(texts(1))
        reader.may_go_on.clear()
        await store.apply(texts(1))  # no room: it is queued, and the task has it
        reader.room = 10
        await store.apply(texts(1))  # room again, but it isn't its turn
        feed.preview(a_preview("later"))
        assert reader.seen == [1]
        reader.may_go_on.set()
        await settled()
        assert reader.seen == [1, 2, 3, "later"]
        await store.apply(texts(1))
        assert (reader.seen[-1], reader.taken) == (4, 2)
        running.cancel()


async def test_a_follower_that_joins_while_items_are_committed_gets_each_once(store: MemoryStore, feed: Feed) -> None:
    await store.apply(texts(PAGE + 3))
    count = PAGE + 3

    async def commit() -> None:
        for _ in range(200):
            await store.apply(texts(1))
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        writing = tasks.create_task(commit())
        readers = []
        for _ in range(30):
            await asyncio.sleep(0)
            readers.append(tasks.create_task(_read(feed, until=count + 200)))
        await writing
    for each in readers:
        seen, direct = each.result()
        assert seen == list(range(1, count + 201))
        assert direct > 0


async def _read(feed: Feed, until: int) -> tuple[list[int | str], int]:
    async with feed.follow(0) as follower:
        reader = RoomyReader(follower)
        running = asyncio.create_task(reader.run())
        while not reader.seen or reader.seen[-1] != until:
            await asyncio.sleep(0)
        running.cancel()
        return reader.seen, reader.taken


async def test_a_taker_without_room_falls_behind_like_any_follower(store: MemoryStore) -> None:
    async with Feed(store, room=3) as feed, feed.follow(0) as follower:
        follower.taker = lambda _: False
        waiting = asyncio.ensure_future(anext(follower))
        await settled()
        await store.apply(texts(2))
        assert len(await waiting) == 2  # type: ignore[arg-type]
        await store.apply(texts(2))
        await store.apply(texts(2))
        with pytest.raises(FellBehind):
            await anext(follower)


async def test_nothing_is_taken_once_the_iterator_was_left(store: MemoryStore, feed: Feed) -> None:
    async with feed.follow(0) as follower:
        reader = RoomyReader(follower)
        running = asyncio.create_task(reader.run())
        await settled()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await store.apply(texts(1))
        assert (reader.seen, reader.taken) == ([], 0)


async def test_an_asker_has_its_turn_before_followers_hear_of_the_answer(feed: Feed) -> None:
    """The store wakes askers, then calls the feed, then its callers. Later commits and previews stay behind."""
    order: list[str] = []
    async with feed.follow(0) as follower, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(RoomyReader(follower).run())
        await settled()

        def take(news: News) -> bool:
            order.append(news.text if isinstance(news, Preview) else f"{len(news)} items")
            return True

        follower.taker = take
        loop = asyncio.get_running_loop()
        loop.call_soon(order.append, "the asker")
        feed._hear([_item(1, b'{"type":"ask.settled","ask":"a_1"}')])
        feed._hear([_item(2, b'{"type":"notice"}'), _item(3, b'{"type":"notice"}')])
        feed.preview(a_preview("a preview"))
        loop.call_soon(order.append, "the caller")
        await settled()
        running.cancel()
    assert order == ["the asker", "1 items", "2 items", "a preview", "the caller"]


def _item(cursor: int, content: bytes) -> Item:
    return Item(cursor, None, datetime.now(UTC), content)


async def test_a_taker_that_fails_keeps_nothing_from_the_others_and_gets_it_later(
    feed: Feed, store: MemoryStore
) -> None:
    class Failing(RoomyReader):
        def take(self, news: News) -> bool:
            raise RuntimeError(news)

    async with feed.follow() as first, feed.follow() as second:
        readers = [Failing(first), RoomyReader(second)]
        tasks = [asyncio.create_task(reader.run()) for reader in readers]
        await settled()
        await store.apply(texts(3))
        await settled()
        assert [reader.seen for reader in readers] == [[1, 2, 3], [1, 2, 3]]
        for task in tasks:
            task.cancel()
