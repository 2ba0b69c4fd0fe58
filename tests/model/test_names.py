"""A name shows what it is, or is refused with a sentence."""

import pytest

from handraise.model.names import LONGEST, BadName, check_name


@pytest.mark.parametrize("name", ["shop", "Ana's phone", "café", "店", "می‌خواهم", "👩‍💻 laptop", "👍🏽", "a.b-c_d (2)"])
def test_a_name_that_shows_what_it_is_stays_as_it_is(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "a\0b",
        "a\nb",
        "a\x1b[31mb",
        "a\u202eb",
        "a\u2066b",
        "a\u200bb",
        "a\u200db",
        "\u200dshop",
        "a\ufeffb",
        "a\u2028b",
        "\ud83d",
    ],
)
def test_a_name_with_hidden_characters_is_refused_and_shows_them(name: str) -> None:
    with pytest.raises(BadName, match="hidden characters: "):
        check_name(name)


@pytest.mark.parametrize("name", ["", "  ", "\t"])
def test_an_empty_name_is_refused(name: str) -> None:
    with pytest.raises(BadName, match="empty"):
        check_name(name)


def test_a_name_has_a_longest_length() -> None:
    assert check_name("x" * LONGEST)
    with pytest.raises(BadName, match="longer than 200"):
        check_name("x" * (LONGEST + 1))


def test_blanks_around_a_name_are_dropped() -> None:
    assert check_name("  shop\t") == "shop"
