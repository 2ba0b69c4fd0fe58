"""Deadlines: the next one first, and removed ones are skipped."""

from hypothesis import given
from hypothesis import strategies as st

from handraise.inbox.inbox import Deadlines

NOON = 1000.0


def test_the_next_one_decides_how_long_to_sleep() -> None:
    deadlines = Deadlines()
    assert deadlines.seconds_to_next(NOON) is None
    deadlines.add("late", NOON + 60)
    deadlines.add("soon", NOON + 5)
    assert deadlines.seconds_to_next(NOON) == 5

    deadlines.remove("soon")
    assert deadlines.seconds_to_next(NOON) == 60
    assert deadlines.seconds_to_next(NOON + 3600) == 0


def test_whose_time_has_come_stays_until_it_is_removed() -> None:
    deadlines = Deadlines()
    deadlines.add("a", NOON)

    assert deadlines.due(NOON) == deadlines.due(NOON) == ["a"]
    deadlines.remove("a")
    deadlines.remove("a")
    assert deadlines.due(NOON) == []


def test_a_deadline_that_is_set_anew_counts_alone() -> None:
    deadlines = Deadlines()
    deadlines.add("a", NOON)
    deadlines.add("a", NOON + 9)

    assert deadlines.due(NOON) == []
    assert deadlines.seconds_to_next(NOON) == 9


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.none() | st.integers(-5, 5)), max_size=30))
def test_it_is_a_table_of_the_last_deadlines(text: list[tuple[str, int | None]]) -> None:
    deadlines = Deadlines()
    table: dict[str, int] = {}
    for ask, seconds in text:
        if seconds is None:
            deadlines.remove(ask)
            table.pop(ask, None)
        else:
            deadlines.add(ask, NOON + seconds)
            table[ask] = seconds

    assert sorted(deadlines.due(NOON)) == sorted(ask for ask, seconds in table.items() if seconds <= 0)
    assert deadlines.seconds_to_next(NOON) == (max(0, min(table.values())) if table else None)
