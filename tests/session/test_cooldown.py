"""The pause after someone asked for an outline."""

from datetime import timedelta

from handraise.session.memory import Cooldown
from session.claude_says import NOON


def test_it_holds_for_30_60_90_and_then_always_120_seconds() -> None:
    cooldown, lengths = Cooldown(), []
    for _ in range(6):
        cooldown = cooldown.used(NOON)
        assert cooldown.until is not None
        lengths.append((cooldown.until - NOON).total_seconds())

    assert lengths == [30, 60, 90, 120, 120, 120]


def test_a_window_that_passed_is_over_and_the_next_one_is_longer_all_the_same() -> None:
    cooldown = Cooldown().used(NOON)
    later = NOON + timedelta(hours=1)

    assert not cooldown.holds(later)
    assert cooldown.used(later).holds(later + timedelta(seconds=59))
    assert not cooldown.used(later).holds(later + timedelta(seconds=60))


def test_without_a_use_nothing_holds() -> None:
    assert not Cooldown().holds(NOON)
