"""How a session is and how it ended, and how long an ask waits, in words."""

from datetime import timedelta

import pytest

from handraise.model.sessions import PHASES
from handraise.model.usage import UsageLimit
from handraise.present.states import ending_in_words, overdue, state_in_words, usage_in_words, waiting
from present.asked import NOON, WHICH, ask_of

LATER = NOON + timedelta(hours=2)


@pytest.mark.parametrize(
    ("state", "words"),
    [("needs you", "needs you"), ("not moving", "not responding"), ("lost", "lost"), ("strange", "strange")],
)
def test_a_state_in_words(state: str, words: str) -> None:
    assert state_in_words(state) == words


@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_has_a_word(phase: str) -> None:
    assert state_in_words(phase)


def test_an_ending_in_words() -> None:
    assert ending_in_words("lost") == "Claude exited"
    assert ending_in_words("strange") == "Ended"


def test_how_long_it_waits_and_how_long_is_left() -> None:
    now = NOON + timedelta(minutes=2)
    assert waiting(ask_of(WHICH), now) == "waiting 2 min"
    assert waiting(ask_of(WHICH, expires_at=NOON + timedelta(minutes=5)), now) == "waiting 2 min, 3 min left"


def test_how_long_ago_it_expired() -> None:
    assert overdue(NOON, NOON + timedelta(hours=3)) == "expired 3 h ago"


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (UsageLimit("five_hour", 0.42, LATER), "5-hour limit: 42% used, resets in 2 h"),
        (UsageLimit("seven_day", 1.2, LATER, reached=True), "Weekly limit: used up, resets in 2 h"),
        (UsageLimit("overage", None, LATER), "Extra usage: resets in 2 h"),
        (UsageLimit("next_year", 0.0, LATER), "next year: 0% used, resets in 2 h"),
        (UsageLimit("five_hour", 0.42, NOON), ""),
        (UsageLimit("five_hour", 0.42), ""),
    ],
)
def test_a_usage_limit_in_words(limit: UsageLimit, words: str) -> None:
    assert usage_in_words(limit, NOON) == words
