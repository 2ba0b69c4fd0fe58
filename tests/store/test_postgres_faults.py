"""The database goes away, connections break and hang: nothing is lost, nothing is stored twice, all goes on."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from handraise.model.items import Item
from handraise.store.changes import OpenAsk, SettleAsk
from handraise.store.interface import Store, StoreAway, StoreFenced
from handraise.store.postgres.store import PostgresStore
from postgres.cluster import Cluster
from postgres.fixtures import READY, new_cluster
from postgres.proxy import Proxy
from store.examples import a_text, an_ask, answered, cursors_of, texts_of
from store.waiting import SECONDS, until

WRITERS = 4
COMMIT = b"COMMIT\x00"
"""As the writer sends it, and not within another statement."""


@pytest.fixture(scope="module")
def mortal() -> Iterator[Cluster]:
    """A server that these tests kill, freeze and start again."""
    with new_cluster() as running:
        yield running


@pytest.fixture
async def proxy(mortal: Cluster) -> AsyncIterator[Proxy]:
    async with Proxy(mortal.port) as between:
        yield between


@pytest.fixture
def through(mortal: Cluster, proxy: Proxy) -> str:
    """The URL of a fresh database behind the proxy."""
    return mortal.url(mortal.create(READY), port=proxy.port)


async def all_texts(store: Store) -> list[str]:
    return texts_of(await store.items(after=0, limit=1_000_000))


async def more_than(items: list[Item], count: int) -> None:
    await until(lambda: len(items) > count)


async def write_until(store: Store, name: str, ended: asyncio.Event) -> list[str]:
    """Writes numbered texts, and each again only if nothing of it was stored. Returns what was acknowledged."""
    stored: list[str] = []
    while not ended.is_set():
        try:
            await store.apply([a_text(f"{name} {len(stored)}")])
        except StoreAway:
            await asyncio.sleep(0.01)
        else:
            stored.append(f"{name} {len(stored)}")
    return stored


async def test_a_database_that_is_killed_again_and_again_has_everything_exactly_once(mortal: Cluster) -> None:
    url, ended, items = mortal.url(mortal.create(READY)), asyncio.Event(), list[Item]()
    async with PostgresStore(url, "m_1") as one, PostgresStore(url, "m_2") as two:
        one.listen(items.extend)
        writers = [
            asyncio.create_task(write_until(store, f"{at} {number}", ended))
            for at, store in enumerate((one, two))
            for number in range(WRITERS)
        ]
        for _ in range(3):
            await more_than(items, len(items) + 20)
            await asyncio.to_thread(mortal.restart)
        await more_than(items, len(items) + 20)
        ended.set()
        stored = [text for each in await asyncio.gather(*writers) for text in each]

        assert sorted(await all_texts(two)) == sorted(stored)
        await until(lambda: len(items) == len(stored))
        assert cursors_of(items) == list(range(1, len(stored) + 1))


@pytest.mark.parametrize("forward", [True, False], ids=["done by the server", "never seen by it"])
async def test_a_commit_that_nobody_heard_the_outcome_of_is_stored_once(
    through: str, proxy: Proxy, forward: bool
) -> None:
    async with PostgresStore(through) as store:
        items: list[Item] = []
        store.listen(items.extend)
        await store.apply([OpenAsk(an_ask())])
        proxy.cut_at(COMMIT, forward=forward)

        applied = await store.apply([a_text("once"), SettleAsk("a_1", answered())])

        assert proxy.cuts == 1
        assert applied.took == (True, True)
        assert cursors_of(applied.items) == [2, 3]
        assert await store.items(after=1) == list(applied.items) == items[1:]


async def test_a_connection_that_is_cut_before_the_commit_is_tried_again(through: str, proxy: Proxy) -> None:
    async with PostgresStore(through) as store:
        await store.apply([a_text("before")])
        proxy.cut_at(b"BEGIN", forward=False)
        await store.apply([a_text("during")])
        proxy.cut()
        await store.apply([a_text("after")])

        assert await all_texts(store) == ["before", "during", "after"]


async def test_a_database_that_is_away_is_said_to_be_and_all_goes_on_when_it_is_back(mortal: Cluster) -> None:
    url = mortal.url(mortal.create(READY))
    async with PostgresStore(url, "m_1", patience=0.5) as one, PostgresStore(url, "m_2") as two:
        items: list[Item] = []
        two.listen(items.extend)
        await one.apply([a_text("before")])
        await asyncio.to_thread(mortal.kill)
        try:
            with pytest.raises(StoreAway, match="Can't reach the database") as raised:
                await one.apply([a_text("refused")])
            assert "PostgreSQL is running" in raised.value.advice
            with pytest.raises(StoreAway):
                await one.items()
            assert one.away is not None
        finally:
            await asyncio.to_thread(mortal.start)

        await until(lambda: one.away is None)
        await one.apply([a_text("after")])
        assert await all_texts(one) == ["before", "after"]
        await until(lambda: texts_of(items) == ["before", "after"])


async def test_a_connection_that_hangs_is_given_up(through: str, proxy: Proxy) -> None:
    async with PostgresStore(through, patience=0.5, hang_seconds=0.6) as store:
        await store.apply([a_text("before")])
        proxy.freeze()
        with pytest.raises(StoreAway):
            await store.apply([a_text("hung")])
        with pytest.raises(StoreAway):
            await store.items()
        proxy.thaw()

        async with asyncio.timeout(SECONDS):
            while True:
                try:
                    await store.apply([a_text("after")])
                    break
                except StoreAway:
                    await asyncio.sleep(0.05)
        assert await all_texts(store) == ["before", "after"]


async def test_a_hub_that_hangs_in_a_transaction_does_not_hold_up_the_others(
    mortal: Cluster, through: str, proxy: Proxy
) -> None:
    direct = mortal.url(through.rpartition("/")[2])
    async with PostgresStore(through, "m_1", hang_seconds=1.5) as hung, PostgresStore(direct, "m_2") as other:
        await hung.apply([a_text("before")])
        proxy.freeze_at(COMMIT)
        waiting = asyncio.create_task(hung.apply([a_text("hung")]))
        await until(lambda: proxy.cuts)

        await other.apply([a_text("other")])  # the cursors were taken by the one that hangs

        proxy.thaw()
        await waiting
        assert await all_texts(other) == ["before", "other", "hung"]


async def test_a_listener_whose_connection_was_ended_still_hears_everything(mortal: Cluster) -> None:
    url = mortal.url(mortal.create(READY))
    async with PostgresStore(url, "m_1") as one, PostgresStore(url, "m_2", identity="deaf") as two:
        items: list[Item] = []
        two.listen(items.extend)
        await until(lambda: two.hearing == "yes")
        for number in range(3):
            mortal.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'handraise listener deaf'"
            )
            await one.apply([a_text(str(number))])
            await more_than(items, number)

        assert texts_of(items) == ["0", "1", "2"]


async def test_a_listener_that_the_server_forgot_still_hears_everything(mortal: Cluster) -> None:
    """Its connection is fine, and no notification ever comes."""
    url = mortal.url(mortal.create(READY))
    async with PostgresStore(url, "m_1") as one, PostgresStore(url, "m_2") as two:
        items: list[Item] = []
        two.listen(items.extend)
        two._hints._heard = lambda _payload: None
        await one.apply([a_text("unannounced")])

        await until(lambda: texts_of(items) == ["unannounced"])


async def test_a_copy_of_a_running_hub_as_in_a_cloned_virtual_machine_writes_nothing(database: str) -> None:
    async with PostgresStore(database, "m_1", identity="same") as first:
        await first.apply([a_text("one")])
        async with PostgresStore(database, "m_1", identity="same") as copy:
            with pytest.raises(StoreFenced, match="virtual machine cloned"):
                await copy.apply([a_text("two")])
            await first.apply([a_text("three")])
            with pytest.raises(StoreFenced):
                await copy.apply([a_text("four")])
        assert await all_texts(first) == ["one", "three"]
