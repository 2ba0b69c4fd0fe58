"""The schema, migration by migration."""

import re
from importlib import resources
from pathlib import Path

import apsw

from handraise.model.sessions import Checkpoint
from handraise.store.changes import SettleAsk
from handraise.store.rows import ask_row
from handraise.store.sqlite.database import SQL, open_for_writing
from handraise.store.sqlite.store import SqliteStore
from store.examples import an_ask, answered


def test_migrations_are_numbered_from_one_without_a_gap() -> None:
    names = migrations()

    assert all(re.fullmatch(r"\d{4}_[a-z_]+\.sql", name) for name in names)
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))


def test_a_database_is_brought_to_the_newest_schema_once(tmp_path: Path) -> None:
    for _ in range(2):
        connection = open_for_writing(tmp_path / "hub.db", busy_seconds=1)
        assert connection.pragma("user_version") == len(migrations())
        connection.close()


async def test_a_database_of_the_first_schema_keeps_its_asks_and_checkpoints_and_gains_an_audit(tmp_path: Path) -> None:
    first = resources.files("handraise.store.sqlite") / "migrations" / "0001_start.sql"
    old = apsw.Connection(str(tmp_path / "hub.db"))
    old.execute(first.read_text("utf-8") + "; PRAGMA user_version = 1").fetchall()
    row = ask_row(an_ask(), 1)
    del row["machine"]  # a later column
    old.execute(SQL["open_ask"].replace(", machine", "").replace(", :machine", ""), row)
    old.execute("INSERT INTO places VALUES ('s_1', 1, 10, x'01')")
    old.close()

    async with SqliteStore(tmp_path / "hub.db") as store:
        assert (await store.apply([SettleAsk("a_1", answered())])).took == (True,)
        assert [entry.ask for entry in await store.audit()] == ["a_1"]
        assert await store.checkpoint("s_1") == Checkpoint("s_1", 1, 10, b"\x01")


def migrations() -> list[str]:
    return sorted(file.name for file in (resources.files("handraise.store.sqlite") / "migrations").iterdir())
