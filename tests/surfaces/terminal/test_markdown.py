"""Markdown by closed blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.surfaces.terminal.lines import text_of, width_of
from handraise.surfaces.terminal.markdown import Growing, render
from surfaces.terminal.hostile import CORPUS


def shown(text: str, width: int = 60) -> list[str]:
    return [text_of(row).rstrip() for row in render(text, width)]


def test_headings_stand_on_the_left_and_code_keeps_its_blanks() -> None:
    assert shown("# Title\n\n```python\nif x:\n    y()\n```") == ["Title", "", " if x:", "     y()"]


def test_a_link_shows_where_it_goes() -> None:
    assert shown("[good](https://evil.example)") == ["good (https://evil.example)"]


@pytest.mark.parametrize("name", CORPUS)
def test_a_hostile_text_is_harmless_in_markdown(name: str) -> None:
    for text in (CORPUS[name], f"`{CORPUS[name]}`", f"```\n{CORPUS[name]}\n```", f"| a |\n|---|\n| {CORPUS[name]} |"):
        for row in render(text, 40):
            assert text_of(row).isprintable()


@given(st.text(), st.integers(10, 60))
def test_whatever_is_written_is_harmless(text: str, width: int) -> None:
    for row in render(text, width):
        assert text_of(row).isprintable()


def test_wide_characters_fit_into_forty_columns() -> None:
    rows = render("漢字" * 40 + "\n\n" + "🎉 " * 40 + "\n\n" + "שלום עולם " * 12, 40)
    assert all(width_of(row) <= 40 for row in rows)


def test_a_block_is_given_when_it_is_closed_and_only_once() -> None:
    growing = Growing()
    assert growing.grow("One par") == []
    assert growing.grow("One paragraph.\n\n") == []
    assert growing.grow("One paragraph.\n\nTw") == ["One paragraph.\n\n"]
    assert growing.open_end("One paragraph.\n\nTwo") == "Two"
    assert growing.finish("One paragraph.\n\nTwo.") == "Two."


def test_a_gap_inside_a_fence_closes_nothing() -> None:
    growing = Growing()
    assert growing.grow("```py\na\n\nb\n") == []
    assert growing.grow("```py\na\n\nb\n```\nAfter") == ["```py\na\n\nb\n```\n"]


def test_a_list_with_gaps_is_one_block() -> None:
    growing = Growing()
    assert growing.grow("1. one\n\n2. two\n\n   more\n\n3") == []
    assert growing.grow("1. one\n\n2. two\n\n   more\n\nAfter") == ["1. one\n\n2. two\n\n   more\n\n"]


WRITTEN = st.lists(
    st.sampled_from(["words", " ", "\n", "\n\n", "- item\n", "1. one\n", "```\n", "~~~\n", "    code\n", "> quote\n"])
).map("".join)


@given(WRITTEN, st.data())
def test_however_it_grows_nothing_is_lost_and_nothing_comes_twice(text: str, data: st.DataObject) -> None:
    growing, given_out, at = Growing(), "", 0
    while at < len(text):
        at = data.draw(st.integers(at + 1, len(text)))
        given_out += "".join(growing.grow(text[:at]))
    given_out += growing.finish(text)
    assert "".join(given_out.split()) == "".join(text.split())
