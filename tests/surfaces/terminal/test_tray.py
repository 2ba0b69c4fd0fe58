"""The open asks in front of one person."""

from datetime import timedelta

from handraise.model.actors import Person
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Answered, Question, Withdrawn
from handraise.surfaces.terminal.dialogue import Send
from handraise.surfaces.terminal.tray import Tray
from surfaces.terminal.asked import DATABASE, NOON, NPM, ask

LATER = NOON + timedelta(seconds=1)
ONE = Question((DATABASE,))


def test_a_card_that_has_just_come_ignores_keys() -> None:
    tray = Tray()
    tray.add(ask(ONE), NOON)
    assert tray.press("1", NOON + timedelta(milliseconds=100)) is None
    assert tray.press("1", LATER) == Send(Choices((Choice(("SQLite",)),)))


def test_the_next_card_ignores_keys_too() -> None:
    tray = Tray()
    tray.add(ask(ONE, "a_1"), NOON)
    tray.add(ask(NPM, "a_2"), NOON)
    tray.remove("a_1", LATER)
    assert tray.press("a", LATER) is None


def test_several_asks_wait_side_by_side_each_with_what_was_done_so_far() -> None:  # lesson 34
    tray = Tray()
    tray.add(ask(ONE, "a_1"), NOON)
    tray.add(ask(NPM, "a_2"), NOON)
    assert tray.place == "ask 1 of 2"
    tray.press("down", LATER)
    tray.turn(1, LATER)
    assert tray.current is not None
    assert tray.current.ask.id == "a_2"
    tray.turn(-1, LATER)
    assert tray.current.pointer == 0


def test_what_is_settled_does_not_come_back() -> None:  # lesson 32
    tray = Tray()
    assert tray.add(ask(ONE), NOON)
    assert tray.remove("a_1", LATER) is not None
    assert not tray.add(ask(ONE), LATER)
    assert tray.current is None


def test_what_was_settled_before_it_was_seen_is_not_shown() -> None:
    tray = Tray()
    settlement = Answered(Choices((Choice(("SQLite",)),)), Person("ann"), "web", NOON)
    assert not tray.add(ask(ONE, settlement=settlement), NOON)
    assert not tray.add(ask(ONE, "a_2", settlement=Withdrawn("gone", NOON)), NOON)
    assert tray.waiting == []


def test_an_ask_that_changed_begins_again() -> None:
    tray = Tray()
    tray.add(ask(ONE), NOON)
    tray.press("1", LATER)
    tray.begin_again(ask(NPM))
    assert tray.current is not None
    assert not tray.current.sending
    assert "changed" in tray.current.note


def test_after_a_gap_only_what_is_still_open_stays() -> None:
    tray = Tray()
    tray.add(ask(ONE, "a_1"), NOON)
    tray.add(ask(NPM, "a_2"), NOON)
    assert [gone.ask.id for gone in tray.keep_only({"a_2"}, LATER)] == ["a_1"]
    assert tray.top == "a_2"
