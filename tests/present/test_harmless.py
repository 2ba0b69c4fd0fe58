"""Nothing that Claude prints reaches the terminal as a command."""  # lesson 39

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.present.harmless import evidence, exactly, one_line, prose, seal
from surfaces.terminal.hostile import CORPUS


def is_harmless(text: str) -> bool:
    # What shapes letters or joins emoji is no command to a terminal.
    return all(letter.isprintable() or letter in "\n\u200c\u200d" for letter in text)


@pytest.mark.parametrize("name", CORPUS)
def test_a_hostile_text_is_harmless_and_visible(name: str) -> None:
    for shown in (evidence(CORPUS[name]), prose(CORPUS[name]), one_line(CORPUS[name])):
        assert is_harmless(shown)


def test_what_is_decided_about_hides_nothing_and_prose_reads_well() -> None:
    assert evidence("a\u200db\u00a0c") == "a⟨U+200D⟩b⟨U+00A0⟩c"
    assert prose("👩\u200d💻 «\u00a0oui\u00a0»") == "👩\u200d💻 « oui »"
    assert exactly("👩\u200d💻.py") == "👩⟨U+200D⟩💻.py"
    assert prose("\u202ex") == "⟨U+202E⟩x"


def test_right_to_left_text_wide_characters_and_emoji_stay() -> None:
    assert prose("שלום 日本 🎉 é") == "שלום 日本 🎉 é"


@given(st.text())
def test_whatever_comes_is_harmless(text: str) -> None:
    assert is_harmless(evidence(text))
    assert is_harmless(prose(text))
    assert is_harmless(seal(text))
    assert "\n" not in seal(text)


def test_a_row_that_ends_within_a_word_keeps_its_joiner() -> None:
    assert seal("می\u200c") == "می\u200c"
    assert seal("👩\u200d") == "👩\u200d"
    assert seal("rm\u200c") == "rm⟨U+200C⟩"
    assert seal("\u200dمی") == "⟨U+200D⟩می"
