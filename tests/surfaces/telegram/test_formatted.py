"""Formatted text: offsets are right, parts fit, and nothing is lost (lesson 59)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.surfaces.telegram.formatted import (
    ELLIPSIS,
    EMPTY,
    MOST_ENTITIES,
    Entity,
    Formatted,
    bold,
    code,
    cut,
    italic,
    join,
    link,
    plain,
    pre,
    quote,
    split,
    strike,
    units,
)

LETTERS = st.sampled_from([*"ab .\n\t-", "é", "e\u0301", "漢", "😀", "👍🏽", "👩\u200d💻", "🇩🇪", "\u2028"])
WORDS = st.lists(LETTERS, max_size=60).map("".join)
STYLES = st.sampled_from([bold, italic, strike, quote, code, pre, plain])


def _styled(inner: st.SearchStrategy[Formatted]) -> st.SearchStrategy[Formatted]:
    wrapped = st.builds(
        lambda style, content: style(content.text) if style in (code, pre) else style(content), STYLES, inner
    )
    linked = st.builds(lambda content: link(content, "https://example.org/"), inner)
    return wrapped | linked | st.lists(inner, max_size=5).map(lambda parts: join("\n", parts))


FORMATTED = st.recursive(WORDS.map(Formatted), _styled, max_leaves=12)


def covered(content: Formatted, entity: Entity) -> str:
    """The text below an entity, cut by UTF-16 units. Fails within a character."""
    raw = content.text.encode("utf-16-le")
    return raw[entity.offset * 2 : entity.end * 2].decode("utf-16-le")


def check_entities(content: Formatted) -> None:
    for each in content.entities:
        assert each.offset >= 0
        assert each.length > 0
        assert each.end <= units(content.text)
        covered(content, each)
    order = [(each.offset, -each.length) for each in content.entities]
    assert order == sorted(order)
    for at, outer in enumerate(content.entities):
        for inner in content.entities[at + 1 :]:
            assert inner.offset >= outer.end or inner.end <= outer.end, "entities are nested or apart"
            if inner.offset < outer.end:
                assert outer.type not in ("code", "pre"), "nothing is formatted within code"
                assert inner.type != outer.type


def looks(content: Formatted) -> list[tuple[str, frozenset[str]]]:
    """Each character that isn't blank, with its formatting."""
    shown = []
    at = 0
    for letter in content.text:
        if not letter.isspace():
            shown.append((letter, frozenset(each.type for each in content.entities if each.offset <= at < each.end)))
        at += units(letter)
    return shown


@pytest.mark.parametrize(("text", "length"), [("", 0), ("abc", 3), ("é漢", 2), ("😀", 2), ("a😀\ud800", 4)])
def test_a_text_is_measured_in_utf16_units(text: str, length: int) -> None:
    assert units(text) == length


def test_offsets_count_what_telegram_counts() -> None:
    shown = "😀 " + bold("a") + " " + code("漢😀") + "!"
    assert shown.text == "😀 a 漢😀!"
    assert shown.entities == (Entity("bold", 3, 1), Entity("code", 5, 3))


def test_code_within_bold_stays_code_and_splits_the_bold() -> None:
    shown = bold("run " + code("ls") + " now")
    assert shown.entities == (Entity("bold", 0, 4), Entity("code", 4, 2), Entity("bold", 6, 4))


def test_the_outer_comes_before_the_inner() -> None:
    assert quote(pre("x", "py")).entities == (Entity("blockquote", 0, 1), Entity("pre", 0, 1, language="py"))
    assert [each.type for each in bold(link("x", "https://e.org")).entities] == ["bold", "text_link"]


def test_quotes_do_not_nest() -> None:
    assert quote("a" + quote("b")).entities == (Entity("blockquote", 0, 2),)
    assert quote("a", expandable=True).entities == (Entity("expandable_blockquote", 0, 1),)


def test_nothing_is_formatted_where_there_is_no_text() -> None:
    assert bold("") == code("") == quote(EMPTY) == join(", ", []) == EMPTY


@given(FORMATTED)
def test_entities_are_nested_and_within_the_text(content: Formatted) -> None:
    check_entities(content)


# lesson 59
@given(FORMATTED, st.integers(2, 40))
def test_parts_fit_and_nothing_is_lost(content: Formatted, limit: int) -> None:
    parts = split(content, limit)
    for part in parts:
        assert units(part.text) <= limit
        assert part.text.strip()
        assert part.text == part.text.rstrip()
        check_entities(part)
    assert [each for part in parts for each in looks(part)] == looks(content)


@given(FORMATTED, st.integers(3, 60))
def test_what_is_cut_fits_and_says_so(content: Formatted, limit: int) -> None:
    short = cut(content, limit)
    check_entities(short)
    assert units(short.text) <= limit
    if units(content.text) <= limit:
        assert short == content
    else:
        assert short.text.endswith(ELLIPSIS)
        assert content.text.startswith(short.text.removesuffix(ELLIPSIS))


def test_a_message_that_fits_is_one_part() -> None:
    content = "x" * 4090 + bold("😀😀😀")
    assert split(content) == [content]
    assert len(split(content + "!")) == 2


@pytest.mark.parametrize("blank", ["", " ", "\n\n", " \n\t "])
def test_blank_text_has_no_parts(blank: str) -> None:
    assert split(Formatted(blank)) == []


def test_parts_end_at_paragraphs_then_lines_then_words() -> None:
    assert texts(split(Formatted("one, two\n\nthree\nfour"), 16)) == ["one, two", "three\nfour"]
    assert texts(split(Formatted("one two\nthree\nfour five"), 16)) == ["one two\nthree", "four five"]
    assert texts(split(Formatted("one two three four"), 10)) == ["one two", "three four"]
    assert texts(split(Formatted("abcdefghij"), 4)) == ["abcd", "efgh", "ij"]


def test_code_that_fits_is_not_broken() -> None:
    content = "Some words before it.\n" + pre("a = 1\nb = 2\nc = 3", "py")
    assert split(content, 30) == [Formatted("Some words before it."), pre("a = 1\nb = 2\nc = 3", "py")]


def test_long_code_goes_on_as_code_and_keeps_its_indentation() -> None:
    parts = split(pre("def f():\n    a = 1\n    return a\n", "py"), 20)
    assert parts == [pre("def f():\n    a = 1", "py"), pre("    return a", "py")]


def test_a_letter_is_not_parted_from_its_accent_nor_a_flag_or_an_emoji_cut() -> None:
    assert texts(split(Formatted("abce\u0301f"), 4)) == ["abc", "e\u0301f"]
    assert texts(split(Formatted("a👩\u200d💻"), 5)) == ["a", "👩\u200d💻"]
    assert texts(split(Formatted("🇩🇪🇫🇷"), 7)) == ["🇩🇪", "🇫🇷"]
    assert texts(split(Formatted("a👍🏽"), 4)) == ["a", "👍🏽"]


def test_a_part_has_no_more_entities_than_telegram_shows() -> None:
    content = join(" ", [code(str(each)) for each in range(250)])
    parts = split(content)
    assert [len(part.entities) for part in parts] == [MOST_ENTITIES, MOST_ENTITIES, 50]
    assert [each for part in parts for each in looks(part)] == looks(content)


def test_a_very_long_text_is_split_in_good_time() -> None:
    content = join("\n", [bold("word " * 40) + code("x = 😀") for _ in range(3000)])
    parts = split(content)
    assert all(units(part.text) <= 4096 and len(part.entities) <= MOST_ENTITIES for part in parts)


def texts(parts: list[Formatted]) -> list[str]:
    return [part.text for part in parts]
