"""Old and excess data is removed; open asks, the audit log, and running sessions stay."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.hub.audit_file import AuditFile
from handraise.hub.retention import Retention, RetentionLimits, StoredRun, surplus
from handraise.model.actors import Person
from handraise.model.answers import Allow
from handraise.model.asks import Answered, Ask
from handraise.model.audit import Entry
from handraise.model.items import Text
from handraise.model.sessions import Ended, Session
from handraise.store.changes import OpenAsk, PublishItems, Record, SaveSession, SettleAsk
from handraise.store.interface import Store
from handraise.store.postgres.store import PostgresStore
from handraise.store.sqlite.store import SqliteStore
from store.examples import an_ask, an_entry

NOW = datetime(2026, 11, 17, tzinfo=UTC)
OLD, NEW = NOW - timedelta(days=91), NOW - timedelta(days=1)


def text(at: datetime, size: int = 10) -> PublishItems:
    return PublishItems("s_1", at, Text("x" * size, "m"))


def session(name: str, *, ended: bool) -> Session:
    how = Ended("stopped", "done", OLD) if ended else None
    phase = "ended" if ended else "idle"
    return Session(name, None, "/work", "c", "T", OLD, OLD, phase=phase, run=2, ended=how)  # type: ignore[arg-type]


def ask(name: str) -> Ask:
    return replace(an_ask(name), opened_at=OLD)


def retention(store: Store, tmp: Path, keep: RetentionLimits) -> Retention:
    return Retention(store, tmp / "sessions", lambda: NOW, keep)


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    is_file = request.param == "sqlite"
    opened = SqliteStore(tmp_path / "hub.db") if is_file else PostgresStore(request.getfixturevalue("database"))
    async with opened as entered:
        yield entered


async def test_items_go_by_their_age_and_the_audit_and_open_asks_stay(tmp_path: Path, store: Store) -> None:
    await store.apply([text(OLD) for _ in range(2500)])
    await store.apply([OpenAsk(ask("a_open")), OpenAsk(ask("a_done"))])
    await store.apply([SettleAsk("a_done", Answered(Allow(), Person("ana"), "web", OLD))])
    await store.apply([SaveSession(session("s_1", ended=True))])
    recent = await store.apply([text(NEW), text(NEW)])
    audit = await store.audit()

    await retention(store, tmp_path, RetentionLimits(days=90, database=None, journals=None)).tidy()

    assert [item.cursor for item in await store.items(after=0)] == [item.cursor for item in recent.items]
    assert [each.id for each in await store.asks()] == ["a_open"]
    assert await store.audit() == audit != []


async def test_nothing_goes_that_is_neither_old_nor_too_much(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "hub.db") as store:
        await store.apply([text(NEW) for _ in range(50)])
        for keep in (RetentionLimits(), RetentionLimits(None, None, None)):
            await retention(store, tmp_path, keep).tidy()
            assert len(await store.items(after=0)) == 50


async def test_a_database_that_is_too_large_loses_its_oldest_items(tmp_path: Path, store: Store) -> None:
    for _ in range(40):
        await store.apply([text(NEW, 2000) for _ in range(100)])
    before = await store.size()
    newest = (await store.cursors())[1]

    await retention(store, tmp_path, RetentionLimits(None, before // 2, None)).tidy()

    assert await store.size() <= before // 2
    left = [item.cursor for item in await store.items(after=0, limit=5000)]
    assert left == list(range(newest - len(left) + 1, newest + 1))
    assert len(left) >= 1000


@pytest.mark.parametrize("ended", [True, False])
async def test_journals_go_by_age_but_not_the_one_of_a_claude_that_runs(tmp_path: Path, ended: bool) -> None:
    async with SqliteStore(tmp_path / "hub.db") as store:
        await store.apply([SaveSession(session("s_1", ended=ended))])
        for name in ("s_1/1", "s_1/2", "s_gone/1"):
            journal = tmp_path / "sessions" / name / "out.ndjson"
            journal.parent.mkdir(parents=True)
            journal.write_bytes(b"{}\n")

        far = Retention(store, tmp_path / "sessions", lambda: datetime.now(UTC) + timedelta(days=91), RetentionLimits())
        await far.tidy()

        left = sorted(str(path.relative_to(tmp_path / "sessions")) for path in (tmp_path / "sessions").glob("*/*"))
        assert left == ([] if ended else ["s_1/2"])
        assert (tmp_path / "sessions" / "s_gone").exists() is False


runs = st.lists(
    st.builds(
        StoredRun, st.uuids().map(lambda name: Path(str(name))), st.integers(0, 100), st.floats(0, 100), st.booleans()
    ),
    max_size=12,
)


@given(runs, st.none() | st.floats(0, 100), st.none() | st.integers(0, 500))
def test_the_oldest_go_first_and_never_one_in_use(
    found: list[StoredRun], oldest: float | None, most: int | None
) -> None:
    gone = surplus(found, oldest, most)
    left = [run for run in found if run not in gone]

    assert not any(run.in_use for run in gone)
    if oldest is not None:
        assert all(run.in_use or run.changed >= oldest for run in left)
    if most is not None:
        free = [run for run in left if not run.in_use]
        assert sum(run.size for run in left) <= most or not free
    for run in gone:
        needed = oldest is not None and run.changed < oldest
        assert needed or all(run.changed <= other.changed or other.in_use for other in left)


async def test_old_entries_of_the_audit_log_are_moved_to_a_private_file(tmp_path: Path, store: Store) -> None:
    await store.apply([Record(replace(an_entry(), at=OLD)) for _ in range(1200)])
    await store.apply([Record(replace(an_entry(), at=NEW))])
    before = await store.audit(limit=5000)

    await retention(store, tmp_path, RetentionLimits(None, None, None)).tidy()
    assert len(await store.audit(limit=5000)) == 1201

    await retention(store, tmp_path, RetentionLimits(None, None, None, audit_days=30)).tidy()

    assert [entry.number for entry in await store.audit()] == [1201]
    file = tmp_path / "audit" / "audit.jsonl"
    assert exported(file) == before[:1200]
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


async def test_an_entry_that_a_crash_left_in_both_places_is_exported_once(tmp_path: Path) -> None:
    file = tmp_path / "audit" / "audit.jsonl"
    async with SqliteStore(tmp_path / "hub.db") as store:
        await store.apply([Record(replace(an_entry(), at=OLD)) for _ in range(5)])
        entries = await store.audit()
        AuditFile(file).append(entries[:2])
        with file.open("ab") as torn:
            torn.write(b'{"number":3,"at":"20')

        await retention(store, tmp_path, RetentionLimits(None, None, None, audit_days=30)).tidy()

        assert exported(file) == entries[:4]
        assert [entry.number for entry in await store.audit()] == [5]


def test_a_file_that_was_moved_away_starts_again(tmp_path: Path) -> None:
    entry = replace(an_entry(), number=1)
    AuditFile(tmp_path / "audit.jsonl").append([entry])
    (tmp_path / "audit.jsonl").rename(tmp_path / "2026.jsonl")
    AuditFile(tmp_path / "audit.jsonl").append([replace(entry, number=2)])
    assert [each.number for each in exported(tmp_path / "audit.jsonl")] == [2]


def exported(file: Path) -> list[Entry]:
    return [msgspec.json.decode(line, type=Entry) for line in file.read_bytes().splitlines()]


async def test_hubs_that_share_a_database_may_prune_at_the_same_time(tmp_path: Path, database: str) -> None:
    keep = RetentionLimits(days=90, database=None, journals=None, audit_days=30)
    async with PostgresStore(database, "m_1") as one, PostgresStore(database, "m_2") as two:
        await one.apply([text(OLD) for _ in range(5000)])
        await one.apply([Record(replace(an_entry(), at=OLD)) for _ in range(2500)])
        recent = await two.apply([text(NEW), Record(replace(an_entry(), at=NEW))])

        folders = tmp_path / "one", tmp_path / "two"
        await asyncio.gather(*(retention(*each, keep).tidy() for each in zip((one, two), folders, strict=True)))

        assert [item.cursor for item in await one.items(after=0)] == [item.cursor for item in recent.items]
        assert [entry.number for entry in await two.audit()] == [2501]
    exports = [[each.number for each in exported(folder / "audit" / "audit.jsonl")] for folder in folders]
    assert {*exports[0], *exports[1]} == {*range(1, 2501)}
    assert all(numbers == sorted({*numbers}) for numbers in exports)
