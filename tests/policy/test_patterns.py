"""Patterns are compared with whole words, and round-trip."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.policy.patterns import read_name, read_pattern, spell_pattern
from handraise.policy.shell_words import Word


@pytest.mark.parametrize(
    ("pattern", "words", "fits"),
    [
        ("git status", ["git", "status"], True),
        ("git status", ["git", "status", "-s"], False),
        ("git status", ["git"], False),
        ("git status *", ["git", "status"], True),
        ("git status *", ["git", "status", "a", "b"], True),
        ("git status*", ["git", "status", "a"], False),
        ("git status*", ["git", "statusx"], True),
        ("git * status", ["git", "a", "status"], True),
        ("git * status", ["git", "a", "b", "status"], False),
        ("npm run test:*", ["npm", "run", "test:unit"], True),
        ("npm run test:*", ["npm", "run", "build"], False),
        ("echo 'a b'", ["echo", "a b"], True),
        ('echo "a b"', ["echo", "a b"], True),
        ("echo a\\ b", ["echo", "a b"], True),
        ("echo '*'", ["echo", "*"], True),
        ("echo '*'", ["echo", "x"], False),
        ("echo \\*", ["echo", "x"], False),
        ("a.c", ["abc"], False),
        ("a?", ["ab"], False),
        ("GIT", ["git"], False),
        ("*", ["rm", "x"], True),
        ("", [], True),
    ],
)
def test_a_pattern_fits_whole_words(pattern: str, words: list[str], fits: bool) -> None:  # lesson 44
    read = read_pattern(pattern)

    assert read is not None
    assert read.fits([Word(each) for each in words]) is fits


def test_a_word_that_is_not_literal_fits_only_the_last_star() -> None:
    read = read_pattern("git log *")

    assert read is not None
    assert read.fits([Word("git"), Word("log"), Word("$X", False)])
    assert not read.fits([Word("git"), Word("$X", False)])
    assert read.may_fit([Word("git"), Word("$X", False)])
    assert not read.may_fit([Word("ls"), Word("$X", False)])


@pytest.mark.parametrize("pattern", ["a 'b", 'a "b', "a\\"])
def test_a_pattern_with_open_quotes_is_none(pattern: str) -> None:
    assert read_pattern(pattern) is None


@given(words=st.lists(st.text(), min_size=1), rest=st.booleans())
def test_what_is_spelled_is_read_back(words: list[str], rest: bool) -> None:
    read = read_pattern(spell_pattern(words, rest=rest))

    assert read is not None
    assert read.rest is rest
    assert read.fits([Word(each) for each in words])
    assert not read.fits([Word(each + "x") for each in words])


def test_a_glob_for_names_knows_only_the_star() -> None:
    assert read_name("mcp__*").fits("mcp__a__b")
    assert not read_name("mcp__?").fits("mcp__a")
    assert not read_name("bash").fits("Bash")
