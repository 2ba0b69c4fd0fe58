"""The open asks that one person sees."""

from datetime import timedelta

from handraise.model.actors import Person
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Answered, Question, Withdrawn
from handraise.model.intent import Act
from handraise.surfaces.terminal.dialogue import press
from handraise.surfaces.terminal.fit import Fit
from handraise.surfaces.terminal.view import CardStack, milliseconds
from surfaces.terminal.asked import DATABASE, NOON, NPM, PLAN, ask

LATER = NOON + timedelta(seconds=5)
ONE = Question((DATABASE,))
WHOLE, FOLDED = Fit(0, 9, 9, 80), Fit(0, 4, 9, 80)


def verdict(stack: CardStack, seconds: float) -> str:
    assert stack.attention is not None
    return stack.attention.judge(Act("grant", milliseconds(NOON + timedelta(seconds=seconds))))


def test_a_card_is_looked_at_from_when_it_was_on_the_screen() -> None:
    stack = CardStack()
    stack.add(ask(NPM), NOON)
    assert stack.attention is None
    stack.drawn(WHOLE, LATER)
    assert (verdict(stack, 5.9), verdict(stack, 6)) == ("moved", "meant")


def test_the_next_card_is_looked_at_anew() -> None:
    stack = CardStack()
    stack.add(ask(ONE, "a_1"), NOON)
    stack.add(ask(NPM, "a_2"), NOON)
    stack.drawn(WHOLE, NOON)
    stack.remove("a_1")
    assert stack.attention is None
    stack.drawn(WHOLE, LATER)
    assert (verdict(stack, 5.9), verdict(stack, 6)) == ("moved", "meant")


def test_what_was_seen_whole_stays_seen_when_it_is_folded_again() -> None:
    stack = CardStack()
    stack.add(ask(NPM), NOON)
    stack.drawn(FOLDED, NOON)
    assert verdict(stack, 9) == "unseen"
    stack.drawn(WHOLE, NOON)
    stack.drawn(FOLDED, LATER)
    assert verdict(stack, 9) == "meant"


def test_another_step_is_seen_anew() -> None:
    stack = CardStack()
    stack.add(ask(Question((DATABASE, DATABASE))), NOON)
    stack.drawn(WHOLE, NOON)
    assert stack.current is not None
    stack.put(press(stack.current, "1")[0], LATER)
    assert verdict(stack, 9) == "unseen"


def test_several_asks_wait_side_by_side_each_with_what_was_done_so_far() -> None:  # lesson 34
    stack = CardStack()
    stack.add(ask(ONE, "a_1"), NOON)
    stack.add(ask(NPM, "a_2"), NOON)
    assert stack.place == "request 1 of 2"
    assert stack.current is not None
    stack.put(press(stack.current, "down")[0], LATER)
    stack.turn(1)
    assert stack.current.ask.id == "a_2"
    stack.turn(-1)
    assert stack.current.pointer == 0


def test_what_is_settled_does_not_come_back() -> None:  # lesson 32
    stack = CardStack()
    assert stack.add(ask(ONE), NOON)
    assert stack.remove("a_1") is not None
    assert not stack.add(ask(ONE), LATER)
    assert stack.current is None


def test_what_was_settled_before_it_was_seen_is_not_shown() -> None:
    stack = CardStack()
    settlement = Answered(Choices((Choice(("SQLite",)),)), Person("ann"), "web", NOON)
    assert not stack.add(ask(ONE, settlement=settlement), NOON)
    assert not stack.add(ask(ONE, "a_2", settlement=Withdrawn("gone", NOON)), NOON)
    assert stack.waiting == []


def test_an_ask_that_changed_begins_again_and_is_seen_anew() -> None:
    stack = CardStack()
    stack.add(ask(PLAN), NOON)
    stack.drawn(WHOLE, NOON)
    assert stack.current is not None
    stack.put(press(press(stack.current, "a")[0], "enter")[0], LATER)
    stack.begin_again(ask(NPM), LATER)
    assert not stack.current.sending
    assert "changed" in stack.current.note
    assert verdict(stack, 9) == "unseen"
    stack.drawn(WHOLE, LATER)
    assert (verdict(stack, 5.9), verdict(stack, 6)) == ("moved", "meant")


def test_after_a_gap_only_what_is_still_open_stays() -> None:
    stack = CardStack()
    stack.add(ask(ONE, "a_1"), NOON)
    stack.add(ask(NPM, "a_2"), NOON)
    assert [gone.ask.id for gone in stack.keep_only({"a_2"})] == ["a_1"]
    assert stack.top == "a_2"
