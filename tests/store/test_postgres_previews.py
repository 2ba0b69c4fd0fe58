"""Previews through PostgreSQL: only for those who look, of any size, and whatever becomes of the database."""

import asyncio
from collections.abc import Iterator

import pytest

from handraise.model.items import Preview
from handraise.store.interface import Store
from handraise.store.postgres.store import PostgresStore
from postgres.bouncer import Bouncer
from postgres.cluster import Cluster
from postgres.fixtures import READY, new_cluster
from store.waiting import SECONDS, until


@pytest.fixture(scope="module")
def mortal() -> Iterator[Cluster]:
    """A server that these tests kill."""
    with new_cluster() as running:
        yield running


def a_preview(text: str, session: str = "s_1", message: str = "m_1", index: int = 0) -> Preview:
    return Preview(session, message, index, "text", text)


def watching(store: Store, *sessions: str) -> list[Preview]:
    """What reaches a store from now on."""
    shown: list[Preview] = []
    store.listen_to_previews(shown.append)
    store.want_previews(sessions)
    return shown


async def until_shown(store: Store, preview: Preview, shown: list[Preview]) -> None:
    """Sends it at the usual pace until it arrives: any one may be left out."""
    async with asyncio.timeout(SECONDS):
        while preview not in shown:
            store.preview(preview)
            await asyncio.sleep(0.04)


def rows_of(cluster: Cluster, database: str, table: str) -> int:
    ((count,),) = cluster.run(f"SELECT count(*) FROM handraise.{table}", database=database.rpartition("/")[2])
    return int(count)


async def test_nothing_is_written_while_nobody_looks(cluster: Cluster, database: str) -> None:
    async with PostgresStore(database, "m_1") as one, PostgresStore(database, "m_2") as two:
        shown = watching(two, "s_2")
        await until_shown(one, a_preview("wanted", "s_2"), shown)
        for number in range(200):
            one.preview(a_preview(str(number)))
            await asyncio.sleep(0)
        await until_shown(one, a_preview("the end", "s_2"), shown)
        assert rows_of(cluster, database, "previews") == 1
        two.want_previews([])
        await until(lambda: rows_of(cluster, database, "watched") == 0)


async def test_a_block_of_any_size_and_content_arrives_whole(opened: type[PostgresStore]) -> None:
    long = a_preview("schön — 日本語 \x00 " * 200_000)
    async with opened("m_1") as one, opened("m_2") as two:
        shown = watching(two, "s_1")
        await until_shown(one, long, shown)
        odd = a_preview("half \ud83d", message="m" * 10_000, index=7)
        one.preview(odd)
        await until_shown(one, a_preview("after it"), shown)
        assert [each.text for each in shown if each.index == 7] in ([], ["half �"])


async def test_the_newest_state_of_a_block_arrives_and_states_never_go_back(opened: type[PostgresStore]) -> None:
    async with opened("m_1") as one, opened("m_2") as two:
        shown = watching(two, "s_1")
        await until_shown(one, a_preview(""), shown)
        text = ""
        for number in range(300):
            text += f"{number} "
            one.preview(a_preview(text))
            await asyncio.sleep(0)
        await until(lambda: shown[-1].text == text)
        lengths = [len(each.text) for each in shown]
        assert lengths == sorted(lengths)


async def test_a_flood_of_blocks_is_bounded(opened: type[PostgresStore]) -> None:
    async with opened("m_1") as one, opened("m_2") as two:
        shown = watching(two, "s_1")
        await until_shown(one, a_preview("first"), shown)
        for number in range(20_000):
            one.preview(a_preview("x", message=f"m_{number}"))
        assert len(one._previews._waiting) <= 200
        await until_shown(one, a_preview("last"), shown)


async def test_who_looks_later_sees_nothing_old(opened: type[PostgresStore]) -> None:
    async with opened("m_1") as one, opened("m_2") as two, opened("m_3") as three:
        early = watching(two, "s_1")
        await until_shown(one, a_preview("old"), early)
        late = watching(three, "s_1", "s_2")
        await until_shown(one, a_preview("new", "s_2"), late)
        assert [each.text for each in late if each.session == "s_1"] == []


async def test_a_hostile_row_is_passed_over(cluster: Cluster, database: str) -> None:
    async with PostgresStore(database, "m_1") as one, PostgresStore(database, "m_2") as two:
        shown = watching(two, "s_1")
        await until_shown(one, a_preview("before"), shown)
        forged = '{"session":"s_2","message":"m","index":0,"kind":"text","text":"forged"}'
        hostile = ["\\xff00", forged.encode().hex(), b"[]".hex(), b'{"session":1}'.hex()]
        for number, content in enumerate(hostile):
            cluster.run(
                "INSERT INTO handraise.previews VALUES"
                f" ('s_1', '{number}', nextval('handraise.preview_numbers'), handraise.clock(),"
                f" '\\x{content.removeprefix(chr(92) + 'x')}')",
                "NOTIFY handraise, 'p x'",
                "NOTIFY handraise, 'w'",
                "NOTIFY handraise, 'p'",
                database=database.rpartition("/")[2],
            )
        await until_shown(one, a_preview("after"), shown)
        assert {each.text for each in shown} == {"before", "after"}


async def test_behind_a_pooler_that_swallows_notifications_previews_come_too(cluster: Cluster, database: str) -> None:
    with Bouncer(cluster, "transaction") as bouncer:
        url = bouncer.url(database)
        async with PostgresStore(url, "m_1") as one, PostgresStore(url, "m_2") as two:
            await until(lambda: (one.hearing, two.hearing) == ("no", "no"))
            shown = watching(two, "s_1")
            await until_shown(one, a_preview("through the pooler"), shown)


async def test_previews_come_again_when_the_database_is_back(mortal: Cluster) -> None:
    url = mortal.url(mortal.create(READY))
    async with PostgresStore(url, "m_1", patience=0.5) as one, PostgresStore(url, "m_2", patience=0.5) as two:
        shown = watching(two, "s_1")
        await until_shown(one, a_preview("before"), shown)
        await asyncio.to_thread(mortal.kill)
        try:
            for number in range(100):
                one.preview(a_preview(f"lost {number}"))
                await asyncio.sleep(0)
        finally:
            await asyncio.to_thread(mortal.start)
        await until_shown(one, a_preview("after"), shown)


async def test_a_lease_runs_out_by_the_clock_of_the_database(opened: type[PostgresStore]) -> None:
    async with opened("m_1") as one, opened("m_2") as two:
        assert await one.lease("push", 0.2)
        assert not await two.lease("push", 30)
        async with asyncio.timeout(SECONDS):
            while not await two.lease("push", 30):
                await asyncio.sleep(0.02)
        assert not await one.lease("push", 30)


async def test_of_many_stores_exactly_one_gets_a_lease(opened: type[PostgresStore]) -> None:
    async with opened("m_1") as one, opened("m_2") as two, opened("m_3") as three:
        for name in ("a", "b", "c", "d"):
            got = await asyncio.gather(*(store.lease(name, 30) for store in (one, two, three, one, two, three)))
            assert sorted(got) == [False, False, False, False, True, True]
            assert got[:3] == got[3:]
