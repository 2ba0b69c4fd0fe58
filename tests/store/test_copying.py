"""A copied store: everything is there, unchanged and with its numbers, or nothing is."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.model.asks import KINDS, Expired, Permission
from handraise.model.instructions import Instruction
from handraise.model.machines import Machine, Place
from handraise.model.rules import Rule
from handraise.model.trust import Brought, Trust
from handraise.store.changes import (
    Advance,
    Change,
    DeliverAsk,
    GiveInstruction,
    OpenAsk,
    Prune,
    PruneAudit,
    QueueSay,
    Record,
    RecordLate,
    SaveMachine,
    SaveProject,
    SaveRecord,
    SaveRule,
    SaveSession,
    SaveToken,
    SettleAsk,
    SettleInstruction,
    TakeInstruction,
    TakeSay,
)
from handraise.store.copying import CopiedTable, CopySource, CopyTarget, Differs, Row, copy
from handraise.store.interface import Store, StoreBusy, StoreError
from handraise.store.postgres.connecting import read_address
from handraise.store.postgres.copying import PostgresSource, PostgresTarget
from handraise.store.postgres.store import PostgresStore
from handraise.store.sqlite.copying import SqliteSource, SqliteTarget
from handraise.store.sqlite.store import SqliteStore
from postgres.cluster import Cluster
from store import values
from store.examples import (
    ANA,
    NOON,
    a_checkpoint,
    a_project,
    a_say,
    a_session,
    a_text,
    a_token,
    an_ask,
    an_entry,
    answered,
    expired,
    later,
    trusted,
    withdrawn,
)
from thorough import a_quarter

HERE = "m_here"
LONG = "\\u0000 \x00 \x1a é\n" + "long " * 8000
TRUST = Trust("/work/app", (Brought("hook", "Stop", "make lint", ".claude/settings.json"),), {"a": "b"})
TABLES = {
    "ask_texts",
    "asks",
    "audit",
    "checkpoints",
    "instructions",
    "items",
    "lines",
    "machines",
    "places",
    "projects",
    "records",
    "rules",
    "says",
    "sessions",
    "texts",
    "tokens",
    "trust",
}


def machine(identity: str, name: str) -> Machine:
    return Machine(identity, name, "0.1.0", 4, NOON, later(5), epoch=3, away_since=later(6))


def instruction(number: int) -> Instruction:
    return Instruction(f"i_{number}", HERE, "s_1", "resume", ANA, "web", NOON, words=({"type": "text", "text": "x\0"},))


def everything() -> list[list[Change]]:
    """Batches that leave something in every table and column, and gaps in the numbers."""
    session = replace(a_session("s_1"), machine=HERE)
    project = replace(a_project(), elsewhere=(Place("m_there", "/srv/app"),))
    long = an_ask("a_long", body=Permission("Write", {"content": LONG, "path": "nul\0"}))
    return [
        [SaveRecord("push", "key\u00e9", b"\0\xff", None)],
        [SaveMachine(machine(HERE, "laptop"), NOON), SaveMachine(machine("m_there", "büild\x1a2"), NOON)],
        [SaveSession(session), SaveSession(replace(a_session("s_2"), machine="m_there")), Advance(a_checkpoint(7))],
        [a_text("old") for _ in range(20)],
        [a_text("line"), a_text(LONG), a_text("elsewhere", "s_2"), a_text("for all", None)],
        [OpenAsk(replace(ask, machine=HERE)) for ask in (long, *(an_ask(f"a_{each}") for each in range(6)))],
        [OpenAsk(replace(an_ask("a_trust", body=TRUST), machine=HERE)), SettleAsk("a_trust", trusted("exactly"))],
        [OpenAsk(replace(an_ask("a_out", session=None, agent="bot"), machine=HERE))],
        [SettleAsk("a_0", answered()), DeliverAsk("a_0", later(2)), SettleAsk("a_1", expired())],
        [RecordLate("a_1", answered(source="telegram")), SettleAsk("a_2", withdrawn()), SettleAsk("a_long", expired())],
        [QueueSay(a_say("y_1")), QueueSay(a_say("y_2", text=LONG)), TakeSay("y_1", later(4))],
        [SaveRule(Rule(f"r_{name}", "allow", tool="Bash")) for name in "zax"],
        [SaveProject(project), SaveToken(a_token("t_z")), SaveToken(replace(a_token("t_a"), revoked_at=later(1)))],
        [Record(an_entry(session="s_1")), Record(replace(an_entry(), detail={"why": "\0\x1a"}))],
        [GiveInstruction(instruction(each)) for each in range(3)],
        [TakeInstruction("i_1", 3), SettleInstruction("i_2", "refused", later(9), "no", "s_9")],
        [Prune(15), PruneAudit(1)],
    ]


async def filled(store: Store, batches: Sequence[Sequence[Change]]) -> None:
    async with store:
        for batch in batches:
            await store.apply(list(batch))


async def contents(store: Store) -> dict[str, Any]:
    """All that can be read of it."""
    async with store:
        sessions = await store.sessions()
        return {
            "sessions": sessions,
            "checkpoints": [await store.checkpoint(each.id) for each in sessions],
            "lines": await store.last_lines(),
            "asks": await store.asks(),
            "undelivered": await store.asks(undelivered=True),
            "says": [await store.says(each.id, waiting=False) for each in sessions],
            "items": await store.items(after=0, limit=10_000),
            "cursors": await store.cursors(),
            "rules": await store.rules(),
            "projects": await store.projects(),
            "trusts": await store.trusts(),
            "tokens": await store.tokens(),
            "audit": await store.audit(limit=10_000),
            "machines": await store.machines(),
            "instructions": await store.instructions(unsettled=False),
            "records": await store.records("push"),
        }


async def next_numbers(store: Store) -> tuple[int, int, list[str]]:
    """What comes after a copy continues where the original ended."""
    async with store:
        await store.apply([a_text("next"), Record(an_entry()), OpenAsk(an_ask("a_next")), QueueSay(a_say("y_next"))])
        await store.apply([SaveRule(Rule("r_next", "deny", tool="Bash"))])
        last = (await store.audit(newest_first=True, limit=1))[0].number
        return (await store.cursors())[1], last, [rule.id for rule in await store.rules()]


async def copied(source: CopySource, target: CopyTarget) -> dict[str, CopiedTable]:
    async with source, target:
        return await copy(source, target, lambda *_: None)


def from_postgres(url: str) -> PostgresSource:
    return PostgresSource(read_address(url))


def to_postgres(url: str) -> PostgresTarget:
    return PostgresTarget(read_address(url))


async def test_everything_is_copied_there_and_back_and_is_equal(tmp_path: Path, empty_database: str) -> None:
    first, second = tmp_path / "hub.db", tmp_path / "back.db"
    await filled(SqliteStore(first, HERE), everything())
    original = await contents(SqliteStore(first, HERE))
    assert all(original.values())

    there = await copied(SqliteSource(first), to_postgres(empty_database))
    assert {*there} == TABLES
    assert all(table.rows for table in there.values())
    assert await contents(PostgresStore(empty_database, HERE)) == original

    assert await copied(from_postgres(empty_database), SqliteTarget(second)) == there
    assert await contents(SqliteStore(second, HERE)) == original
    assert [path.name for path in tmp_path.iterdir() if "copying" in path.name] == []
    assert second.stat().st_mode & 0o777 == 0o600

    numbers = [await next_numbers(store) for store in (SqliteStore(first), PostgresStore(empty_database))]
    assert numbers == [await next_numbers(SqliteStore(second))] * 2


async def test_a_database_is_copied_to_one_of_the_same_kind(tmp_path: Path, database: str, cluster: Cluster) -> None:
    await filled(PostgresStore(database, HERE), everything())
    other = cluster.url(cluster.create())
    await copied(from_postgres(database), to_postgres(other))
    original = await contents(PostgresStore(database, HERE))
    assert await contents(PostgresStore(other, HERE)) == original

    await copied(from_postgres(other), SqliteTarget(tmp_path / "one.db"))
    await copied(SqliteSource(tmp_path / "one.db"), SqliteTarget(tmp_path / "two.db"))
    assert await contents(SqliteStore(tmp_path / "two.db", HERE)) == original


@settings(
    max_examples=max(a_quarter() // 4, 2),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
@given(st.data())
def test_whatever_a_store_holds_comes_back_as_it_was(cluster: Cluster, database: str, data: st.DataObject) -> None:
    asks = [replace(ask, machine=HERE) for kind in KINDS for ask in data.draw(st.lists(values.asks(kind), max_size=2))]
    late = [ask for ask in asks if isinstance(ask.settlement, Expired)]
    sessions = data.draw(st.lists(values.sessions, max_size=3))
    batches: list[list[Change]] = [
        [SaveSession(replace(each, machine=HERE)) for each in sessions],
        [Advance(each) for each in data.draw(st.lists(values.checkpoints, max_size=3, unique_by=lambda c: c.session))],
        *[_alone(OpenAsk(ask)) for ask in asks],
        [DeliverAsk(ask.id, NOON) for ask in late],
        [QueueSay(each) for each in data.draw(st.lists(values.says, max_size=3))],
        [SaveRule(each) for each in data.draw(st.lists(values.rules, max_size=3))],
        [SaveToken(each) for each in data.draw(st.lists(values.tokens, max_size=2, unique_by=lambda t: t.hash))],
        [Record(each) for each in data.draw(st.lists(values.entries, max_size=3))],
    ]

    async def story(folder: Path) -> None:
        cluster.clear(database.rpartition("/")[2])
        await filled(SqliteStore(folder / "one.db", HERE), batches)
        await copied(SqliteSource(folder / "one.db"), to_postgres(database))
        await copied(from_postgres(database), SqliteTarget(folder / "two.db"))
        assert await contents(SqliteStore(folder / "two.db", HERE)) == await contents(
            SqliteStore(folder / "one.db", HERE)
        )

    with TemporaryDirectory() as folder:
        asyncio.run(story(Path(folder)))


def _alone(change: Change) -> list[Change]:
    return [change]


async def test_progress_is_reported_by_table(tmp_path: Path, empty_database: str) -> None:
    await filled(SqliteStore(tmp_path / "hub.db", HERE), [[a_text() for _ in range(450)]])
    seen: list[tuple[str, int, int]] = []
    async with SqliteSource(tmp_path / "hub.db") as source, to_postgres(empty_database) as target:
        await copy(source, target, lambda *step: seen.append(step))
    assert [step for step in seen if step[0] == "items"] == [("items", n, 450) for n in (200, 400, 450)]


class Interrupted(Exception):
    pass


class Breaking:
    """A source that ends in the middle."""

    def __init__(self, source: SqliteSource) -> None:
        self._source = source
        self.shown, self.tables, self.count, self.counters = (
            source.shown,
            source.tables,
            source.count,
            source.counters,
        )

    async def __aenter__(self) -> "Breaking":
        await self._source.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._source.__aexit__(*error)

    async def rows(self, table: str, columns: tuple[str, ...]) -> AsyncIterator[Row]:
        async for row in self._source.rows(table, columns):
            yield row
            if table == "says":
                raise Interrupted


@pytest.mark.parametrize("kind", ["postgres", "sqlite"])
async def test_an_interrupted_copy_leaves_nothing_and_can_be_repeated(
    kind: str, tmp_path: Path, empty_database: str
) -> None:
    await filled(SqliteStore(tmp_path / "hub.db", HERE), everything())

    def target() -> CopyTarget:
        return to_postgres(empty_database) if kind == "postgres" else SqliteTarget(tmp_path / "copy.db")

    with pytest.raises(Interrupted):
        await copied(Breaking(SqliteSource(tmp_path / "hub.db")), target())
    assert not (tmp_path / "copy.db").exists()
    assert [path.name for path in tmp_path.iterdir() if "copying" in path.name] == []

    await copied(SqliteSource(tmp_path / "hub.db"), target())


async def test_a_copy_that_differs_is_discarded(tmp_path: Path, empty_database: str) -> None:
    await filled(SqliteStore(tmp_path / "hub.db", HERE), everything())

    class Forgetful(SqliteTarget):
        async def rows(self, table: str, columns: tuple[str, ...]) -> AsyncIterator[Row]:
            async for row in super().rows(table, columns):
                yield tuple("other" if each == "go on" else each for each in row) if table == "says" else row

        async def insert(self, table: str, columns: tuple[str, ...], rows: AsyncIterator[Row]) -> None:
            await super().insert(table, columns, _all_but_one(rows) if table == "rules" else rows)

    with pytest.raises(Differs, match="differs from the original in rules"):
        await copied(SqliteSource(tmp_path / "hub.db"), Forgetful(tmp_path / "copy.db"))
    assert not (tmp_path / "copy.db").exists()


async def _all_but_one(rows: AsyncIterator[Row]) -> AsyncIterator[Row]:
    await anext(rows)
    async for row in rows:
        yield row


async def test_a_target_that_is_not_empty_stays_as_it_is(tmp_path: Path, database: str) -> None:
    await filled(SqliteStore(tmp_path / "hub.db", HERE), everything())
    await filled(PostgresStore(database, HERE), [[SaveToken(a_token())]])
    await filled(SqliteStore(tmp_path / "copy.db", HERE), [])

    with pytest.raises(StoreError, match=r"isn't empty \(tokens\).*DROP SCHEMA"):
        await copied(SqliteSource(tmp_path / "hub.db"), to_postgres(database))
    with pytest.raises(StoreError, match="already exists"):
        await copied(SqliteSource(tmp_path / "hub.db"), SqliteTarget(tmp_path / "copy.db"))
    assert len((await contents(PostgresStore(database)))["tokens"]) == 1


async def test_a_database_is_not_copied_while_a_machine_is_online(tmp_path: Path, database: str) -> None:
    async with PostgresStore(database, HERE) as store:
        await store.claim(Machine(HERE, "laptop", "0.1.0", 4, datetime.now(UTC), datetime.now(UTC)))
        with pytest.raises(StoreBusy, match=r"in use by laptop\. Stop the hubs there"):
            await copied(from_postgres(database), SqliteTarget(tmp_path / "copy.db"))
        assert not (tmp_path / "copy.db").exists()
        await store.release(datetime.now(UTC))
        await copied(from_postgres(database), SqliteTarget(tmp_path / "copy.db"))


async def test_a_hub_that_starts_meanwhile_waits_until_the_copy_is_complete(tmp_path: Path, database: str) -> None:
    await filled(SqliteStore(tmp_path / "hub.db", HERE), everything())
    now = datetime.now(UTC) + timedelta(days=1)
    async with (
        PostgresStore(database, HERE) as store,
        SqliteSource(tmp_path / "hub.db") as source,
        to_postgres(database) as target,
    ):
        claim = asyncio.create_task(store.claim(Machine(HERE, "new", "0.1.0", 4, now, now)))
        done, _ = await asyncio.wait([claim], timeout=0.3)
        assert not done
        await copy(source, target, lambda *_: None)
        claimed = await asyncio.wait_for(claim, 20)
    assert (claimed.name, claimed.epoch) == ("laptop", 4)


async def test_a_missing_old_or_foreign_source_is_refused_in_words(
    tmp_path: Path, empty_database: str, cluster: Cluster
) -> None:
    target = SqliteTarget(tmp_path / "copy.db")
    with pytest.raises(StoreError, match="There is no database"):
        await copied(SqliteSource(tmp_path / "none.db"), target)
    (tmp_path / "text.db").write_text("hello" * 1000)
    with pytest.raises(StoreError, match="damaged"):
        await copied(SqliteSource(tmp_path / "text.db"), target)
    with pytest.raises(StoreError, match="has no Handraise data"):
        await copied(from_postgres(empty_database), target)
    await filled(SqliteStore(tmp_path / "old.db", ""), [[SaveSession(a_session())]])
    with pytest.raises(StoreError, match="Start a hub of this version on it"):
        await copied(SqliteSource(tmp_path / "old.db"), target)
    foreign = cluster.create()
    cluster.run("CREATE TABLE customers (id int)", database=foreign)
    await filled(SqliteStore(tmp_path / "hub.db", HERE), [])
    with pytest.raises(StoreError, match="belongs to another program"):
        await copied(SqliteSource(tmp_path / "hub.db"), to_postgres(cluster.url(foreign)))
    assert not (tmp_path / "copy.db").exists()
