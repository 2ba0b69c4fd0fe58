"""The sessions as a table."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from handraise.cli.table import cut, table, width_of
from surfaces.terminal.hostile import CORPUS

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def session(identity: str, state: str, **fields: Any) -> dict[str, Any]:
    changed = (NOON - timedelta(minutes=5)).isoformat()
    return {
        "id": identity,
        "state": state,
        "directory": "/work/shop",
        "open_asks": 0,
        "changed_at": changed,
        "cost_usd": 0.5,
        "title": "Fix it",
        "last_line": "",
        **fields,
    }


def test_what_needs_a_person_comes_first() -> None:
    rows = table([session("s_1", "idle"), session("s_2", "needs you", open_asks=2)], NOON, 100, coloured=False)
    assert rows == [
        "s_2  needs you  2 open  5 min  $0.5000  Fix it",
        "s_1  idle               5 min  $0.5000  Fix it",
    ]


def test_no_sessions_is_said_with_the_next_step() -> None:
    assert "handraise run" in table([], NOON, 100, coloured=False)[0]


def test_sessions_of_several_directories_say_where_they_are() -> None:
    rows = table([session("s_1", "idle"), session("s_2", "idle", directory="/work/日本/")], NOON, 100, coloured=False)
    assert [row.split("$0.5000")[1] for row in rows] == ["  shop  Fix it", "  日本  Fix it"]


def test_a_narrow_terminal_has_the_columns_that_matter_most() -> None:
    asked = [session("s_0123456789abcdef", "needs you", open_asks=2, title="Fix the tests of the shop")]
    assert table(asked, NOON, 80, coloured=False) == [
        "s_0123456789abcdef  needs you  2 open  5 min  $0.5000  Fix the tests of the shop"
    ]
    assert table(asked, NOON, 60, coloured=False) == ["s_0123456789abcdef  needs you  5 min  Fix the tests of the …"]
    assert table(asked, NOON, 40, coloured=False) == ["s_0123456789abcdef  needs you  Fix the …"]


def test_where_there_is_room_the_last_line_stands_behind_the_title_and_nowhere_else() -> None:
    calls = [session("s_1", "working", last_line="Now the tests of the other half, which take a while")]
    assert table(calls, NOON, 60, coloured=False)[0].endswith("Fix it · Now the tests of the…")
    assert table(calls, NOON, 40, coloured=False)[0].endswith("Fix it")
    assert table(calls, NOON, 10_000, coloured=False)[0].endswith("Fix it")


def test_colours_take_no_room() -> None:
    rows = table([session("s_1", "working", title="日本" * 50)], NOON, 60, coloured=True)
    plain = table([session("s_1", "working", title="日本" * 50)], NOON, 60, coloured=False)
    assert "\x1b[32mworking\x1b[0m" in rows[0]
    assert rows[0].replace("\x1b[2m", "").replace("\x1b[32m", "").replace("\x1b[0m", "") == plain[0]


@pytest.mark.parametrize("name", CORPUS)
@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_a_title_a_directory_and_a_last_line_do_no_harm_and_fit(name: str, width: int) -> None:
    text = CORPUS[name] * 9
    calls = [session("s_1", "working", title=text, directory=f"/{text}", last_line=text), session("s_2", "idle")]
    for row in table(calls, NOON, width, coloured=False):
        assert row.isprintable()
        assert width_of(row) <= width


def test_wide_and_combining_letters() -> None:
    assert (width_of("日本"), width_of("e\u0301"), width_of("⚠\ufe0f")) == (4, 1, 1)
    assert (cut("日本語", 5), cut("日本語", 6), cut("日本語", 1), cut("日本語", 0)) == ("日本…", "日本語", "…", "")
