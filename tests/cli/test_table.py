"""The sessions as a table."""

from datetime import UTC, datetime, timedelta
from typing import Any

from handraise.cli.table import table

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def session(identity: str, state: str, **fields: Any) -> dict[str, Any]:
    changed = (NOON - timedelta(minutes=5)).isoformat()
    return {
        "id": identity,
        "state": state,
        "open_asks": 0,
        "changed_at": changed,
        "cost_usd": 0.5,
        "title": "Fix it",
        **fields,
    }


def test_what_needs_a_person_comes_first() -> None:
    rows = table([session("s_1", "idle"), session("s_2", "needs you", open_asks=2)], NOON, 100, coloured=False)
    assert rows == [
        "s_2  needs you  2 open   5 min   0.5000 $  Fix it",
        "s_1  idle                5 min   0.5000 $  Fix it",
    ]


def test_no_sessions_is_said_with_the_next_step() -> None:
    assert "handraise run" in table([], NOON, 100, coloured=False)[0]


def test_a_title_does_no_harm_and_fits() -> None:
    [row] = table([session("s_1", "working", title="\x1b]0;x\x07" + "日本" * 50)], NOON, 60, coloured=False)
    assert row.isprintable()
    assert row.endswith("…")
    assert len(row) < 60
