"""One table of keys for every surface."""

import json
from itertools import combinations
from pathlib import Path

import pytest
from msgspec.structs import asdict

from handraise.model.keys import TABLE, key_of

CASES = json.loads((Path(__file__).parent / "keys.json").read_text())
SAME = {"once": "approve", "revise": "deny", "decline": "deny", "without": "deny", "fill": "edit"}
"""What is the same thing to do on cards of different kinds."""


def test_the_table_is_the_one_that_the_page_is_compared_with() -> None:
    assert [asdict(each) for each in TABLE] == CASES


def test_a_letter_means_the_same_on_every_card() -> None:
    for one, other in combinations([each for each in TABLE if each.letter], 2):
        if one.letter == other.letter:
            assert SAME.get(one.act, one.act) == SAME.get(other.act, other.act), (one, other)


def test_no_digit_grants_on_one_card_what_it_refuses_on_another() -> None:
    grants = {each.digit for each in TABLE if each.weight == "grant"}
    refuses = {each.digit for each in TABLE if each.weight == "refuse" and each.digit is not None}
    assert not grants & refuses


def test_a_key_that_nobody_wrote_down_is_an_error() -> None:
    with pytest.raises(KeyError):
        key_of("plan", "once")
