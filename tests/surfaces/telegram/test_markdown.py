"""Markdown from Claude as Telegram's formatting: nothing hidden, nothing lost, no link that lies."""

from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.surfaces.telegram.formatted import Entity, Formatted, bold, code, italic, link, pre, quote, strike, units
from handraise.surfaces.telegram.markdown import LONGEST_MARKDOWN, from_markdown
from surfaces.telegram.test_formatted import check_entities

ATOMS = [
    *(
        "*",
        "**",
        "~~",
        "`",
        "```",
        "```py\n",
        "\n",
        "\n\n",
        "# ",
        "> ",
        "- ",
        "1. ",
        "| a | b |\n|-|-|\n",
        "[",
        "](",
        ")",
    ),
    *(
        "http://",
        "é.org",
        "[x](https://e.org)",
        "    ",
        "word",
        " ",
        "😀",
        "漢",
        "<b>",
        "&#x202e;",
        "\u202e",
        "\x00",
        "\r",
    ),
]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("plain", Formatted("plain")),
        ("**b** *i* ~~s~~ `c`", bold("b") + " " + italic("i") + " " + strike("s") + " " + code("c")),
        ("# Title\ntext", bold("Title") + "\n\ntext"),
        ("```py\nx = 1\n```", pre("x = 1", "py")),
        ("```\n  x\n\ny\n```", pre("  x\n\ny")),
        ("    indented", pre("indented")),
        ("> a\n> **b**", quote("a\n" + bold("b"))),
        ("- a\n- b\n  1. c\n  2. d", Formatted("• a\n• b\n   1. c\n   2. d")),
        ("3. a\n4. b", Formatted("3. a\n4. b")),
        ("a\n\n---\n\nb", Formatted("a\n\n———\n\nb")),
        ("a  \nb\r\nc", Formatted("a\nb\nc")),
        ("- [ ] task\n- [x] done", Formatted("• [ ] task\n• [x] done")),
        ("| a | bb |\n|---|---|\n| 漢 | `x` |", pre("a  │ bb\n───┼───\n漢 │ x")),
        ("| a |\n|---|\n| 1 | surplus |", pre("| a |\n|---|\n| 1 | surplus |")),
        ("| a |\n|---|\n| [b](https://e.org) |", pre("| a |\n|---|\n| [b](https://e.org) |")),
        ("**run `ls` now**", bold("run ") + code("ls") + bold(" now")),
        ("<b>no</b> <!-- not hidden -->", Formatted("<b>no</b> <!-- not hidden -->")),
        ("[r]: https://e.org\n", Formatted("[r]: https://e.org")),
        ("unclosed **bold and `code", Formatted("unclosed **bold and `code")),
        ("```sh -x evil words\nls\n```", "sh -x evil words\n" + pre("ls")),
        ("", Formatted("")),
    ],
)
def test_markdown_has_a_form(source: str, shown: Formatted) -> None:
    assert from_markdown(source) == shown


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("[docs](https://e.org/x)", link("docs", "https://e.org/x")),
        ("[e.org](https://www.e.org/x)", link("e.org", "https://www.e.org/x")),
        ("[https://e.org/x](https://e.org/x)", link("https://e.org/x", "https://e.org/x")),
        ("[github.com](https://evil.example)", link("github.com", "https://evil.example") + " (evil.example)"),
        ("[github.com](https://github.com@evil.example/)", "github.com (evil.example)"),
        ("[a](javascript:alert)", "[a](javascript:alert)"),
        ("[a](src/main.py)", "a (src/main.py)"),
        ("[a](mailto:x@e.org)", "a (mailto:x@e.org)"),
        ("[a](http://localhost:8000/)", "a (http://localhost:8000/)"),
        ("<https://e.org>", link("https://e.org", "https://e.org")),
        ("![chart](https://e.org/c.png)", link("chart", "https://e.org/c.png")),
        ('[a](https://e.org "see")', link("a", "https://e.org") + " “see”"),
        ("[`run` it](https://e.org)", link("run it", "https://e.org")),
    ],
)
def test_a_link_shows_where_it_leads(source: str, shown: Any) -> None:
    found = from_markdown(source)
    assert found.text == (shown if isinstance(shown, str) else shown.text)
    if not isinstance(shown, str):
        assert found == shown


def test_a_host_that_only_looks_right_is_spelled_out() -> None:
    assert from_markdown("[apple.com](https://аpple.com)").text == "apple.com (xn--pple-43d.com)"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a&#x202e;b", "a⟨U+202E⟩b"),
        ("`a\u200bb`", "a⟨U+200B⟩b"),
        ("```\na\u2066b\n```", "a⟨U+2066⟩b"),
        ("```x\u202ey\nls\n```", "x⟨U+202E⟩y\nls"),
        ("[a\u202e](https://e.org)", "a⟨U+202E⟩"),
        ("a\u00a0b", "a b"),
        ("x" + "&nbsp;" * 50 + "y", "x ⟨50 blanks⟩ y"),
    ],
)
def test_hidden_characters_are_marked(source: str, text: str) -> None:
    assert from_markdown(source).text == text


@given(st.lists(st.sampled_from(ATOMS), max_size=30).map("".join))
def test_any_markdown_becomes_text_that_telegram_takes(source: str) -> None:
    shown = from_markdown(source)
    check_entities(shown)
    assert "\u202e" not in shown.text
    for word in ("word", "😀", "漢"):
        beside = "".join(each.language + unquote(each.url) for each in shown.entities)
        assert (unquote(shown.text) + beside).count(word) >= source.count(word)


@given(st.text(max_size=300))
def test_any_text_becomes_text_that_telegram_takes(source: str) -> None:
    check_entities(from_markdown(source))


def test_a_text_that_is_too_long_to_parse_is_plain() -> None:
    text = "**x** " * (LONGEST_MARKDOWN // 6 + 1)
    assert from_markdown(text) == Formatted(text)


def test_long_code_is_one_entity() -> None:
    (only,) = from_markdown("```py\n" + "x = '😀'\n" * 1000 + "```").entities
    assert only == Entity("pre", 0, units("x = '😀'\n" * 1000) - 1, language="py")
