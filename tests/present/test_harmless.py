"""Nothing that Claude prints reaches the terminal as a command."""  # lesson 39

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.present.harmless import evidence, one_line, prose, seal
from surfaces.terminal.hostile import CORPUS


def is_harmless(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


@pytest.mark.parametrize("name", CORPUS)
def test_a_hostile_text_is_harmless_and_visible(name: str) -> None:
    for shown in (evidence(CORPUS[name]), prose(CORPUS[name]), one_line(CORPUS[name])):
        assert is_harmless(shown)


def test_what_is_decided_about_hides_nothing_and_prose_reads_well() -> None:
    assert evidence("a\u200db\u00a0c") == "a⟨U+200D⟩b⟨U+00A0⟩c"
    assert prose("👩\u200d💻 «\u00a0oui\u00a0»") == "👩💻 « oui »"
    assert prose("\u202ex") == "⟨U+202E⟩x"


def test_right_to_left_text_wide_characters_and_emoji_stay() -> None:
    assert prose("שלום 日本 🎉 é") == "שלום 日本 🎉 é"


@given(st.text())
def test_whatever_comes_is_harmless(text: str) -> None:
    assert is_harmless(evidence(text))
    assert is_harmless(prose(text))
    assert seal(text).isprintable()
