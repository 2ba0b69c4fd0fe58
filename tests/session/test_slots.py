"""Which session makes room for which, and what a queued one reports."""

from datetime import UTC, datetime, timedelta

from handraise.model.sessions import Phase, Session
from handraise.session.slots import SlotTracker, behind

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def session(name: str, phase: Phase = "idle", minutes: int = 0) -> Session:
    at = NOON + timedelta(minutes=minutes)
    return Session(f"s_{name}", None, "/work", f"c_{name}", f"Title {name}", at, at, phase)


def test_the_one_that_has_been_idle_for_the_longest_time_makes_room() -> None:
    rivals = [session("a", minutes=2), session("b", minutes=1), session("c", "working")]
    assert SlotTracker().give_up(rivals, "s_q") == "s_b"


def test_nobody_is_parked_twice_or_for_nothing() -> None:
    slots = SlotTracker()
    rivals = [session("a"), session("b", minutes=1)]
    assert slots.give_up(rivals, "s_q") == "s_a"
    assert slots.is_being_made_for("s_q")
    assert slots.give_up(rivals, "s_r") == "s_b"
    assert slots.give_up(rivals, "s_t") is None
    slots.left("s_a")
    assert not slots.is_being_made_for("s_q")


def test_one_that_cannot_be_parked_is_left_alone_until_it_is_idle_again() -> None:
    slots = SlotTracker()
    assert slots.give_up([session("a")], "s_q") == "s_a"
    slots.refused("s_a")
    assert slots.give_up([session("a")], "s_q") is None
    slots.rested("s_a")
    assert slots.give_up([session("a")], "s_q") == "s_a"


def test_a_queued_one_says_so_once_each_time() -> None:
    slots = SlotTracker()
    assert [slots.is_news("s_q"), slots.is_news("s_q")] == [True, False]
    slots.assigned("s_q")
    assert slots.is_news("s_q")


def test_behind_whom_and_how_to_make_room() -> None:
    busy = [session("a", "working"), session("b", "working", 1), session("c", "idle", 2), session("d", "working", 3)]
    text = behind(busy, {"s_c": 1})
    assert text.about == "queued"
    assert text.text == (
        "Queued behind 4 sessions: “Title c” (s_c, waiting for your answer), “Title a” (s_a, working), "
        "“Title b” (s_b, working), 1 more. To make room, answer with “handraise inbox”, "
        "or stop one with “handraise stop s_c”."
    )
    assert "behind 1 session in this project: " in behind(busy[:1], {}, "this project").text
    assert "inbox" not in behind(busy[:1], {}).text
