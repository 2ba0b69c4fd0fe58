"""The SQL itself: every statement fits the schema, and none scans the history."""

import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from handraise.store.sqlite.database import SQL, open_for_writing

LISTS_ALL = {"prune_tokens", "remove_project", "sessions", "tokens"}
SORTS_FEW = {"open_asks", "project", "projects", "sessions_in_phases", "tokens_by_id"}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[apsw.Connection]:
    connection = open_for_writing(tmp_path / "hub.db", busy_seconds=1)
    yield connection
    connection.close()


def plan_of(database: apsw.Connection, statement: str) -> list[str]:
    bindings = dict.fromkeys(re.findall(r":(\w+)", statement)) or (None,) * statement.count("?")
    return [str(row[3]) for row in database.execute(f"EXPLAIN QUERY PLAN {statement}", bindings)]


@pytest.mark.parametrize("name", sorted(SQL))
def test_a_statement_does_not_look_through_history(database: apsw.Connection, name: str) -> None:
    plan = plan_of(database, SQL[name])

    scans = [step for step in plan if re.match("SCAN (asks|items|says|sessions|places|tokens|audit)", step)]
    assert name in LISTS_ALL or scans in ([], ["SCAN asks USING INDEX asks_undelivered"])
    assert name in SORTS_FEW or not [step for step in plan if "TEMP B-TREE" in step]
