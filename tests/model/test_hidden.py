"""Nobody approves what they cannot see."""  # lesson 39

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.model.names import has_hidden, has_hidden_exactly, reveal, reveal_exactly

CASES = json.loads(Path(__file__).with_name("hidden.json").read_text())
"""The page reads the same table: `web/tests/reveal.test.ts`."""
TRICKY = st.text(
    st.sampled_from("aم\u06ccक\u094d👩🏽❤葛\u200c\u200d\ufe0f\ufe00\U000e0100\u202e\U000e0041 1"), max_size=12
)
TEXTS = st.one_of(st.text(), TRICKY)


@pytest.mark.parametrize("case", CASES, ids=[each["name"] for each in CASES])
def test_what_hides_is_shown_and_what_belongs_to_a_script_stays(case: dict[str, str]) -> None:
    assert reveal(case["text"]) == case["words"]
    assert reveal_exactly(case["text"]) == case["exactly"]
    assert has_hidden(case["text"]) is (case["words"] != case["text"])
    assert has_hidden_exactly(case["text"]) is (case["exactly"] != case["text"])


@pytest.mark.parametrize(
    "text", ["", "git status\n\trm", "é 日本 ‘’ —", "❤\ufe0f 1\ufe0f", "    indented", "שלום", "🎉"]
)
def test_what_can_be_seen_stays_as_it_is(text: str) -> None:
    assert reveal_exactly(text) == text
    assert not has_hidden(text)


def test_half_a_character_is_shown() -> None:
    assert reveal("a\ud800b") == reveal_exactly("a\ud800b") == "a⟨U+D800⟩b"


@given(TEXTS)
def test_what_was_shown_hides_nothing_more(text: str) -> None:
    assert not has_hidden(reveal(text))
    assert not has_hidden_exactly(reveal_exactly(text))


@given(TEXTS)
def test_whatever_stays_in_words_is_marked_in_a_command(text: str) -> None:
    assert reveal_exactly(reveal(text)) == reveal_exactly(text)


@given(
    st.text(st.characters(max_codepoint=0x24F)),
    st.sampled_from("\u200c\u200d\ufe00\U000e0100"),
    st.text(st.characters(max_codepoint=0x24F)),
)
def test_nothing_hidden_stays_in_Latin_text(before: str, hidden: str, after: str) -> None:  # noqa: N802 (a name)
    assert hidden not in reveal(before + hidden + after)
