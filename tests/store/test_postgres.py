"""What only the shared store does: many writers, one order; claims; long texts; a pooler in between."""

import asyncio
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec import json
from msgspec.structs import replace

from handraise.model.asks import Permission
from handraise.model.items import Item, Text
from handraise.model.rules import Rule
from handraise.store.changes import (
    Advance,
    Change,
    DeliverAsk,
    OpenAsk,
    Prune,
    SaveProject,
    SaveRule,
    SettleAsk,
)
from handraise.store.interface import Store, StoreClosed, StoreConflict, StoreFenced
from handraise.store.postgres.database import SQL
from handraise.store.postgres.plain_text import original, storable
from handraise.store.postgres.store import PostgresStore
from postgres.bouncer import Bouncer
from postgres.cluster import Cluster
from store.examples import (
    a_checkpoint,
    a_project,
    a_text,
    an_ask,
    answered,
    cursors_of,
    denied,
    expired,
    later,
    texts_of,
    withdrawn,
)
from store.test_contract_of_machines import a_machine
from store.waiting import until

TESTS = str(Path(__file__).parents[1])
WRITES_FROM_ANOTHER_PROCESS = """
import asyncio, sys
sys.path.insert(0, sys.argv[2])
from store.examples import a_text
from handraise.store.postgres.store import PostgresStore

async def main():
    async with PostgresStore(sys.argv[1], "m_other") as store:
        for number in range(40):
            await asyncio.gather(store.apply([a_text("x")] * (number % 3 + 1)), store.apply([a_text("y")]))

asyncio.run(main())
"""


async def write(store: Store, dice: random.Random, batches: int) -> None:
    for _ in range(batches):
        await store.apply([a_text(str(dice.random()))] * dice.randrange(1, 4))


async def test_everyone_hears_everything_once_and_in_order_while_many_write(database: str) -> None:
    """In three stores and another process, none of which knows of the others."""
    heard: list[list[Item]] = [[], [], []]
    async with (
        PostgresStore(database, "m_0") as zero,
        PostgresStore(database, "m_1") as one,
        PostgresStore(database, "m_2") as two,
    ):
        stores = (zero, one, two)
        for store, items in zip(stores, heard, strict=True):
            store.listen(items.extend)
        other = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITES_FROM_ANOTHER_PROCESS, database, TESTS, stderr=subprocess.PIPE
        )
        dice = random.Random(1)
        await asyncio.gather(*(write(store, dice, 15) for store in stores for _ in range(4)), other.wait())
        assert other.returncode == 0, other.stderr and await other.stderr.read()

        _, newest = await zero.cursors()
        await until(lambda: all(len(items) == newest for items in heard))
        for items in heard:
            assert cursors_of(items) == list(range(1, newest + 1))
        assert heard[0] == heard[1] == heard[2] == await two.items(after=0, limit=newest)


async def test_an_item_is_not_overtaken_by_one_that_commits_earlier(cluster: Cluster, database: str) -> None:
    """Somebody took a cursor and is slow to commit: nobody sees a later one before it."""
    slow = await cluster.connect(database.rpartition("/")[2])
    async with PostgresStore(database, "m_1") as one, PostgresStore(database, "m_2") as two:
        items: list[Item] = []
        two.listen(items.extend)
        await one.apply([a_text("first")])
        begun = slow.transaction()
        await begun.start()
        await slow.execute("UPDATE handraise.feed SET newest = newest + 1")
        content = json.encode(Text("slow", "m"))
        await slow.execute("INSERT INTO handraise.items (cursor, at, content) VALUES (2, 0, $1)", content)

        quick = asyncio.create_task(one.apply([a_text("quick")]))
        await two.apply([Advance(a_checkpoint(1))])  # what needs no cursor waits for nobody
        assert texts_of(await two.items()) == ["first"]
        assert not quick.done()
        await begun.commit()
        await slow.close()

        assert cursors_of((await quick).items) == [3]
        await until(lambda: len(items) == 3)
        assert texts_of(items) == ["first", "slow", "quick"]


async def test_of_many_hubs_that_claim_a_machine_at_once_the_last_one_has_it(database: str) -> None:
    stores = [PostgresStore(database, "m_1") for _ in range(5)]
    for store in stores:
        await store.__aenter__()
    try:
        claims = await asyncio.gather(*(store.claim(a_machine("m_1")) for store in stores))
        outcomes = await asyncio.gather(*(store.apply([a_text()]) for store in stores), return_exceptions=True)

        epochs = [claim.epoch for claim in claims]
        assert len(set(epochs)) == 5
        writers = [epoch for epoch, each in zip(epochs, outcomes, strict=True) if not isinstance(each, BaseException)]
        assert writers == [max(epochs)]
        assert sum(isinstance(each, StoreFenced) for each in outcomes) == 4
    finally:
        for store in stores:
            await store.__aexit__(None, None, None)


async def test_a_machine_that_was_forgotten_and_comes_back_is_not_mistaken_for_its_old_hub(
    cluster: Cluster, database: str
) -> None:
    async with PostgresStore(database, "m_1") as old, PostgresStore(database, "m_1") as new:
        first = await old.claim(a_machine("m_1"))
        cluster.run("DELETE FROM handraise.machines", database=database.rpartition("/")[2])
        with pytest.raises(StoreFenced):
            await old.apply([a_text("forgotten")])

        assert (await new.claim(a_machine("m_1"))).epoch > first.epoch
        with pytest.raises(StoreFenced):
            await old.apply([a_text("still forgotten")])


async def test_hubs_that_settle_the_same_asks_crosswise_settle_each_once(database: str) -> None:
    async with PostgresStore(database, "m_1") as one, PostgresStore(database, "m_2") as two:
        asks = [an_ask(f"a_{number}") for number in range(40)]
        await one.apply([OpenAsk(ask) for ask in asks])
        names = [[ask.id for ask in asks[at : at + 8]] for at in range(0, 40, 8)]
        forth = [[SettleAsk(name, answered()) for name in each] for each in names]
        back = [[SettleAsk(name, denied()) for name in reversed(each)] for each in reversed(names)]

        outcomes = await asyncio.gather(*(one.apply(batch) for batch in forth), *(two.apply(batch) for batch in back))

        took = Counter(took for each in outcomes for took in each.took)
        assert took == {True: 40, False: 40}
        assert len(await one.audit(what="answered")) == 40
        assert all(ask.state == "answered" for ask in await two.asks())


async def test_an_item_of_twenty_megabytes_comes_back_and_reaches_the_others(database: str) -> None:
    text = random.Random(1).randbytes(10_000_000).hex()
    ask = an_ask(body=Permission("Write", {"file_path": "/f", "content": text}))
    async with PostgresStore(database, "m_1") as one, PostgresStore(database, "m_2") as two:
        items: list[Item] = []
        two.listen(items.extend)
        await one.apply([a_text(text), OpenAsk(ask)])
        settled = await two.apply([SettleAsk("a_1", withdrawn())])

        assert texts_of(await one.items()) == texts_of(items) == [text]
        assert await one.ask("a_1") == settled.asks[0] == replace(ask, settlement=withdrawn())
        assert await one.size() < 2 * len(text)


async def test_long_texts_go_with_the_last_row_that_has_them(cluster: Cluster, database: str) -> None:
    long = "".join(f"line {number}\n" for number in range(5_000))
    async with PostgresStore(database) as store:
        for name in ("a_1", "a_2"):
            await store.apply([OpenAsk(an_ask(name, body=Permission("Write", {"content": long})))])
        count = "SELECT count(*) FROM handraise.texts"
        assert cluster.run(count, database=database.rpartition("/")[2])[0][0] == 1

        await store.apply([SettleAsk("a_1", withdrawn()), Prune(10)])
        found = await store.ask("a_2")
        assert found is not None
        assert found.body == Permission("Write", {"content": long})
        await store.apply([SettleAsk("a_2", expired()), DeliverAsk("a_2", later(1))])
        await store.apply([Prune(10)])

        assert cluster.run(count, database=database.rpartition("/")[2])[0][0] == 0


async def test_the_rest_of_a_group_is_stored_when_some_fail(database: str) -> None:
    async with PostgresStore(database) as store:
        await store.apply([SaveProject(a_project("p_1", "app")), Advance(a_checkpoint(9))])
        batches: list[list[Change]] = [[a_text(str(number))] for number in range(30)]
        batches[3].append(SaveProject(a_project("p_2", "app", "/elsewhere")))
        batches[7].append(Advance(a_checkpoint(1)))
        batches[11].append(SaveRule("no rule"))  # type: ignore[arg-type]
        batches[12].append(SaveRule(Rule("r_1", "allow", message="half \ud83d")))

        outcomes = await asyncio.gather(*(store.apply(batch) for batch in batches), return_exceptions=True)

        failed = {at: type(each) for at, each in enumerate(outcomes) if isinstance(each, BaseException)}
        assert failed == {3: StoreConflict, 7: StoreConflict, 11: AttributeError}
        assert texts_of(await store.items()) == [str(number) for number in range(30) if number not in failed]
        assert [rule.message for rule in await store.rules()] == ["half \ufffd"]


async def test_closing_stores_what_is_queued_and_refuses_the_rest(database: str) -> None:
    async with PostgresStore(database) as store:
        waiting = [asyncio.create_task(store.apply([a_text()])) for _ in range(100)]
        await asyncio.sleep(0)

    assert [(await each).items[0].cursor for each in waiting] == list(range(1, 101))
    with pytest.raises(StoreClosed):
        await store.apply([a_text()])


async def test_a_reader_that_is_cancelled_leaves_a_connection_that_works(database: str) -> None:
    async with PostgresStore(database) as store:
        await store.apply([a_text("x" * 1000)] * 500)
        for _ in range(10):
            reading = asyncio.create_task(store.items(after=0))
            await asyncio.sleep(0.001)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

        assert len(await store.items(after=0)) == 500


async def test_behind_a_pooler_that_swallows_notifications_hubs_ask_for_news(cluster: Cluster, database: str) -> None:
    with Bouncer(cluster, "transaction") as bouncer:
        url = bouncer.url(database)
        async with PostgresStore(url, "m_1") as one, PostgresStore(url, "m_2") as two:
            items: list[Item] = []
            two.listen(items.extend)
            await one.claim(a_machine("m_1"))
            await asyncio.gather(*(one.apply([OpenAsk(an_ask(f"a_{number}"))]) for number in range(20)))
            await until(lambda: len(items) == 21)
            await until(lambda: (one.hearing, two.hearing) == ("no", "no"))
            await one.apply([SettleAsk("a_1", answered())])

            await until(lambda: len(items) == 22)
            assert cursors_of(items) == list(range(1, 23))


async def test_behind_a_pooler_that_keeps_sessions_hubs_listen(cluster: Cluster, database: str) -> None:
    with Bouncer(cluster, "session") as bouncer:
        async with PostgresStore(bouncer.url(database)) as store:
            await until(lambda: store.hearing == "yes")
            await store.apply([a_text()])


@pytest.mark.parametrize("text", ["a\x00b", "\x1a", "\x1a0", "\x00\x1a1\x000", "plain", "日本語\x00"])
def test_text_with_nul_is_stored_without_it_and_comes_back(text: str) -> None:
    assert "\x00" not in storable(text)
    assert original(storable(text)) == text


def test_half_characters_are_refused_before_anything_is_sent() -> None:
    with pytest.raises(UnicodeEncodeError):
        storable(["a", "\ud83d"])


async def test_no_statement_looks_through_history(cluster: Cluster, database: str) -> None:
    """Planned as if sequential scans were very expensive: what still scans has no index to use."""
    # The size is measured once an hour, and hardly any project is ever removed.
    lists_all = {"tokens", "prune_tokens", "instructions", "size", "remove_project"}
    connection = await cluster.connect(database.rpartition("/")[2])
    await connection.execute("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan")
    history = ("asks", "items", "says", "sessions", "audit", "texts", "tokens", "instructions")
    scanning = set()
    for name, statement in SQL.items():
        await connection.execute(f"PREPARE looked AS {statement.text}")
        nothing = f"({', '.join('NULL' for _ in statement.names)})" if statement.names else ""
        plan: Any = await connection.fetch(f"EXPLAIN EXECUTE looked{nothing}")
        await connection.execute("DEALLOCATE looked")
        if any(f"Seq Scan on {table}" in row[0] for row in plan for table in history):
            scanning.add(name)
    await connection.close()

    assert scanning <= lists_all
