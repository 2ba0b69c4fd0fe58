"""What Claude reads about an answer that came too late for the request itself."""

import pytest

from handraise.inbox.guidance import late_say, missed_say
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise
from handraise.model.asks import Answered, Body, Form
from inbox.waiting_room import ANA, FORM, NOON, PLAN, QUESTION, an_ask, bash


@pytest.mark.parametrize(
    ("body", "answer", "words"),
    [
        (QUESTION, Choices((Choice(("SQLite",), "but small"),)), ["Which database? — SQLite, but small"]),
        (bash(description="Run tests"), Allow(), ["use Bash (Run tests)", "allowed", "ask again"]),
        (bash(), Allow(input={"command": "ls"}), ["{'command': 'ls'}"]),
        (bash(), Deny("Too risky."), ["denied. Too risky."]),
        (PLAN, Approve("acceptEdits", "1. Less."), ["approved (mode acceptEdits)", "1. Less."]),
        (PLAN, Revise("Shorter."), ["sent back. Shorter."]),
        (PLAN, Outline(), ["step-by-step outline"]),
        (FORM, Filled("accept", {"street": "Odeon 4"}), ["post", "accept", "Odeon 4"]),
        (FORM, Filled("cancel"), ["cancel"]),
        (
            Form("Sign in.", "post", {}, "https://a.example"),
            Filled("accept"),
            ["post", "visit a link: Sign in.", "accept"],
        ),
    ],
)
def test_every_kind_of_answer_is_said_in_words(body: Body, answer: Answer, words: list[str]) -> None:
    answered = Answered(answer, ANA, "web", NOON)

    for say in (late_say(an_ask(body), answered), missed_say(an_ask(body), answered)):
        assert isinstance(say.content, str)
        for each in words:
            assert each in say.content
        assert (say.session, say.by, say.source) == ("s_1", ANA, "web")


def test_the_same_ask_is_said_once_late_and_once_missed() -> None:
    yes, no = Answered(Allow(), ANA, "web", NOON), Answered(Deny(), ANA, "web", NOON)

    assert late_say(an_ask(), yes).id == late_say(an_ask(), no).id
    assert late_say(an_ask(), yes).id != missed_say(an_ask(), yes).id
    assert late_say(an_ask(identity="a_2"), yes).id != late_say(an_ask(), yes).id
