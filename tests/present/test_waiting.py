"""How long an ask waits."""

from datetime import timedelta

from handraise.present.waiting import overdue, waiting
from present.asked import NOON, WHICH, ask_of


def test_how_long_it_waits_and_how_long_is_left() -> None:
    now = NOON + timedelta(minutes=2)
    assert waiting(ask_of(WHICH), now) == "waiting 2 min"
    assert waiting(ask_of(WHICH, expires_at=NOON + timedelta(minutes=5)), now) == "waiting 2 min, 3 min left"


def test_how_long_ago_it_expired() -> None:
    assert overdue(NOON, NOON + timedelta(hours=3)) == "expired 3 h ago"
