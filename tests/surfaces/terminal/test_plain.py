"""Numbered choices, typed."""

import pytest

from handraise.model.asks import Question
from handraise.surfaces.terminal.plain import how, keys_of, lines_of_card
from surfaces.terminal.asked import ADDRESS, CHECKS, DATABASE, NOON, NPM, PLAN, dialogue, play


def test_a_card_is_told_in_lines_and_says_how_it_is_answered() -> None:
    assert lines_of_card(dialogue(Question((DATABASE,))), 60, NOON, "") == [
        "✋ Store                                       waiting 0 s",
        "Which database?",
        "",
        "  1 SQLite – one file",
        "  2 Postgres – a server",
        "  0 Other (o)",
    ]
    assert how(dialogue(Question((DATABASE,)))) == "A number, then Enter. > to postpone."


def test_a_text_with_a_default_says_what_enter_alone_sends() -> None:
    street = play(dialogue(ADDRESS), "4")[0]
    assert "Enter alone" not in how(street)
    assert "Enter alone sends: 2" in how(play(street, "'Main Street 1", "enter")[0])


def test_every_choice_of_a_form_has_its_number() -> None:
    rows = lines_of_card(dialogue(ADDRESS), 60, NOON, "")
    assert [row.split()[0] for row in rows[3:]] == ["4", "5", "6"]


def test_nothing_is_folded() -> None:
    asked = dialogue(type(NPM)("Bash", {"command": "\n".join(str(each) for each in range(300))}))
    assert "│ 299" in lines_of_card(asked, 60, NOON, "")


def test_what_a_typed_line_stands_for() -> None:
    single, several = dialogue(Question((DATABASE,))), dialogue(Question((CHECKS,)))
    assert keys_of(single, " 2 ") == ["2"]
    assert keys_of(single, "") == ["enter"]
    assert keys_of(single, "<") == ["back"]
    assert keys_of(several, ">") == ["escape"]
    assert keys_of(several, "1, 3") == ["1", "3", "enter"]
    assert keys_of(several, "1 0") == ["1", "0"]
    assert keys_of(play(several, "1")[0], "1 3") == ["3", "enter"]
    # The line is the whole selection.
    assert keys_of(play(several, "1", "2")[0], "2 3") == ["1", "3", "enter"]
    assert keys_of(play(several, "1", "2")[0], "-") == ["1", "2", "enter"]
    assert keys_of(play(several, "1", "2")[0], "") == ["enter"]
    assert keys_of(single, "-") == []
    assert keys_of(dialogue(NPM), "a") == ["a", "enter"]
    assert keys_of(dialogue(NPM), "5") == ["5"]


@pytest.mark.parametrize("typed", ["all good, but wait", "1 more thing", "a b", "yes", "1 or 2", "9 x", "12", "1."])
def test_a_sentence_is_no_choice(typed: str) -> None:
    for body in (Question((DATABASE,)), Question((CHECKS,)), NPM, PLAN, ADDRESS):
        assert keys_of(dialogue(body), typed) == []
