"""Nobody approves what they cannot see."""  # lesson 39

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.model.names import has_hidden, reveal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("\ufeffa", "⟨U+FEFF⟩a"),
        ("a\u00adb", "a⟨U+00AD⟩b"),
        ("a\rb", "a⟨U+000D⟩b"),
        ("a\x00b\x1b[2K\x7f", "a⟨U+0000⟩b⟨U+001B⟩[2K⟨U+007F⟩"),
        ("a\u00a0b\u3000c", "a⟨U+00A0⟩b⟨U+3000⟩c"),
        ("a\u2028b", "a⟨U+2028⟩b"),
        ("a\u3164b\u2800", "a⟨U+3164⟩b⟨U+2800⟩"),
        ("a\U000e0041", "a⟨U+E0041⟩"),
        ("a\U000e0101\ufe01", "a⟨U+E0101⟩⟨U+FE01⟩"),
        ("a\ufe0f", "a⟨U+FE0F⟩"),
        ("a\ud800b", "a⟨U+D800⟩b"),
        ("a\ue000", "a⟨U+E000⟩"),
        ("ls" + " " * 80 + "; rm x", "ls ⟨80 blanks⟩ ; rm x"),
        ("ls\n" + "\n" * 30 + "rm x", "ls\n⟨31 empty lines⟩\nrm x"),
    ],
)
def test_what_hides_is_shown(text: str, shown: str) -> None:
    assert reveal(text) == shown
    assert has_hidden(text)


@pytest.mark.parametrize(
    "text", ["", "git status\n\trm", "é 日本 ‘’ —", "❤\ufe0f 1\ufe0f", "    indented", "שלום", "🎉"]
)
def test_what_can_be_seen_stays_as_it_is(text: str) -> None:
    assert reveal(text) == text
    assert not has_hidden(text)


@given(st.text())
def test_what_was_shown_hides_nothing_more(text: str) -> None:
    assert not has_hidden(reveal(text))
