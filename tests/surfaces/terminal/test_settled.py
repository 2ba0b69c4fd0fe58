"""The line that a card folds to."""

import pytest

from handraise.model.actors import ByRule, Person
from handraise.model.answers import Allow, Approve, Choice, Choices, Deny
from handraise.model.asks import Answered, Body, Expired, Plan, Question, Settlement, Withdrawn
from handraise.surfaces.terminal.timeline import settled_line
from surfaces.terminal.asked import DATABASE, NOON, NPM, PLAN, TWO_QUESTIONS, ask

ME = Person("owner", "0a0b0c")


@pytest.mark.parametrize(
    ("settlement", "text"),
    [
        (Answered(Allow(), Person("ann"), "web", NOON), "ann allowed `npm test` · web"),
        (Answered(Allow(), ME, "terminal", NOON), "You allowed `npm test` · terminal"),
        (Answered(Allow(), Person("owner", "5eat"), "terminal", NOON), "owner allowed `npm test` · terminal"),
        (Answered(Allow(), Person("owner"), "terminal", NOON), "owner allowed `npm test` · terminal"),
        (Answered(Allow(), ByRule("r_1", "npm"), "hub", NOON), "A rule allowed `npm test`"),
        (Expired(NOON), "No one answered in time · Run `npm test`?"),
        (Expired(NOON, Answered(Deny(), Person("ann"), "web", NOON)), "Answered late: ann denied `npm test` · web"),
        (Withdrawn("the turn was interrupted", NOON), "No longer needed: the turn was interrupted · Run `npm test`?"),
    ],
)
def test_how_it_ended(settlement: Settlement, text: str) -> None:  # lesson 30
    assert settled_line(ask(NPM), settlement, ME).startswith(text)


def test_a_late_answer_says_where_it_went() -> None:
    late = Expired(NOON, Answered(Deny(), Person("ann"), "web", NOON))
    assert settled_line(ask(NPM), late, ME).endswith("sent to Claude as a follow-up")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (Question((DATABASE,)), "You answered: A · Which database? · terminal"),
        (TWO_QUESTIONS, "You answered: A · Which database? · "),
    ],
)
def test_an_answer_stands_beside_its_question(body: Body, text: str) -> None:
    answered = Answered(Choices((Choice(("A",)),)), ME, "terminal", NOON)
    assert settled_line(ask(body), answered, ME).startswith(text)


def test_a_plan_is_named_once() -> None:
    approved = Answered(Approve(), ME, "terminal", NOON)
    assert settled_line(ask(PLAN), approved, ME).startswith("You approved the plan “The plan” · terminal")
    assert settled_line(ask(Plan("1. Read")), approved, ME).startswith("You approved the plan · Claude has a plan.")
