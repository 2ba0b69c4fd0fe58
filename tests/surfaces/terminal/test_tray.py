"""The open asks in front of one person."""

from datetime import timedelta

from handraise.model.actors import Person
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Answered, Question, Withdrawn
from handraise.model.intent import Act
from handraise.surfaces.terminal.dialogue import press
from handraise.surfaces.terminal.room import Fit
from handraise.surfaces.terminal.tray import Tray, milliseconds
from surfaces.terminal.asked import DATABASE, NOON, NPM, PLAN, ask

LATER = NOON + timedelta(seconds=5)
ONE = Question((DATABASE,))
WHOLE, FOLDED = Fit(0, 9, 9, 80), Fit(0, 4, 9, 80)


def verdict(tray: Tray, seconds: float) -> str:
    assert tray.attention is not None
    return tray.attention.judge(Act("grant", milliseconds(NOON + timedelta(seconds=seconds))))


def test_a_card_is_looked_at_from_when_it_was_on_the_screen() -> None:
    tray = Tray()
    tray.add(ask(NPM), NOON)
    assert tray.attention is None
    tray.drawn(WHOLE, LATER)
    assert (verdict(tray, 5.9), verdict(tray, 6)) == ("moved", "meant")


def test_the_next_card_is_looked_at_anew() -> None:
    tray = Tray()
    tray.add(ask(ONE, "a_1"), NOON)
    tray.add(ask(NPM, "a_2"), NOON)
    tray.drawn(WHOLE, NOON)
    tray.remove("a_1")
    assert tray.attention is None
    tray.drawn(WHOLE, LATER)
    assert (verdict(tray, 5.9), verdict(tray, 6)) == ("moved", "meant")


def test_what_was_seen_whole_stays_seen_when_it_is_folded_again() -> None:
    tray = Tray()
    tray.add(ask(NPM), NOON)
    tray.drawn(FOLDED, NOON)
    assert verdict(tray, 9) == "unseen"
    tray.drawn(WHOLE, NOON)
    tray.drawn(FOLDED, LATER)
    assert verdict(tray, 9) == "meant"


def test_another_step_is_seen_anew() -> None:
    tray = Tray()
    tray.add(ask(Question((DATABASE, DATABASE))), NOON)
    tray.drawn(WHOLE, NOON)
    assert tray.current is not None
    tray.put(press(tray.current, "1")[0], LATER)
    assert verdict(tray, 9) == "unseen"


def test_several_asks_wait_side_by_side_each_with_what_was_done_so_far() -> None:  # lesson 34
    tray = Tray()
    tray.add(ask(ONE, "a_1"), NOON)
    tray.add(ask(NPM, "a_2"), NOON)
    assert tray.place == "ask 1 of 2"
    assert tray.current is not None
    tray.put(press(tray.current, "down")[0], LATER)
    tray.turn(1)
    assert tray.current.ask.id == "a_2"
    tray.turn(-1)
    assert tray.current.pointer == 0


def test_what_is_settled_does_not_come_back() -> None:  # lesson 32
    tray = Tray()
    assert tray.add(ask(ONE), NOON)
    assert tray.remove("a_1") is not None
    assert not tray.add(ask(ONE), LATER)
    assert tray.current is None


def test_what_was_settled_before_it_was_seen_is_not_shown() -> None:
    tray = Tray()
    settlement = Answered(Choices((Choice(("SQLite",)),)), Person("ann"), "web", NOON)
    assert not tray.add(ask(ONE, settlement=settlement), NOON)
    assert not tray.add(ask(ONE, "a_2", settlement=Withdrawn("gone", NOON)), NOON)
    assert tray.waiting == []


def test_an_ask_that_changed_begins_again_and_is_seen_anew() -> None:
    tray = Tray()
    tray.add(ask(PLAN), NOON)
    tray.drawn(WHOLE, NOON)
    assert tray.current is not None
    tray.put(press(press(tray.current, "a")[0], "enter")[0], LATER)
    tray.begin_again(ask(NPM), LATER)
    assert not tray.current.sending
    assert "changed" in tray.current.note
    assert verdict(tray, 9) == "unseen"
    tray.drawn(WHOLE, LATER)
    assert (verdict(tray, 5.9), verdict(tray, 6)) == ("moved", "meant")


def test_after_a_gap_only_what_is_still_open_stays() -> None:
    tray = Tray()
    tray.add(ask(ONE, "a_1"), NOON)
    tray.add(ask(NPM, "a_2"), NOON)
    assert [gone.ask.id for gone in tray.keep_only({"a_2"})] == ["a_1"]
    assert tray.top == "a_2"
