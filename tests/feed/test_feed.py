"""Followers: they miss nothing, repeat nothing, and delay no one."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from handraise.feed import PAGE, PREVIEW_ROOM, CursorGone, Feed, FeedFollower, FellBehind
from handraise.model.items import Item, Preview
from handraise.store.changes import Change, Prune
from handraise.store.interface import Store
from handraise.store.memory.store import MemoryStore
from handraise.store.sqlite.store import SqliteStore
from store.examples import a_text


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    record: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "hub.db")
    async with record:
        yield record


@pytest.fixture
async def feed(store: Store) -> AsyncIterator[Feed]:
    async with Feed(store) as opened:
        yield opened


def texts(count: int, session: str = "s_1") -> list[Change]:
    return [a_text(session=session) for _ in range(count)]


def a_preview(text: str, session: str = "s_1") -> Preview:
    return Preview(session, "m_1", 0, "text", text)


async def cursors_from(follower: FeedFollower, until: int) -> list[int]:
    """Everything that comes, up to and including this cursor."""
    cursors: list[int] = []
    async for news in follower:
        assert not isinstance(news, Preview)
        cursors += [item.cursor for item in news]
        if cursors[-1] >= until:
            break
    return cursors


async def rest_of(follower: FeedFollower) -> list[Sequence[Item] | Preview]:
    return [news async for news in follower]


async def test_history_comes_in_pages_and_then_what_is_live(store: Store, feed: Feed) -> None:
    await store.apply(texts(PAGE * 2 + 7))

    async with feed.follow(after=3) as follower:
        history = await cursors_from(follower, until=PAGE * 2 + 7)
        await store.apply(texts(2))
        live = await cursors_from(follower, until=PAGE * 2 + 9)

    assert history + live == list(range(4, PAGE * 2 + 10))


async def test_without_a_cursor_a_follower_begins_with_what_comes_next(store: Store, feed: Feed) -> None:
    await store.apply(texts(5))

    async with feed.follow() as follower:
        await store.apply(texts(1))
        assert await cursors_from(follower, until=6) == [6]


async def test_nothing_is_lost_or_repeated_between_history_and_live(store: Store, feed: Feed) -> None:  # lesson 46
    total = 64 * 20

    async def produce() -> None:
        for _ in range(20):
            await store.apply(texts(1))

    async def follow(after: int) -> list[int]:
        async with feed.follow(after) as follower:
            return await cursors_from(follower, until=total)

    async with asyncio.TaskGroup() as group:
        for _ in range(64):
            group.create_task(produce())
        followers = [group.create_task(follow(0)) for _ in range(10)]
        for _ in range(10):
            await store.apply([])
            _, newest = await store.cursors()
            followers.append(group.create_task(follow(newest - newest % 2)))

    for follower in followers:
        cursors = follower.result()
        assert cursors == list(range(cursors[0], total + 1))


async def test_a_follower_of_one_session_hears_of_no_other(store: Store, feed: Feed) -> None:  # lesson 26
    await store.apply([*texts(1, "s_1"), *texts(1, "s_2"), *texts(1, "s_1")])

    async with feed.follow(after=0, session="s_1") as follower:
        assert await cursors_from(follower, until=3) == [1, 3]
        await store.apply(texts(1, "s_2"))
        feed.preview(a_preview("other", "s_2"))
        await store.apply([*texts(1, "s_2"), *texts(1, "s_1")])
        assert await cursors_from(follower, until=6) == [6]


async def test_a_slow_follower_is_cut_off_and_comes_back_with_its_cursor(store: Store) -> None:  # lesson 49
    async with Feed(store, room=10) as feed, feed.follow(0) as slow, feed.follow(0) as quick:
        await store.apply(texts(1))
        assert await cursors_from(slow, until=1) == [1]
        assert await cursors_from(quick, until=1) == [1]
        await goes_live(slow)
        for number in range(2, 30):
            await store.apply(texts(1))
            assert await cursors_from(quick, until=number) == [number]

        with pytest.raises(FellBehind) as error:
            await cursors_from(slow, until=29)

        assert error.value.cursor == 1
        async with feed.follow(error.value.cursor) as back:
            assert await cursors_from(back, until=29) == list(range(2, 30))


async def test_one_commit_larger_than_the_room_cuts_nobody_off(store: Store) -> None:
    async with Feed(store, room=10) as feed, feed.follow() as follower:
        feed.preview(a_preview("before"))
        await store.apply(texts(100))

        assert await anext(follower) == a_preview("before")
        assert await cursors_from(follower, until=100) == list(range(1, 101))


async def test_a_cursor_whose_items_were_pruned_is_gone(store: Store, feed: Feed) -> None:
    await store.apply([*texts(10)])
    await store.apply([Prune(5)])

    with pytest.raises(CursorGone) as error:
        async with feed.follow(4):
            pass

    assert (error.value.oldest, error.value.newest) == (5, 10)
    async with feed.follow(5) as follower:
        assert await cursors_from(follower, until=10) == [6, 7, 8, 9, 10]


async def test_a_cursor_that_was_never_given_is_gone(store: Store, feed: Feed) -> None:
    await store.apply(texts(3))

    for unknown in (4, -1):
        with pytest.raises(CursorGone):
            async with feed.follow(unknown):
                pass


async def test_history_that_is_pruned_while_it_is_read_is_not_skipped_in_silence(store: Store, feed: Feed) -> None:
    await store.apply(texts(PAGE * 3))

    async with feed.follow(0) as follower:
        await anext(follower)
        await store.apply([Prune(PAGE * 2)])
        with pytest.raises(CursorGone):
            await anext(follower)


async def test_previews_come_between_the_items_in_order(store: Store, feed: Feed) -> None:
    async with feed.follow() as follower:
        feed.preview(a_preview("He"))
        feed.preview(a_preview("Hello"))
        (stored,) = (await store.apply(texts(1))).items
        feed.preview(a_preview("And"))

        assert [await anext(follower) for _ in range(4)] == [
            a_preview("He"),
            a_preview("Hello"),
            (stored,),
            a_preview("And"),
        ]


async def test_previews_are_left_out_for_who_is_slow(store: Store, feed: Feed) -> None:  # lesson 49
    async with feed.follow() as follower:
        for number in range(PREVIEW_ROOM * 3):
            feed.preview(a_preview("x" * number))
        (stored,) = (await store.apply(texts(1))).items

        news = [await anext(follower) for _ in range(PREVIEW_ROOM + 1)]

    assert news == [*(a_preview("x" * number) for number in range(PREVIEW_ROOM)), (stored,)]


async def test_previews_are_not_for_who_reads_history(store: Store, feed: Feed) -> None:
    await store.apply(texts(1))

    async with feed.follow(0) as follower:
        feed.preview(a_preview("too early"))
        assert await cursors_from(follower, until=1) == [1]


async def test_closing_the_feed_ends_its_followers(store: Store) -> None:  # lesson 52
    async with Feed(store) as feed, feed.follow() as waiting, feed.follow() as behind:
        ending = asyncio.create_task(rest_of(waiting))
        items = (await store.apply(texts(2))).items
        await feed.__aexit__(None, None, None)

        assert await ending == await rest_of(behind) == [items]
        async with feed.follow(0) as late:
            assert await rest_of(late) == []


async def test_a_feed_that_closes_in_the_middle_of_history_hands_out_nothing_beyond_it(store: Store) -> None:
    await store.apply(texts(PAGE * 2))
    async with Feed(store) as feed, feed.follow(0) as follower:
        first = await anext(follower)
        await feed.__aexit__(None, None, None)

        assert isinstance(first, Sequence)
        assert follower.cursor == first[-1].cursor == PAGE
        assert await rest_of(follower) == []


async def test_waiting_can_be_cancelled_at_any_moment_and_taken_up_again(store: Store, feed: Feed) -> None:
    await store.apply(texts(PAGE + 5))
    cursors: list[int] = []

    async with feed.follow(0) as follower:
        for turns in range(200):
            step = asyncio.ensure_future(anext(follower))
            for _ in range(turns % 7):
                await asyncio.sleep(0)
            if turns % 20 == 0:
                await store.apply(texts(1))
            step.cancel()
            try:
                news = await step
            except asyncio.CancelledError:
                continue
            assert not isinstance(news, Preview)
            cursors += [item.cursor for item in news]
        cursors += await cursors_from(follower, until=PAGE + 15) if follower.cursor < PAGE + 15 else []

    assert cursors == list(range(1, PAGE + 16))


async def test_who_left_is_forgotten(store: Store, feed: Feed) -> None:
    async with feed.follow(0), feed.follow():
        assert len(feed._followers) == 2

    assert not feed._followers


async def test_five_hundred_followers_share_the_items_of_a_commit(store: Store, feed: Feed) -> None:
    async def follow() -> Sequence[Item] | Preview:
        async with feed.follow() as follower:
            ready.release()
            return await anext(follower)

    ready = asyncio.Semaphore(0)
    async with asyncio.TaskGroup() as group:
        followers = [group.create_task(follow()) for _ in range(500)]
        for _ in followers:
            await ready.acquire()
        applied = await store.apply(texts(3))

    assert all(follower.result() == applied.items for follower in followers)
    assert len({id(follower.result()) for follower in followers}) == 1


async def goes_live(follower: FeedFollower) -> None:
    """Lets a follower find out that history has ended, without handing anything out."""
    step = asyncio.ensure_future(anext(follower))
    while follower._stage != "live":
        await asyncio.sleep(0)
    step.cancel()
    await asyncio.wait([step])
