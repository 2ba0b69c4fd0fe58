"""What moves under a thumb."""

from datetime import UTC, datetime, timedelta

from handraise.surfaces.telegram.movements import Movements

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=9)


def test_only_what_is_above_moves() -> None:
    movements = Movements()
    movements.note(1001, 20, NOW)
    assert movements.since(1001, 19, LATER) == NOW
    assert movements.since(1001, 20, LATER) is None
    assert movements.since(1001, 21, LATER) is None
    assert movements.since(1002, 19, LATER) is None


def test_the_last_movement_counts_and_none_that_is_yet_to_come() -> None:
    movements = Movements()
    movements.note(1001, 20, LATER)
    movements.note(1001, 21, NOW)
    assert movements.since(1001, 19, LATER) == LATER
    assert movements.since(1001, 19, NOW) == NOW


def test_a_busy_chat_takes_little_memory() -> None:
    movements = Movements()
    for message in range(1, 10_000):
        movements.note(1001, message, NOW)
    assert len(movements._chats[1001]) == 50
    assert movements.since(1001, 9_998, LATER) == NOW
