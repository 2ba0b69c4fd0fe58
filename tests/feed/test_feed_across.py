"""Previews across machines: they reach whoever looks at the session, and nobody else."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from handraise.feed import PREVIEW_ROOM, Feed, FeedFollower
from handraise.model.items import Preview, Text
from handraise.store.changes import PublishItems, SaveSession
from handraise.store.interface import Store
from handraise.store.memory.store import MemoryDatabase, MemoryStore
from store.examples import NOON, a_session, a_text

DEADLINE = 5.0


class RecordingStore(MemoryStore):
    """A real store that also notes which previews it was asked for, and which it was given."""

    def __init__(self, machine: str, database: MemoryDatabase | None = None) -> None:
        super().__init__(machine, database)
        self.wants: list[set[str]] = []

    def want_previews(self, sessions: Collection[str]) -> None:
        self.wants.append(set(sessions))
        super().want_previews(sessions)


class TwoFeeds:
    """Two machines over one database, with a session each."""

    def __init__(self, here: RecordingStore, there: RecordingStore, feed_here: Feed, feed_there: Feed) -> None:
        self.here, self.there = here, there
        self.feed_here, self.feed_there = feed_here, feed_there


@asynccontextmanager
async def machines() -> AsyncIterator[TwoFeeds]:
    database = MemoryDatabase()
    async with (
        RecordingStore("m_here", database) as here,
        RecordingStore("m_there", database) as there,
        Feed(here) as feed_here,
        Feed(there) as feed_there,
    ):
        await here.apply([SaveSession(replace(a_session("s_here"), machine="m_here"))])
        await there.apply([SaveSession(replace(a_session("s_there"), machine="m_there"))])
        yield TwoFeeds(here, there, feed_here, feed_there)


def a_preview(text: str, session: str = "s_there", kind: str = "text") -> Preview:
    return Preview(session, "m_1", 0, kind, text)


async def previews_until_an_item(follower: FeedFollower, store: Store) -> list[str]:
    """The previews that came before an item that is stored now."""
    await asyncio.sleep(0)
    await store.apply([a_text("the end", "s_there")])
    texts: list[str] = []
    async with asyncio.timeout(DEADLINE):
        async for news in follower:
            if not isinstance(news, Preview):
                return texts
            texts.append(news.text)
    return texts


@pytest.mark.parametrize(("session", "watch"), [("s_there", ()), (None, ["s_there"])], ids=["followed", "watched"])
async def test_a_preview_reaches_whoever_looks_at_its_session_elsewhere(session: str | None, watch: list[str]) -> None:
    async with machines() as both, both.feed_here.follow(session=session, watch=watch) as follower:
        both.feed_there.preview(a_preview("one"))
        both.feed_there.preview(a_preview("one two"))

        assert await previews_until_an_item(follower, both.there) == ["one", "one two"]


async def test_a_follower_of_everything_makes_no_session_elsewhere_stream() -> None:
    async with machines() as both, both.feed_here.follow() as follower:
        both.feed_there.preview(a_preview("unseen"))

        assert await previews_until_an_item(follower, both.there) == []
        assert both.here.wants == []


async def test_only_sessions_elsewhere_are_wanted_and_only_while_someone_looks() -> None:
    async with machines() as both:
        async with both.feed_here.follow(watch=["s_here", "s_there", "s_none"]):
            async with both.feed_here.follow(session="s_there"):
                pass
            assert both.here.wants == [{"s_there"}]
        assert both.here.wants == [{"s_there"}, set()]


async def test_a_preview_of_a_session_of_ours_from_elsewhere_is_not_shown() -> None:
    async with machines() as both, both.feed_here.follow(watch=["s_here", "s_there"]) as follower:
        both.here.want_previews({"s_here", "s_there"})
        both.feed_there.preview(a_preview("forged", "s_here"))
        both.feed_there.preview(a_preview("honest"))

        assert await previews_until_an_item(follower, both.there) == ["honest"]


async def test_a_hostile_preview_comes_as_it_is_and_breaks_nothing() -> None:
    hostile = "\0</script>\ud800‮" + "x" * 1_000_000
    async with machines() as both, both.feed_here.follow(session="s_there") as follower:
        both.feed_there.preview(a_preview(hostile, kind="<b>"))

        assert await previews_until_an_item(follower, both.there) == [hostile]


async def test_a_preview_that_comes_after_its_block_was_stored_is_not_shown() -> None:
    async with machines() as both, both.feed_here.follow(session="s_there") as follower:
        await both.there.apply([PublishItems("s_there", NOON, Text("all of it", "m_1"))])
        assert not isinstance(await anext(follower), Preview)
        both.feed_there.preview(a_preview("all of"))
        both.feed_there.preview(a_preview("another block"))

        assert await previews_until_an_item(follower, both.there) == ["another block"]


async def test_a_flood_of_previews_fills_no_queue_and_loses_no_item() -> None:
    async with machines() as both, both.feed_here.follow(session="s_there") as follower:
        for number in range(100 * PREVIEW_ROOM):
            both.feed_there.preview(a_preview(str(number)))

        assert len(await previews_until_an_item(follower, both.there)) <= PREVIEW_ROOM


async def test_a_store_of_one_machine_is_asked_for_nothing() -> None:
    async with RecordingStore("m_here") as store, Feed(store) as feed:
        await store.apply([SaveSession(replace(a_session("s_there"), machine="m_there"))])
        async with feed.follow(session="s_there", watch=["s_there"]):
            pass

        assert store.wants == []
