"""The rule of intent: the cases that every surface passes, and what must always hold."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.model.intent import BURST, CALM, Act, Attention, Surface, attend, is_typing

CASES = json.loads((Path(__file__).parent / "intent.json").read_text())
EVENTS = ("move", "change", "turn", "touch", "scroll", "see", "go_on")


def after(surface: Surface, events: list[Any]) -> Attention:
    """The card as it stands after all that; what was touched before it appeared is known to it."""
    card, touched = None, None
    for at, name in events:
        if card is None:
            touched, card = (at, None) if name == "touch" else (touched, attend(surface, at, touched_at=touched))
        elif name in ("see", "go_on"):
            card = getattr(card, name)()
        else:
            card = getattr(card, name)(at)
    assert card is not None
    return card


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_each_case_is_judged_as_written(case: dict[str, Any]) -> None:
    at, weight, *how = case["act"]
    act = Act(weight, at, repeated="repeated" in how, letter="letter" in how)
    before_due = [event for event in case.get("then", []) if event[0] <= act.due()]

    assert after(case["surface"], [*case["events"], *before_due]).judge(act) == case["verdict"]
    assert act.due() == case.get("due", at)


def test_no_two_cases_have_the_same_name() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES)


surfaces = st.sampled_from(sorted(CALM))
histories = st.lists(st.tuples(st.integers(0, 5000), st.sampled_from(EVENTS)), max_size=12).map(sorted)


@given(surfaces, histories, st.integers(0, 9000))
def test_nothing_is_granted_within_the_calm_after_the_last_move_or_touch(
    surface: Surface, history: list[Any], at: int
) -> None:
    card = after(surface, [(0, "appear"), *history])
    disturbed = max([0, *(when for when, name in history if name in ("move", "change", "touch"))])

    if at < disturbed + CALM[surface]:
        assert card.judge(Act("grant", at)) != "meant"
        assert card.judge(Act("answer", at)) != "meant"


@given(surfaces, histories, st.integers(0, 90000))
def test_nothing_is_granted_that_was_neither_seen_nor_passed_over(
    surface: Surface, history: list[Any], at: int
) -> None:
    unseen = [each for each in history if each[1] not in ("see", "go_on")]

    assert after(surface, [(0, "appear"), *unseen]).judge(Act("grant", at)) != "meant"


@given(surfaces, histories, st.integers(0, 9000))
def test_refusing_is_never_held_up(surface: Surface, history: list[Any], at: int) -> None:
    assert after(surface, [(0, "appear"), *history]).judge(Act("refuse", at)) == "meant"


@given(surfaces, histories, st.integers(0, 90000), st.sampled_from(["refuse", "answer", "grant"]))
def test_a_repeated_act_is_never_meant(surface: Surface, history: list[Any], at: int, weight: Any) -> None:
    assert after(surface, [(0, "appear"), *history]).judge(Act(weight, at, repeated=True)) == "repeated"


@given(surfaces, histories)
def test_a_person_who_looks_is_not_held_up(surface: Surface, history: list[Any]) -> None:
    """Fifty cards in a row: each counts immediately once it was looked at for the calm period."""
    card = after(surface, [(0, "appear"), *history]).see()

    assert card.judge(Act("grant", card.calm_at())) == "meant"
    assert card.calm_at() <= max([0, *(when for when, _ in history)]) + CALM[surface]


@given(surfaces, histories, st.integers(0, 9000), st.integers(0, BURST))
def test_a_letter_that_another_letter_follows_grants_nothing(
    surface: Surface, history: list[Any], at: int, later: int
) -> None:
    act = Act("grant", at, letter=True)

    assert act.due() == at + BURST
    assert after(surface, [(0, "appear"), *history]).touch(at + later).judge(act) != "meant"


def test_letters_in_quick_succession_are_words() -> None:
    assert is_typing(1000, 1000 + BURST - 1)
    assert not is_typing(1000, 1000 + BURST)
    assert not is_typing(None, 5)
