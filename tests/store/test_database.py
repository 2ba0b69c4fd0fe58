"""The schema, step by step."""

import re
from importlib import resources
from pathlib import Path

from handraise.store.sqlite.database import open_for_writing


def test_migrations_are_numbered_from_one_without_a_gap() -> None:
    names = migrations()

    assert all(re.fullmatch(r"\d{4}_[a-z_]+\.sql", name) for name in names)
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))


def test_a_database_is_brought_to_the_newest_schema_once(tmp_path: Path) -> None:
    for _ in range(2):
        connection = open_for_writing(tmp_path / "hub.db", busy_seconds=1)
        assert connection.pragma("user_version") == len(migrations())
        connection.close()


def migrations() -> list[str]:
    return sorted(file.name for file in (resources.files("handraise.store.sqlite") / "migrations").iterdir())
