"""Sentences that a person would say."""

from datetime import timedelta

import pytest

from handraise.model.actors import ByRule, Person
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise
from handraise.model.asks import Answered, Body, Expired, Permission, Question, Settlement, Withdrawn
from handraise.surfaces.terminal.words import ago, said, sentence, settled, waiting
from surfaces.terminal.asked import ADDRESS, DATABASE, NOON, NPM, PLAN, TWO_QUESTIONS, ask


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (Question((DATABASE,)), "Which database?"),
        (TWO_QUESTIONS, "Which database? (and 1 more)"),
        (NPM, "Run `npm test`?"),
        (Permission("Write", {"file_path": "/a.py", "content": "x\ny\n"}), "Write 2 lines to `/a.py`?"),
        (Permission("Edit", {"file_path": "/a.py"}), "Change `/a.py`?"),
        (Permission("mcp__mail__send", {}), "Use `send` of mail?"),
        (Permission("WebFetch", {"url": "https://a.example"}), "Fetch https://a.example?"),
        (PLAN, "Claude has a plan."),
        (ADDRESS, "Where does it go?"),
    ],
)
def test_what_is_asked(body: Body, told: str) -> None:
    assert sentence(ask(body)) == told


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Choices((Choice(("A", "B"), "c"), Choice(text="d"))), "chose A, B, c; d"),
        (Allow(), "allowed"),
        (Allow("session"), "allowed for this session"),
        (Allow(input={"x": 1}), "allowed with changes"),
        (Deny("No"), "denied (No)"),
        (Approve("acceptEdits"), "approved the plan, edits without asking"),
        (Revise("More"), "sent the plan back (More)"),
        (Outline(), "asked for an outline"),
        (Filled("decline"), "declined the form"),
    ],
)
def test_what_an_answer_says(answer: Answer, told: str) -> None:
    assert said(answer) == told


ME = Person("owner", "0a0b0c")


@pytest.mark.parametrize(
    ("settlement", "told"),
    [
        (Answered(Allow(), Person("ann"), "web", NOON), "ann allowed · Run `npm test`? · web"),
        (Answered(Allow(), ME, "terminal", NOON), "You allowed · Run `npm test`? · terminal"),
        (Answered(Allow(), Person("owner", "5eat"), "terminal", NOON), "owner allowed · Run `npm test`? · terminal"),
        (Answered(Allow(), Person("owner"), "terminal", NOON), "owner allowed · Run `npm test`? · terminal"),
        (Answered(Allow(), ByRule("r_1", "npm"), "hub", NOON), "the rule npm allowed"),
        (Expired(NOON), "Nobody answered in time"),
        (Expired(NOON, Answered(Deny(), Person("ann"), "web", NOON)), "Answered late: ann denied"),
        (Withdrawn("the turn was interrupted", NOON), "Withdrawn: the turn was interrupted"),
    ],
)
def test_how_it_ended(settlement: Settlement, told: str) -> None:  # lesson 30
    assert settled(ask(NPM), settlement, ME).startswith(told)


def test_how_long_it_waits() -> None:
    assert ago(timedelta(seconds=59)) == "59 s"
    assert ago(timedelta(days=3)) == "3 d"
    asked = ask(NPM, expires_at=NOON + timedelta(minutes=5))
    assert waiting(asked, NOON + timedelta(minutes=2)) == "waits 2 min, 3 min left"
