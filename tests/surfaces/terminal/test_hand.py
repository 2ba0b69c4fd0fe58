"""Whether a key was meant for the card: the scenarios of every surface, and sentences at every speed and moment."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.model.answers import Allow, Choice, Choices
from handraise.surfaces.terminal.dialogue import Edit
from handraise.texts import t
from surfaces.terminal.asked import NPM
from surfaces.terminal.hands import CARDS, Player, outcome

SCENARIOS = json.loads((Path(__file__).parents[2] / "model" / "hands.json").read_text())
HERE = [each for each in SCENARIOS if "terminal" in each.get("on", ["terminal"])]
SENTENCES = [
    "stop, that is wrong", "okay wait", "all good, but wait", "no", "yes please", "a", "ask the owner first",
    "don't do that", "everything else first", "1 more thing", "2 of them are wrong, 3 are fine", "just a moment",
    "very good", "go ahead with the other one", "always use tabs", "see above", "what is this?", "y not", "p.s. hello",
    "x is unused", "d", "ja", "warum?", "s", "w", "approve it later", "12", "keep going", "öffne das", "日本",
]  # fmt: skip
EARLY = [-2500, -900, -200, 0, 1, 300, 700, 990]


def play(scenario: dict[str, Any], speaks: bool) -> Player:
    player = Player(speaks)
    for at, what, value in scenario["do"]:
        if at >= 0 and not player.stack.waiting:
            player.until(3000)
            player.appears(CARDS[scenario["card"]])
        player.until(3000 + at)
        match what:
            case "key":
                player.key(value.lower() if len(value) > 1 else value)
            case "type":
                type_while(player, value, scenario["card"])
            case "hold":
                hold(player, value.lower() if len(value) > 1 else value, scenario["card"])
            case _:
                for letter in value:
                    player.key("enter" if letter == "⏎" else letter, pasted=True)
    player.until(player.at + 3000)
    return player


def type_while(player: Player, text: str, card: str, pace: int = 120) -> None:
    """Types on, and the card comes when its time has come."""
    for letter in text:
        if player.at >= 3000 and not player.stack.waiting and not player.sent:
            player.appears(CARDS[card])
        player.key("enter" if letter == "⏎" else letter)
        player.until(player.at + pace)


def hold(player: Player, key: str, card: str) -> None:
    player.key(key)
    player.until(player.at + 500)
    for _ in range(40):
        if player.at >= 3000 and not player.stack.waiting and not player.sent:
            player.appears(CARDS[card])
        player.key(key)
        player.until(player.at + 33)


@pytest.mark.parametrize("speaks", [True, False], ids=["session", "inbox"])
@pytest.mark.parametrize("scenario", HERE, ids=[each["name"] for each in HERE])
def test_each_scenario_comes_to_what_is_written(scenario: dict[str, Any], speaks: bool) -> None:
    assert outcome(play(scenario, speaks)) == scenario["comes"]


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("speaks", [True, False], ids=["session", "inbox"])
@pytest.mark.parametrize("line", ["", "half a sent"], ids=["empty", "written"])
@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.torture)], ids=["some", "all"])
def test_a_sentence_while_a_card_appears_answers_nothing_and_is_said_whole(
    card: str, speaks: bool, line: str, share: int
) -> None:
    # Some at each card, and all of them at three.
    for sentence in SENTENCES[list(CARDS).index(card) % share :: share]:
        for offset in EARLY:
            for pace in (40, 350) if len(sentence) < 12 else (120,):
                player = Player(speaks, line=line if speaks else "")
                player.at = 3000 + min(offset, 0)
                if offset >= 0:
                    player.appears(CARDS[card])
                    player.until(3000 + offset)
                type_while(player, f"{sentence}⏎", card, pace)
                player.until(player.at + 2000)
                assert player.sent == []
                assert player.edited == []
                # Who waited for the card to be calm in the middle of a sentence does not lose the beginning of it.
                assert not speaks or "".join([*player.messages, player.line]) == line + sentence


@pytest.mark.parametrize("card", ["permission", "permission without offers", "plan", "question", "form"])
def test_a_sentence_at_a_calm_card_is_said_whole_and_chooses_nothing(card: str) -> None:
    for sentence in SENTENCES:
        if len(sentence) > 2:
            for pace in (30, 120, 390):
                player = Player()
                player.appears(CARDS[card])
                player.until(5000)
                player.types(f"{sentence}⏎", pace)
                player.until(player.at + 2000)
                assert (player.sent, player.edited) == ([], [])
                assert player.messages == [sentence]
                assert player.stack.current is not None
                assert player.stack.current.pointer is None


def test_in_the_inbox_a_sentence_at_a_calm_card_is_dropped_and_the_card_says_so() -> None:
    player = Player(speaks=False)
    player.appears(CARDS["permission"])
    player.until(5000)
    player.types("all good, but wait⏎")
    assert player.stack.current is not None
    assert player.stack.current.note == t("terminal.card.typing")
    assert player.hand.waits(player.now, "") == "Keys count in a moment"


@given(
    st.sampled_from(sorted(CARDS)),
    st.booleans(),
    st.sampled_from(["", "text"]),
    st.lists(
        st.tuples(st.integers(0, 399), st.sampled_from([*"asewdxypo0123456789vgjk zqü", "enter", "backspace"])),
        min_size=2,
        max_size=40,
    ),
)
def test_whatever_is_typed_without_a_pause_before_a_card_is_calm_answers_nothing(
    card: str, speaks: bool, line: str, keys: list[tuple[int, str]]
) -> None:
    player = Player(speaks, line=line if speaks else "")
    player.appears(CARDS[card])
    for pause, key in keys:
        player.until(player.at + pause)
        player.key(key)
    player.until(player.at + 900)
    assert (player.sent, player.edited) == ([], [])


@given(
    st.sampled_from(["permission", "plan", "long plan"]),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 3000), st.sampled_from([*"asewdxypo0123456789vgjk zq"])), max_size=30),
)
def test_without_enter_nothing_is_granted(card: str, speaks: bool, keys: list[tuple[int, str]]) -> None:
    player = Player(speaks)
    player.appears(CARDS[card])
    for pause, key in keys:
        player.until(player.at + pause)
        player.key(key)
    player.until(player.at + 2000)
    assert outcome(player) != "granted"


def test_fifty_cards_that_are_looked_at_are_answered_at_the_first_try() -> None:
    player = Player(speaks=False)
    for number in range(50):
        player.appears(NPM, f"a_{number}")
    for number in range(50):
        player.until(player.at + 1000)
        player.key("a")
        player.until(player.at + 80)
        player.key("enter")
        assert player.sent[-1] == (f"a_{number}", Allow())
    assert player.at <= 50 * 1080


def test_the_next_card_does_not_take_the_key_that_was_meant_for_the_last_one() -> None:  # lesson 28
    player = Player(speaks=False)
    player.appears(NPM, "a_1")
    player.stack.add(player.stack.waiting[0], player.now)
    player.appears(NPM, "a_2")
    player.until(2000)
    player.key("a")
    player.until(2900)
    player.stack.remove("a_1")
    player.draw()
    player.key("enter")
    player.until(3000)
    player.key("a")
    player.until(3100)
    player.key("enter")
    assert player.sent == []


def test_a_second_key_between_takes_the_choice_back() -> None:
    for other in ("z", "d", "5", "?"):
        player = Player()
        player.appears(NPM)
        player.until(2000)
        player.key("a")
        player.until(2500)
        player.key(other)
        player.until(2600)
        player.key("enter")
        player.until(4000)
        assert outcome(player) in ("open", "refused")


def test_an_option_waits_until_it_is_no_word_and_enter_does_not() -> None:
    for keys, at in ((["2"], 2400), (["2", "enter"], 2050)):
        player = Player()
        player.appears(CARDS["question"])
        player.until(2000)
        for key in keys:
            player.key(key)
            player.until(player.at + 50)
        player.until(at - 1)
        assert bool(player.sent) == (len(keys) == 2)
        player.until(at + 10)
        assert player.sent == [("a_1", Choices((Choice(("Postgres",)),)))]


def test_an_editor_opens_by_one_key_a_moment_later() -> None:
    player = Player()
    player.appears(NPM)
    player.until(2000)
    player.key("e")
    player.until(2300)
    assert player.edited == []
    player.until(2500)
    assert player.edited == [Edit("npm test", ".sh")]


def test_what_is_too_long_can_be_read_and_then_allowed() -> None:
    player = Player(size=(80, 24))
    player.appears(CARDS["long permission"])
    player.until(2000)
    player.key("v")
    for _ in range(5):
        player.until(player.at + 500)
        player.key("space")
    player.until(player.at + 500)
    player.key("escape")
    player.until(player.at + 500)
    player.key("a")
    player.until(player.at + 100)
    player.key("enter")
    assert outcome(player) == "granted"


@pytest.mark.parametrize("keys", [["end"], ["space", "end"], ["space", "space"]])
def test_who_jumps_to_the_end_has_not_read_it(keys: list[str]) -> None:
    player = Player(size=(80, 24))
    player.appears(CARDS["long permission"])
    player.until(2000)
    player.key("v")
    player.until(2500)
    for key in keys:
        player.hand.press(key, player.now, player.size)  # in one breath, so that nothing is drawn between them
    player.draw()
    player.key("escape")
    player.until(4000)
    player.key("a")
    player.until(4100)
    player.key("enter")
    player.until(6000)
    assert outcome(player) == "open"


@pytest.mark.parametrize("rows", range(1, 12))
def test_on_a_low_terminal_what_was_not_shown_is_not_granted(rows: int) -> None:
    player = Player(size=(80, rows))
    player.appears(CARDS["long permission"])
    player.until(2000)
    player.key("a")
    player.until(2500)
    player.key("enter")
    player.until(4000)
    assert player.sent == []
    current = player.stack.current
    assert current is not None
    assert current.note == t("terminal.card.larger") or "lines were not shown. v to read" in current.note


def test_what_was_seen_stays_seen_but_is_not_granted_where_it_cannot_be_shown() -> None:
    player = Player(size=(80, 24))
    player.appears(NPM)
    player.until(2000)
    player.size = (80, 2)
    player.draw()
    player.key("a")
    player.until(2500)
    player.key("enter")
    assert player.sent == []
    player.size = (80, 6)
    player.until(2600)
    player.key("enter")
    assert outcome(player) == "granted"


def test_who_turns_to_the_card_answers_it_and_keeps_what_is_written() -> None:
    player = Player(line="half a sentence")
    player.appears(NPM)
    player.until(5000)
    player.types("a⏎")
    assert player.messages == ["half a sentencea"]
    player.line = "more"
    player.hand.turn_to_card()
    player.until(player.at + 1000)
    player.key("a")
    player.until(player.at + 100)
    player.key("enter")
    assert (outcome(player), player.line) == ("granted", "more")


@pytest.mark.parametrize("late", [400, 401, 5000])
def test_a_key_that_waits_is_carried_out_even_if_the_screen_is_drawn_late(late: int) -> None:
    player = Player()
    player.appears(CARDS["question"])
    player.until(2000)
    player.key("1")
    # A busy machine: drawn again when the key is long due, before its timer rang.
    player.at += late
    player.draw()
    assert player.hand.wakes(player.now) == timedelta(0)
    player.until(player.at + 1)
    assert outcome(player) == "answered"


@pytest.mark.parametrize("ends", ["by itself", "enter"])
def test_a_key_that_waits_is_never_another_cards(ends: str) -> None:  # lesson 27
    player = Player()
    player.appears(CARDS["question"], "a_1")
    player.appears(CARDS["question"], "a_2")
    player.until(2000)
    player.key("1")
    # Answered elsewhere before the key counts: the next card is on top.
    player.stack.remove("a_1")
    player.draw()
    player.until(player.at + (50 if ends == "enter" else 3000))
    if ends == "enter":
        player.key("enter")
        player.until(player.at + 3000)
    assert player.sent == []
