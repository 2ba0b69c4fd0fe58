"""Repeated events: the first is reported, and every one is counted."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from handraise.auth import FIRST, LONGEST, Repeats

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_the_first_is_told_at_once_and_the_others_by_their_number_when_it_is_time() -> None:
    repeats: Repeats[str] = Repeats()
    assert repeats.meet("a", "one", NOON)
    assert not repeats.meet("a", "two", NOON)
    assert not repeats.meet("a", "three", NOON)
    assert repeats.meet("b", "other", NOON)

    assert repeats.due(NOON + FIRST / 2) == []
    assert repeats.due(NOON + FIRST) == [("three", 2)]
    assert repeats.due(NOON + FIRST) == []


def test_what_goes_on_is_told_ever_more_rarely_but_once_an_hour() -> None:
    repeats: Repeats[str] = Repeats()
    calls: list[datetime] = []
    now = NOON
    while now < NOON + timedelta(days=1):
        if repeats.meet("a", "again", now) or repeats.due(now):
            calls.append(now)
        now += timedelta(seconds=10)

    assert len(calls) < 32
    assert max(later - earlier for earlier, later in pairwise(calls)) <= LONGEST + FIRST


def test_what_became_quiet_is_news_again() -> None:
    repeats: Repeats[str] = Repeats()
    repeats.meet("a", "one", NOON)
    repeats.due(NOON + FIRST)
    assert repeats.meet("a", "two", NOON + 2 * FIRST)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 300)), max_size=60))
def test_none_is_lost_and_none_is_told_twice(events: list[tuple[str, int]]) -> None:
    repeats: Repeats[str] = Repeats()
    now, text = NOON, dict.fromkeys("abc", 0)
    for key, seconds in events:
        now += timedelta(seconds=seconds)
        text[key] += repeats.meet(key, key, now)
        for which, times in repeats.due(now):
            text[which] += times
    for which, times in repeats.rest():
        text[which] += times

    assert text == {key: [each for each, _ in events].count(key) for key in "abc"}
    assert repeats.rest() == []
