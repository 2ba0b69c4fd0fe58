"""The choices: everything that answers an ask, by the keys of the table, in plain words."""

import pytest

from handraise.model import fit
from handraise.model.answers import read_answer
from handraise.model.asks import Body, Offer, Option, Permission, Plan, Prompt, Question, Terms
from handraise.model.keys import TABLE
from handraise.model.trust import Trust
from handraise.present.choices import OPTION, CardChoice, choices
from present.asked import BODIES, DIALOG, FORM, LINK, NPM, PLAN, TRUST, TWO, WHICH, ask_of, bash


def offered(body: Body) -> list[tuple[str, str, str, int | None]]:
    return [(each.act, each.label, each.key, each.digit) for each in choices(ask_of(body))]


def test_a_permission_is_allowed_for_how_long_edited_or_denied() -> None:
    assert offered(NPM) == [
        ("once", "Allow once", "a", 1),
        ("session", "Allow any `7 …` for this session", "s", 2),
        ("always", "Always allow `7 7` in this project", "w", 3),
        ("edit", "Edit", "e", 4),
        ("deny", "Deny", "d", 5),
        ("stop", "Deny and stop", "x", 6),
        ("suggestion", "Allow, and apply Claude's suggestion", "", 7),
        ("suggestion", "Allow, and apply Claude's suggestion", "", 8),
    ]
    assert [each[0] for each in offered(bash("ls"))] == ["once", "edit", "deny", "stop"]


def test_where_claude_code_wants_denying_first_no_key_allows() -> None:
    body = Permission("Bash", {"command": "ls"}, terms=Terms(deny_first=True))

    assert offered(body) == [
        ("deny", "Deny", "d", 5),
        ("stop", "Deny and stop", "x", 6),
        ("once", "Allow once", "", None),
        ("edit", "Edit", "", None),
    ]


def test_where_claude_code_wants_refusing_first_no_key_approves_a_plan() -> None:
    assert [(act, key, digit) for act, _, key, digit in offered(Plan("# A", Terms(deny_first=True)))] == [
        ("revise", "d", 5),
        ("outline", "p", 6),
        ("approve", "", None),
        ("free", "", None),
        ("edit", "", None),
    ]


def test_an_offer_without_rules_is_shown_by_its_scope() -> None:
    body = Permission("Bash", {"command": "ls"}, offers=(Offer("session", "Allow `ls` here", ()),))

    assert [each.label for each in choices(ask_of(body)) if each.act == "session"] == ["Allow `ls` here"]


def test_a_suggestion_beyond_the_last_digit_has_none() -> None:
    mode = {"type": "setMode", "mode": "plan", "destination": "session"}
    body = Permission("Bash", {"command": "ls"}, suggestions=(mode,) * 4)
    assert [each.digit for each in choices(ask_of(body)) if each.act == "suggestion"] == [7, 8, 9, None]


def test_a_plan_is_approved_edited_or_sent_back() -> None:
    assert offered(PLAN) == [
        ("approve", "Approve", "a", 1),
        ("free", "Approve and accept edits", "y", 2),
        ("edit", "Edit", "e", 4),
        ("revise", "Send back", "d", 5),
        ("outline", "Pause and outline", "p", 6),
    ]


def test_a_form_is_filled_in_declined_or_dismissed() -> None:
    assert offered(FORM) == [
        ("fill", "Fill in", "e", 4),
        ("decline", "Decline", "d", 5),
        ("cancel", "Dismiss without answering", "", 6),
    ]


def test_a_link_is_done_declined_or_dismissed() -> None:
    assert offered(LINK) == [
        ("done", "Done", "", 1),
        ("decline", "Decline", "d", 5),
        ("cancel", "Dismiss without answering", "", 6),
    ]
    assert choices(ask_of(LINK))[0].weight == "grant"
    assert choices(ask_of(LINK))[0].answer == {"action": "accept"}


def test_a_dialog_has_its_options_only() -> None:
    assert offered(DIALOG) == [(OPTION, "8", "", 1), (OPTION, "9", "", 2)]


def test_a_question_has_its_options_and_free_text() -> None:
    assert offered(WHICH) == [(OPTION, "8", "", 1), (OPTION, "9", "", 2), ("free text", "Other", "o", 0)]
    assert offered(Question((Prompt("Why?"),))) == [("free text", "Other", "o", 0)]
    assert offered(TWO) == []
    many = Question((Prompt("7?", "", tuple(Option(str(each)) for each in range(12))),))
    assert [digit for _, _, _, digit in offered(many)] == [*range(1, 10), None, None, None, 0]


def test_several_options_are_marked_first() -> None:
    several = Question((Prompt("7?", "", (Option("8"), Option("9")), multi_select=True),))
    assert [each.answer for each in choices(ask_of(several))] == [None, None, None]


def test_what_cannot_be_shown_whole_cannot_be_trusted() -> None:
    trusting = [("without", "Run without them", "d", 5), ("never", "Never use them", "", 6)]
    assert offered(TRUST) == [("exactly", "Trust these exactly as they are", "", 1), *trusting]
    assert offered(Trust("/a", (), {}, ("A file is too large.",))) == trusting


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_every_ready_answer_fits_its_ask(body: Body) -> None:
    ask = ask_of(body)
    for each in choices(ask):
        if each.answer is not None:
            fit.check(body, read_answer(ask.kind, each.answer))


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_every_choice_is_in_the_table_of_keys(body: Body) -> None:
    known = {(key.on, key.act): (key.letter, key.weight) for key in TABLE}
    ask = ask_of(body)
    for each in choices(ask):
        if each.act != OPTION:
            assert known[ask.kind, each.act] == (each.key, each.weight)


def test_only_what_refuses_or_lets_code_run_is_marked_as_danger() -> None:
    dangerous = [(body, each.act) for body in BODIES for each in choices(ask_of(body)) if each.danger]
    assert {act for _, act in dangerous} == {"deny", "stop", "exactly"}


def test_hidden_characters_in_options_are_marked() -> None:  # lesson 39
    (option, _) = choices(ask_of(Question((Prompt("7?", "", (Option("A\u200b", "\u202eb"),)),))))
    assert isinstance(option, CardChoice)
    assert (option.label, option.detail) == ("A⟨U+200B⟩", "⟨U+202E⟩b")
    assert option.answer == {"answers": [{"labels": ["A\u200b"]}]}
