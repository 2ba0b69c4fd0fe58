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
    assert keys_of(dialogue(NPM), "a") == ["a", "enter"]
    assert keys_of(dialogue(NPM), "5") == ["5"]


@pytest.mark.parametrize("typed", ["all good, but wait", "1 more thing", "a b", "yes", "1 or 2", "9 x", "12", "1."])
def test_a_sentence_is_no_choice(typed: str) -> None:
    for body in (Question((DATABASE,)), Question((CHECKS,)), NPM, PLAN, ADDRESS):
        assert keys_of(dialogue(body), typed) == []
