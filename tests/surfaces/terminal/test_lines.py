"""Lines are as wide as they look."""

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from handraise.surfaces.terminal.lines import cut, fold, line, text_of, width_of, wrap

PRINTABLE = st.text(st.characters(categories=("L", "N", "P", "S", "Mn"), include_characters=" "), max_size=80)


def test_a_wide_character_takes_two_columns() -> None:
    assert width_of("日本") == 4
    assert width_of(line("é", "🎉")) == 3


def test_every_character_is_as_wide_as_prompt_toolkit_draws_it() -> None:
    letters = [chr(code) for code in range(0x3000)]  # beyond these it is asked itself
    assert [letter for letter in letters if width_of(letter) != get_cwidth(letter)] == []


def test_a_cut_line_says_that_there_is_more() -> None:
    assert text_of(cut(line("hello world"), 6)) == "hello…"
    assert text_of(cut(line("日本語"), 4)) == "日…"
    assert text_of(cut(line("fits"), 4)) == "fits"


def test_a_sentence_is_broken_between_words_and_hangs() -> None:
    rows = wrap(line("1 ", "Allow every test in here"), 12, hang=2)
    assert [text_of(row) for row in rows] == ["1 Allow ", "  every test", "  in here"]


def test_a_word_that_is_too_long_is_broken() -> None:
    assert [text_of(row) for row in wrap(line("abcdefgh"), 3)] == ["abc", "def", "gh"]


def test_evidence_keeps_every_blank() -> None:
    rows = fold(line("rm   -rf x"), 4)
    assert [text_of(row) for row in rows] == ["rm  ", " -rf", " x"]


@given(PRINTABLE, st.integers(2, 30))
def test_folding_loses_nothing_and_fits(text: str, width: int) -> None:
    rows = fold(line(text), width)
    assert "".join(text_of(row) for row in rows) == text
    assert all(width_of(row) <= width for row in rows)


@given(PRINTABLE, st.integers(4, 30), st.integers(0, 2))
def test_wrapping_loses_no_word_and_fits(text: str, width: int, hang: int) -> None:
    rows = wrap(line(text), width, hang)
    assert "".join("".join(text_of(row) for row in rows).split()) == "".join(text.split())
    assert all(width_of(row) <= width for row in rows)
