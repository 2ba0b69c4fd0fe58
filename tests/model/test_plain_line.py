"""Rows that can't show Markdown show its words; the page's twin passes the same table."""

import json
from pathlib import Path

import pytest

from handraise.model.plain_line import first_plain_line, plain_line

TABLE = json.loads((Path(__file__).parent / "plain_lines.json").read_text())


@pytest.mark.parametrize(("line", "plain"), TABLE)
def test_a_line_without_its_signs(line: str, plain: str) -> None:
    assert plain_line(line) == plain


def test_the_first_line_that_says_something() -> None:
    assert first_plain_line("\n---\n```python\n# Title\n") == "Title"
    assert first_plain_line("| --- | --- |\n| a | b |") == "| a | b |"
    assert first_plain_line("\n \n") == ""


@pytest.mark.parametrize("text", ["*" * 4000, "[" * 4000, "`" * 4000, "**a" * 2000, "- " * 3000, "_a" * 3000])
def test_no_line_takes_long(text: str) -> None:
    assert len(first_plain_line(text * 1000)) <= 1000
