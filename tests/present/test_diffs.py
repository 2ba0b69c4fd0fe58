"""Diffs as they are sent: facts about the whole, the beginning, and any part."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from handraise.model.asks import Permission, ask_as_json
from handraise.model.names import reveal
from handraise.present.cards import card_of
from handraise.present.diffs import EXCERPT, DiffLines, excerpt, facts_of
from handraise.present.excerpts import cut_action, cut_ask
from present.asked import ask_of, bash

CASES = json.loads(Path(__file__).with_name("diffs.json").read_text())
LONG = "".join(f"line {number}\n" for number in range(20_000))
NEW = "@@ -0,0 +1,20000 @@\n" + "".join(f"+line {number}\n" for number in range(20_000))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_facts_of_a_diff(case: dict[str, Any]) -> None:
    assert to_builtins(facts_of(case["diff"])) == case["facts"]
    assert facts_of(case["diff"], reveal(case["diff"])).lines == case["facts"]["lines"]


def test_an_excerpt_ends_with_a_whole_line() -> None:
    assert excerpt("a\nb\nc\n", 5) == "a\nb\n"
    assert excerpt("short\n", 6) == "short\n"
    assert excerpt("one long line", 5) == ""


_LINES = st.lists(st.sampled_from(["+a", "-b", " c", "@@ -5,2 +9 @@", "@@ nonsense @@", "\\ No newline", "", "@"]))


@given(_LINES, st.integers(0, 60), st.integers(1, 20))
def test_any_part_has_the_numbers_that_reading_from_the_start_gives(lines: list[str], first: int, limit: int) -> None:
    text = "".join(f"{line}\n" for line in lines * 3)
    whole = DiffLines(text)
    part = whole.part(first, limit)

    assert part.text == "".join(f"{line}\n" for line in (lines * 3)[first : first + limit])
    assert part.lines == len(lines) * 3
    before = DiffLines("".join(f"{line}\n" for line in (lines * 3)[:first]))
    end = before.part(10_000, 1)
    assert (part.old, part.new) == (end.old, end.new)


def test_parts_far_into_a_diff_know_their_line_numbers() -> None:
    lines = DiffLines(NEW)
    assert (lines.part(0, 1).old, lines.part(0, 1).new) == (1, 1)
    assert lines.part(15_001, 2).text == "+line 15000\n+line 15001\n"
    assert (lines.part(15_001, 2).old, lines.part(15_001, 2).new) == (0, 15_001)
    assert lines.part(30_000, 5).text == ""


def test_very_long_lines_come_one_by_one() -> None:
    lines = DiffLines("+" + "x" * 900_000 + "\n+" + "y" * 900_000 + "\n+z\n")
    assert [len(lines.part(at, 3).text) > 900_000 for at in (0, 1)] == [True, True]
    assert lines.part(0, 3).text.count("\n") == 1


def test_a_long_change_is_sent_as_an_excerpt_with_its_size() -> None:
    ask = ask_of(Permission("Write", {"file_path": "/a", "content": LONG}, diff=NEW))
    card = card_of(ask, None)
    shown = cut_ask(ask_as_json(ask), card)

    assert shown["cut"] is True
    assert len(shown["body"]["input"]["content"]) <= EXCERPT
    assert shown["body"]["input"]["file_path"] == "/a"
    assert len(shown["body"]["diff"]) <= EXCERPT
    [diff] = [each for each in shown["card"].evidence if each.kind == "diff"]
    assert len(diff.text) <= EXCERPT
    assert NEW.startswith(diff.text)
    assert diff.facts.lines == 20_001
    assert diff.facts.added == 20_000
    assert shown["digest"] == ask.digest, "the answer is to the whole"


def test_evidence_that_has_no_parts_stays_whole() -> None:
    ask = ask_of(bash("echo " + "x" * 100_000))
    shown = cut_ask(ask_as_json(ask), card_of(ask, None))
    assert shown["cut"] is True
    assert shown["card"] == card_of(ask, None)


def test_what_is_short_is_not_cut() -> None:
    ask = ask_of(Permission("Write", {"file_path": "/a", "content": "a\n"}, diff="@@ -0,0 +1 @@\n+a\n"))
    assert cut_ask(ask_as_json(ask), card_of(ask, None)) == {**ask_as_json(ask), "card": card_of(ask, None)}


def test_texts_deep_in_an_input_are_cut_too() -> None:
    started = {"type": "action.started", "input": {"edits": [{"new_string": LONG}, {"new_string": "a"}], "n": 1}}
    shown = cut_action(started)
    assert shown["cut"] is True
    assert len(shown["input"]["edits"][0]["new_string"]) <= EXCERPT
    assert shown["input"]["edits"][1] == {"new_string": "a"}
    assert shown["input"]["n"] == 1
    assert cut_action({"input": {"a": "b"}}) == {"input": {"a": "b"}}
