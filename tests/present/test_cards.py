"""The card: everything people read about an ask, in every kind and state, and in the hub's language."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise import texts
from handraise.model.actors import Person, TheHub
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import (
    Answered,
    Ask,
    Body,
    Expired,
    Form,
    Option,
    Permission,
    Plan,
    Prompt,
    Question,
    Withdrawn,
)
from handraise.model.names import has_hidden
from handraise.model.trust import Brought, Trust
from handraise.present.actions import traits_of
from handraise.present.cards import Card, Risk, card_as_json, card_of, risk
from handraise.present.evidence import hides
from handraise.present.links import link_of
from present.asked import (
    BODIES,
    DIALOG,
    FORM,
    HERE,
    LINK,
    NOON,
    NPM,
    PLAN,
    TRUST,
    WHICH,
    WRITE,
    ask_of,
    bash,
    english_in,
)


def read(card: Card) -> list[str]:
    """Every text of a card that people read."""
    shown = [card.headline, card.why, card.risk.reason]
    shown += [text for each in card.evidence for text in (each.text, each.label) if each.kind != "input"]
    shown += [text for each in card.choices for text in (each.label, each.detail)]
    return [*shown, *([card.outcome.text, card.outcome.yours] if card.outcome else [])]


def test_a_card_as_the_api_shows_it() -> None:
    card = card_of(ask_of(bash("npm test"), why="No rule allows `npm test`."), HERE)
    shown = msgspec.json.decode(msgspec.json.encode(card_as_json(card)))

    assert shown["headline"] == "Run `npm test`?"
    assert shown["evidence"] == [{"kind": "command", "text": "npm test", "label": "", "facts": None}]
    assert shown["choices"][0] == {
        "act": "once",
        "label": "Allow once",
        "detail": "",
        "key": "a",
        "digit": 1,
        "weight": "grant",
        "danger": False,
        "answer": {"allow": True},
    }
    assert shown["why"] == "No rule allows `npm test`."
    assert shown["outcome"] is None
    assert shown["risk"] == {"level": "high", "reason": "This can only be allowed once"}


def test_what_was_answered_offers_no_choices_and_what_expired_does() -> None:
    answered = Answered(Deny(), Person("ana"), "web", NOON)
    assert card_of(ask_of(NPM, settlement=answered), HERE).choices == ()
    assert card_of(ask_of(NPM, settlement=Withdrawn("x", NOON)), HERE).choices == ()
    assert card_of(ask_of(NPM, settlement=Expired(NOON, answered)), HERE).choices == ()
    assert card_of(ask_of(NPM, settlement=Expired(NOON)), HERE).choices != ()


ANSWERS: list[tuple[Body, Answer]] = [
    (NPM, Allow()),
    (NPM, Allow("session", suggestions=(0,))),
    (NPM, Allow("always")),
    (NPM, Allow(input={"command": "8"})),
    (NPM, Deny("8", True)),
    (NPM, Deny()),
    (WHICH, Choices((Choice(("8",), "9"),))),
    (PLAN, Approve()),
    (PLAN, Approve("acceptEdits", "8")),
    (PLAN, Revise("8")),
    (PLAN, Outline()),
    (FORM, Filled("accept", {})),
    (FORM, Filled("decline")),
    (FORM, Filled("cancel")),
    (LINK, Filled("accept")),
    (LINK, Filled("decline")),
    (LINK, Filled("cancel")),
    (DIALOG, Choices((Choice(("8",)),))),
    (TRUST, Trusting("without")),
    (TRUST, Trusting("exactly")),
    (TRUST, Trusting("never")),
]
SETTLED = [
    *(ask_of(body, settlement=Answered(answer, Person("7"), "web", NOON)) for body, answer in ANSWERS),
    ask_of(NPM, settlement=Answered(Deny(), TheHub(), "hub", NOON)),
    ask_of(LINK, settlement=Answered(Filled("accept"), TheHub(), "website", NOON)),
    ask_of(NPM, settlement=Expired(NOON)),
    ask_of(NPM, settlement=Expired(NOON, Answered(Allow(), Person("7"), "web", NOON))),
    ask_of(NPM, settlement=Withdrawn("7", NOON)),
]
OTHERS: list[Body] = [
    Permission("Read", {"file_path": "/7\u202e"}, blocked_path="/7", description="7"),
    *(
        Permission(tool, {"pattern": "7", "url": "7", "query": "7", "description": "7", "skill": "7"})
        for tool in ("Glob", "Grep", "WebFetch", "WebSearch", "Task", "Skill", "KillShell", "mcp__7__8")
    ),
    Trust("/7", (), {}, ("8",)),
    Form("", "7", {}),
    Form("", "7", {}, "http://xn--7-8/9"),
    Form("", "7", {}, "7:8"),
]


@pytest.mark.parametrize("ask", [*(ask_of(body) for body in (*BODIES, *OTHERS)), *SETTLED])
def test_no_plain_english_of_ours_is_in_a_card_of_the_pseudo_locale(ask: Ask) -> None:
    with texts.using("en-XA"):
        card = card_of(ask, HERE)

    assert [word for text in read(card) for word in english_in(text)] == []


TEXT = st.text(max_size=80)
HOSTILE = st.one_of(
    TEXT,
    st.sampled_from(
        ["\u202e", "\u200b" * 5, " " * 90, "\n" * 30, "<svg onload=x>", "{subject}", "`", "&amp;", "\ud800"]
    ),
)


@given(
    st.one_of(
        st.builds(lambda name, key, value: Permission(name, {key: value, "command": value}), HOSTILE, TEXT, HOSTILE),
        st.builds(
            lambda q, a, b: Question((Prompt(q, "", (Option(a, b, a), Option(b, a))),)), HOSTILE, HOSTILE, HOSTILE
        ),
        st.builds(Plan, HOSTILE),
        st.builds(lambda a, b: Form(a, b, {"properties": {a: {"title": b, "description": a}}}), HOSTILE, HOSTILE),
        st.builds(lambda a, b: Form(a, b, {}, f"https://{b}/{a}"), HOSTILE, HOSTILE),
        st.builds(lambda a, b: Form(a, b, {}, b), HOSTILE, HOSTILE),
        st.builds(lambda a, b: Trust(a, (Brought("hook", a, b, a),), {}, (b,)), HOSTILE, HOSTILE),
    ),
    HOSTILE,
)
def test_whatever_is_asked_a_card_hides_nothing(body: Body, why: str) -> None:  # lesson 38, lesson 39, lesson 43
    card = card_of(ask_of(body, why=why), None)

    shown: list[Any] = [card.headline, card.why, *(each.label for each in card.evidence)]
    shown += [each.label for each in card.choices]
    assert not any(has_hidden(text) for text in shown)
    assert not any(has_hidden(each.text) for each in card.evidence)
    assert card.headline.strip()


def risk_of(body: Body, session: str | None = "s_1") -> Risk:
    return risk(ask_of(body, session), hidden=hides(body))


@pytest.mark.parametrize(
    ("body", "level", "reason"),
    [
        (bash("rm \u202e/"), "high", "Contains hidden characters"),
        (Permission("Read", {"file_path": "/\u200b"}), "high", "Contains hidden characters"),
        (Permission("Read", {"file_path": "/etc"}, blocked_path="/etc"), "high", "Outside the allowed directories"),
        (TRUST, "high", "Runs code from this directory without asking"),
        (bash("curl x | sh"), "high", "This can only be allowed once"),
        (Permission("Read", {"file_path": "/etc"}), "low", ""),
        (Permission("Grep", {"pattern": "x"}), "low", ""),
        (WHICH, "low", ""),
        (FORM, "low", ""),
        (LINK, "medium", ""),
        (Form("?", "s", {}, "http://example.com"), "high", "Not encrypted (http)"),
        (
            Form("?", "s", {}, "javascript:x"),
            "high",
            "This isn't a plain web address, so it can't be opened from here.",
        ),
        (Form("?", "s", {}, "https://exa\u202emple"), "high", "Contains hidden characters"),
        (DIALOG, "low", ""),
        (NPM, "medium", ""),
        (WRITE, "medium", ""),
        (PLAN, "medium", ""),
        (Permission("mcp__a__b", {}), "medium", ""),
    ],
)
def test_how_risky_an_ask_is(body: Body, level: str, reason: str) -> None:
    found = risk_of(body)
    assert (found.level, found.reason) == (level, reason)


def test_where_nothing_can_be_offered_at_all_a_command_is_like_any_other() -> None:
    assert risk_of(bash("npm test"), session=None).level == "medium"


def test_only_a_link_has_a_link() -> None:
    assert card_of(ask_of(LINK), HERE).link == link_of("https://7.x/9")
    assert card_of(ask_of(FORM), HERE).link is None


def test_an_expired_dialog_is_gone() -> None:
    assert card_of(ask_of(DIALOG, settlement=Expired(NOON)), HERE).choices == ()
    assert len(card_of(ask_of(WHICH, settlement=Expired(NOON)), HERE).choices) == 3


def test_the_card_of_a_permission_has_the_traits_of_its_tool() -> None:
    assert card_of(ask_of(WRITE), HERE).traits == traits_of("Write")
    assert card_of(ask_of(WHICH), HERE).traits is None
