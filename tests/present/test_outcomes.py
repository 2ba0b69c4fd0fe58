"""The outcome: who did what, about others and as "You"."""

import pytest

from handraise.model.actors import ByRule, Person, TheHub
from handraise.model.answers import (
    Allow,
    Answer,
    Approve,
    Choice,
    Choices,
    Deny,
    Filled,
    Outline,
    Revise,
    Trusting,
)
from handraise.model.asks import Answered, Body, Expired, Permission, Plan, Settlement, Withdrawn
from handraise.present.outcomes import CardOutcome, outcome
from present.asked import FORM, HERE, LINK, NOON, PLAN, TRUST, WHICH, ask_of, bash

NPM = bash("npm test")


def of(body: Body, settlement: Settlement) -> CardOutcome:
    found = outcome(ask_of(body, settlement=settlement), HERE)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("body", "answer", "text"),
    [
        (NPM, Allow(), "allowed `npm test`"),
        (NPM, Allow("session"), "allowed `npm test` for this session"),
        (NPM, Allow("always"), "allowed `npm test` for this project"),
        (NPM, Allow(input={"command": "ls"}), "allowed `npm test` (edited)"),
        (NPM, Allow(suggestions=(0,)), "allowed `npm test`, with Claude's suggestion"),
        (NPM, Deny(), "denied `npm test`"),
        (NPM, Deny("Not now"), "denied `npm test`: “Not now”"),
        (NPM, Deny("", True), "denied `npm test` and stopped the turn"),
        (bash("a\nb"), Allow(), "allowed `a …`"),
        (bash("x" * 100), Allow(), f"allowed `{'x' * 71}…`"),
        (Permission("Edit", {"file_path": f"{HERE}/a.py"}), Allow(), "allowed Edit `a.py`"),
        (Permission("WebFetch", {"url": "https://a"}), Allow(), "allowed `WebFetch`"),
        (WHICH, Choices((Choice(("A", "B"), "c"), Choice(text="d"))), "answered: A, B, c · d"),
        (PLAN, Approve(), "approved the plan “7”"),
        (Plan("1. Do it"), Approve(), "approved the plan"),
        (PLAN, Approve(plan="# Other"), "approved the plan “7” (edited)"),
        (PLAN, Revise("More"), "sent the plan “7” back: “More”"),
        (PLAN, Revise(), "sent the plan “7” back"),
        (PLAN, Outline(), "asked for an outline first"),
        (FORM, Filled("accept", {}), "filled in the form"),
        (
            FORM,
            Filled("accept", {"8": "x`y", "z": True, "n": [1, 2]}),
            "filled in the form: 88: xˋy · z: yes · n: 1, 2",
        ),
        (FORM, Filled("decline"), "declined the form"),
        (FORM, Filled("cancel"), "dismissed the form"),
        (LINK, Filled("accept"), "finished on the website"),
        (LINK, Filled("decline"), "declined the link"),
        (LINK, Filled("cancel"), "dismissed the link"),
        (TRUST, Trusting("without"), "chose to run without them"),
        (TRUST, Trusting("exactly"), "trusted the directory"),
        (TRUST, Trusting("never"), "chose never to use them"),
    ],
)
def test_what_an_answer_did(body: Body, answer: Answer, text: str) -> None:
    found = of(body, Answered(answer, Person("ana"), "web", NOON))
    assert (found.text, found.yours) == (f"ana {text}", f"You {text}")


def test_a_verb_follows_who_did_it() -> None:
    found = of(PLAN, Answered(Approve("acceptEdits"), Person("ana"), "web", NOON))
    assert found == CardOutcome(
        "ana approved the plan “7” and accepts edits", "You approved the plan “7” and accept edits"
    )


def test_a_rule_and_the_hub_are_never_you() -> None:
    assert of(NPM, Answered(Deny(), ByRule("r_1", "x"), "rule", NOON)) == CardOutcome(*["A rule denied `npm test`"] * 2)
    assert of(NPM, Answered(Deny(), TheHub(), "hub", NOON)) == CardOutcome(*["Handraise denied `npm test`"] * 2)


def test_a_link_that_was_completed_by_itself_was_answered_by_nobody_in_particular() -> None:
    done = Answered(Filled("accept"), TheHub(), "website", NOON)
    assert of(LINK, done) == CardOutcome(*["Completed on the website"] * 2)


def test_what_nobody_answered() -> None:  # lesson 30
    late = Answered(Allow(), Person("ana"), "web", NOON)
    assert outcome(ask_of(NPM), HERE) is None
    assert of(NPM, Expired(NOON)).text == "No one answered in time"
    assert of(NPM, Expired(NOON, late)).text == "Answered late: ana allowed `npm test`"
    assert of(NPM, Expired(NOON, late)).yours == "Answered late: You allowed `npm test`"
    assert of(NPM, Withdrawn("the turn was interrupted", NOON)).text == "No longer needed: the turn was interrupted"


def test_hidden_characters_are_marked_wherever_they_come_from() -> None:  # lesson 39
    assert of(NPM, Answered(Deny("\u202eno"), Person("a\u200bna"), "web", NOON)).text == (
        "a⟨U+200B⟩na denied `npm test`: “⟨U+202E⟩no”"
    )
    assert of(bash("rm \u202e`x`"), Answered(Allow(), Person("ana"), "web", NOON)).text == (
        "ana allowed `rm ⟨U+202E⟩ˋxˋ`"
    )
    assert of(NPM, Withdrawn("a\u202eb\nc", NOON)).text == "No longer needed: a⟨U+202E⟩b c"


@pytest.mark.parametrize(
    ("body", "answer", "text"),
    [
        (NPM, Deny("Use `make`"), "denied `npm test`: “Use ˋmakeˋ”"),
        (PLAN, Revise("Mind `a.py`"), "sent the plan “7” back: “Mind ˋa.pyˋ”"),
        (WHICH, Choices((Choice(text="`both`"),)), "answered: ˋbothˋ"),
    ],
)
def test_backquotes_in_a_persons_words_are_never_taken_for_ours(body: Body, answer: Answer, text: str) -> None:
    answered = Answered(answer, Person("a`n`a"), "web", NOON)
    assert of(body, answered) == CardOutcome(f"aˋnˋa {text}", f"You {text}")


@pytest.mark.parametrize(
    ("answer", "brief"),
    [
        (Allow(), "allowed"),
        (Allow("session"), "allowed for this session"),
        (Allow("always"), "allowed for this project"),
        (Allow(input={"command": "ls"}), "allowed (edited)"),
        (Allow(suggestions=(0,)), "allowed, with Claude's suggestion"),
    ],
)
def test_what_was_allowed_is_said_briefly_behind_the_action(answer: Allow, brief: str) -> None:
    found = of(NPM, Answered(answer, Person("ana"), "web", NOON))
    assert (found.brief, found.yours_brief) == (f"ana {brief}", f"you {brief}")


def test_a_rule_allows_briefly_and_a_denial_has_no_action_to_stand_behind() -> None:
    assert of(NPM, Answered(Allow(), ByRule("r_1", "x"), "rule", NOON)).brief == "allowed by a rule"
    assert of(NPM, Answered(Deny(), Person("ana"), "web", NOON)).brief == ""
