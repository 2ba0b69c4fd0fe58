"""How a session is and how it ended, and how long an ask waits, in words."""

from datetime import timedelta

import pytest

from handraise.model.sessions import PHASES
from handraise.present.states import ending_in_words, overdue, state_in_words, waiting
from present.asked import NOON, WHICH, ask_of


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
