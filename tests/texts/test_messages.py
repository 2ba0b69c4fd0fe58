"""The message: found by its key, with its values filled in, and never fatal."""

import pytest

from handraise import texts
from handraise.texts import Catalogue, MissingText, UnknownLanguage, t


def test_a_message_has_its_values_in_place() -> None:
    assert t("card.permission.run", subject="npm test") == "Run `npm test`?"


@pytest.mark.parametrize(("count", "text"), [(0, "0 hooks"), (1, "1 hook"), (2, "2 hooks")])
def test_a_count_chooses_the_plural_form(count: int, text: str) -> None:
    assert t("card.counted.hook", count=count) == text


@pytest.mark.parametrize("value", ["{subject}", "{other}", "{0}", "%s", "\\1", "`"])
def test_what_looks_like_a_placeholder_in_a_value_is_only_text(value: str) -> None:  # lesson 43
    assert t("card.permission.run", subject=value) == f"Run `{value}`?"


def test_a_missing_text_is_an_error_in_tests_and_its_key_elsewhere() -> None:
    with pytest.raises(MissingText, match=r"card\.nothing"):
        t("card.nothing")
    with pytest.raises(MissingText, match="subject"):
        t("card.permission.run")
    texts.strictly(False)
    try:
        assert t("card.nothing") == "card.nothing"
        assert t("nowhere.at.all") == "nowhere.at.all"
        assert t("card.permission.run") == "Run `{subject}`?"
    finally:
        texts.strictly()


def test_another_language_holds_for_a_while() -> None:
    assert texts.language() == "en"
    with texts.using("en-XA"):
        assert texts.language() == "en-XA"
        assert t("card.choice.permission.once").startswith("⟦")
    assert t("card.choice.permission.once") == "Allow once"


def test_an_unknown_language_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UnknownLanguage, match=r"no translation for 'xx'. Available: en, en-XA"):
        texts.use("xx")
    with pytest.raises(UnknownLanguage):
        Catalogue("../en")
    assert texts.language() == "en"
