"""What stores promise about lookups: answered once by the hub that has the machine, in time or not at all, and gone."""

import asyncio
import os
from collections.abc import Callable

import pytest

from handraise.store.interface import MOST_ANSWER, Store, Unanswered
from handraise.store.memory.store import MemoryDatabase, MemoryStore
from handraise.store.postgres.lookups import PIECE
from handraise.store.postgres.store import PostgresStore
from postgres.bouncer import Bouncer
from postgres.cluster import Cluster
from store.examples import NOON
from store.test_contract_of_machines import a_machine
from store.waiting import SECONDS, until

Opening = Callable[[str], Store]


@pytest.fixture(params=["memory", "postgres"])
def opening(request: pytest.FixtureRequest) -> Opening:
    """Stores of the given machines over one database."""
    if request.param == "memory":
        database = MemoryDatabase()
        return lambda machine: MemoryStore(machine, database)
    url = request.getfixturevalue("database")
    return lambda machine: PostgresStore(url, machine)


async def echo(question: bytes) -> bytes:
    return b"you asked " + question


async def failing(_question: bytes) -> bytes:
    raise OSError("the disk is gone")


async def never(_question: bytes) -> bytes:
    await asyncio.sleep(SECONDS)
    return b""


async def why_not(store: Store, machine: str, seconds: float = SECONDS) -> str:
    with pytest.raises(Unanswered) as unanswered:
        await store.look_up(machine, b"?", seconds)
    return unanswered.value.why


async def test_in_a_store_alone_nobody_is_there(store: Store) -> None:
    store.serve_lookups(echo)
    assert await why_not(store, "m_other") == "away"


async def test_the_hub_of_the_machine_answers(opening: Opening) -> None:
    async with opening("m_1") as one, opening("m_2") as two, opening("m_3") as three:
        for number, each in enumerate((one, two, three), 1):
            await each.claim(a_machine(f"m_{number}", f"n{number}"))
        asked: list[bytes] = []

        async def serve(question: bytes) -> bytes:
            asked.append(question)
            return b"from two: " + question

        two.serve_lookups(serve)
        three.serve_lookups(echo)
        assert await one.look_up("m_2", b"\x00\xff what?", SECONDS) == b"from two: \x00\xff what?"
        assert await one.look_up("m_3", b"that?", SECONDS) == b"you asked that?"
        assert asked == [b"\x00\xff what?"]

        answers = await asyncio.gather(*(one.look_up("m_2", b"%d" % number, SECONDS) for number in range(20)))
        assert answers == [b"from two: %d" % number for number in range(20)]
        assert len(asked) == 21


async def test_an_answer_of_any_size_arrives_whole(opening: Opening) -> None:
    noise = os.urandom(3 * PIECE + 17)
    contents = {b"none": b"", b"noise": noise, b"text": b"the same line\n" * 1_000_000}

    async def serve(question: bytes) -> bytes:
        return contents[question]

    async with opening("m_1") as one, opening("m_2") as two:
        await one.claim(a_machine("m_1", "one"))
        await two.claim(a_machine("m_2", "two"))
        two.serve_lookups(serve)
        for question, content in contents.items():
            assert await one.look_up("m_2", question, SECONDS) == content


async def test_a_machine_that_is_away_or_unknown_or_does_not_answer_is_told_apart(opening: Opening) -> None:
    async with opening("m_1") as one, opening("m_2") as two:
        await one.claim(a_machine("m_1", "one"))
        assert await why_not(one, "m_2") == "away"
        await two.claim(a_machine("m_2", "two"))
        assert await why_not(one, "m_2", 0.3) == "silent"
        two.serve_lookups(never)
        assert await why_not(one, "m_2", 0.3) == "silent"
        two.serve_lookups(failing)
        assert await why_not(one, "m_2", 0.5) == "silent"
        two.serve_lookups(echo)
        assert await one.look_up("m_2", b"now?", SECONDS) == b"you asked now?"
        await two.release(NOON)
        assert await why_not(one, "m_2") == "away"


async def test_a_hub_that_lost_its_machine_answers_nothing(opening: Opening) -> None:
    async with opening("m_1") as one, opening("m_2") as old, opening("m_2") as new:
        await one.claim(a_machine("m_1", "one"))
        await old.claim(a_machine("m_2", "two"))
        old.serve_lookups(echo)
        await new.claim(a_machine("m_2", "two"))
        assert await why_not(one, "m_2", 0.5) == "silent"

        async def serve(question: bytes) -> bytes:
            return b"the new one: " + question

        new.serve_lookups(serve)
        for _ in range(5):
            assert await one.look_up("m_2", b"who?", SECONDS) == b"the new one: who?"
        # The old one finds out where the machine is now.
        assert await old.look_up("m_2", b"you?", SECONDS) == b"the new one: you?"


def rows_of(cluster: Cluster, database: str) -> list[int]:
    counts = (f"SELECT count(*) FROM handraise.{each}" for each in ("lookups", "lookup_pieces"))
    name = database.rpartition("/")[2]
    return [int(cluster.run(each, database=name)[0][0]) for each in counts]


async def claimed(one: Store, two: Store) -> None:
    await one.claim(a_machine("m_1", "one"))
    await two.claim(a_machine("m_2", "two"))


async def test_nothing_stays_in_the_database(cluster: Cluster, database: str) -> None:
    async with PostgresStore(database, "m_1") as one, PostgresStore(database, "m_2") as two:
        await claimed(one, two)
        two.serve_lookups(echo)
        await one.look_up("m_2", os.urandom(1000), SECONDS)
        assert rows_of(cluster, database) == [0, 0]
        # These tables are in no log, no replica and no archive of the server.
        kinds = cluster.run(
            "SELECT relpersistence::text FROM pg_class WHERE relname IN ('lookups', 'lookup_pieces')",
            database=database.rpartition("/")[2],
        )
        assert kinds == [("u",), ("u",)]


async def test_what_nobody_reads_is_gone_after_a_minute(cluster: Cluster, database: str) -> None:
    name = database.rpartition("/")[2]
    async with PostgresStore(database, "m_1") as one, PostgresStore(database, "m_2") as two:
        await claimed(one, two)
        # Of hubs that were killed before they read it, or took it.
        cluster.run(
            "INSERT INTO handraise.lookup_pieces VALUES ('gone', 0, true, 'secret', handraise.clock() + 60000000)",
            "INSERT INTO handraise.lookups (id, machine, asker, question, until)"
            " VALUES ('gone', 'm_9', 'x', 'secret', handraise.clock() + 60000000)",
            database=name,
        )
        two.serve_lookups(echo)
        await one.look_up("m_2", b"?", SECONDS)
        assert rows_of(cluster, database) == [1, 1]
        for table in ("lookups", "lookup_pieces"):
            cluster.run(f"UPDATE handraise.{table} SET until = until - 60000000", database=name)
        await one.look_up("m_2", b"?", SECONDS)
        assert rows_of(cluster, database) == [0, 0]


async def test_a_question_that_nobody_took_is_never_answered_late(cluster: Cluster, database: str) -> None:
    async with PostgresStore(database, "m_1") as one, PostgresStore(database, "m_2") as two:
        await claimed(one, two)
        assert await why_not(one, "m_2", 0.3) == "silent"
        asked: list[bytes] = []

        async def serve(question: bytes) -> bytes:
            asked.append(question)
            return question

        two.serve_lookups(serve)
        assert await one.look_up("m_2", b"later", SECONDS) == b"later"
        assert asked == [b"later"]
        assert rows_of(cluster, database) == [0, 0]


async def test_hostile_rows_and_announcements_are_passed_over(cluster: Cluster, database: str) -> None:
    name = database.rpartition("/")[2]
    async with PostgresStore(database, "m_1") as one, PostgresStore(database, "m_2") as two:
        await claimed(one, two)

        async def serve(question: bytes) -> bytes:
            # Someone else writes into the answer before the hub does.
            forged = "\\x" + question.hex()
            cluster.run(
                "INSERT INTO handraise.lookup_pieces SELECT id, 0, true, decode('ff00', 'hex'), handraise.clock()"
                " FROM handraise.lookups",
                f"INSERT INTO handraise.lookup_pieces VALUES ('{forged}', 7, true, 'x', handraise.clock() + 1000000)",
                "NOTIFY handraise, 'l'",
                "NOTIFY handraise, 'a'",
                "NOTIFY handraise, 'l m_2 m_2'",
                "NOTIFY handraise, 'a x'",
                database=name,
            )
            return b"the answer"

        two.serve_lookups(serve)
        assert await one.look_up("m_2", b"?", SECONDS) == b"the answer"


@pytest.mark.parametrize(
    ("number", "content"),
    [
        pytest.param(0, "'\\xff00'::bytea", id="not compressed"),
        pytest.param(3, "'\\x789c'::bytea", id="out of order"),
        pytest.param(0, "'\\x789c'::bytea", id="cut off"),
    ],
)
async def test_a_broken_answer_is_none(cluster: Cluster, database: str, number: int, content: str) -> None:
    async with PostgresStore(database, "m_1") as one, PostgresStore(database, "m_2") as two:
        await claimed(one, two)
        asking = asyncio.create_task(why_not(one, "m_2"))
        await until(lambda: rows_of(cluster, database)[0] == 1)
        cluster.run(
            f"INSERT INTO handraise.lookup_pieces SELECT id, {number}, true, {content}, handraise.clock() + 60000000"
            " FROM handraise.lookups",
            database=database.rpartition("/")[2],
        )
        assert await asking == "silent"


async def test_an_answer_that_is_too_long_is_never_sent(cluster: Cluster, database: str) -> None:
    async def serve(_question: bytes) -> bytes:
        return bytes(MOST_ANSWER + 1)

    async with PostgresStore(database, "m_1") as one, PostgresStore(database, "m_2") as two:
        await claimed(one, two)
        two.serve_lookups(serve)
        assert await why_not(one, "m_2", 2) == "silent"
        assert rows_of(cluster, database) == [0, 0]


async def test_behind_a_pooler_that_swallows_notifications_answers_come_too(cluster: Cluster, database: str) -> None:
    with Bouncer(cluster, "transaction") as bouncer:
        url = bouncer.url(database)
        async with PostgresStore(url, "m_1") as one, PostgresStore(url, "m_2") as two:
            await until(lambda: (one.hearing, two.hearing) == ("no", "no"))
            await claimed(one, two)
            two.serve_lookups(echo)
            assert await one.look_up("m_2", b"hello?", SECONDS) == b"you asked hello?"
