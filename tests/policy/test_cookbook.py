"""docs/rules.md: each rule on the page does what its table says, by the policy itself."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from handraise.config.reading import read_settings
from handraise.model.rules import Rule
from handraise.model.tools import TOOLS
from handraise.policy.calls import Call
from handraise.policy.decide import decide

PAGE = (Path(__file__).parents[2] / "docs" / "rules.md").read_text("utf-8")
SHOP = "/home/ana/shop"
EXPIRES = datetime(2030, 1, 31, 18, tzinfo=UTC)
BEFORE = EXPIRES - timedelta(hours=1)
RESULTS = {"allowed": "allow", "denied": "deny", "asks": "ask"}
ROW = re.compile(
    r"^\| (?:(?P<where>in another project|in plan mode|after it has expired): )?"
    r"(?:(?P<tool>[A-Z][A-Za-z]+|tool) )?`(?P<what>[^`]+)` \| (?P<result>allowed|denied|asks)\b[^|]*\|$"
)


class Recipe(NamedTuple):
    """A heading, its rules, and its rows."""

    title: str
    rules: tuple[Rule, ...]
    rows: list[str]


def recipes() -> list[Recipe]:
    found = []
    for section in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]:
        [block] = re.findall(r"^```toml\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        rows = [line for line in section.splitlines() if line.startswith("| ") and "Claude wants" not in line]
        found.append(Recipe(section.partition("\n")[0], tuple(read_settings(block, {}).rules), rows))
    return found


RECIPES = recipes()


def call_of(row: re.Match[str]) -> Call:
    tool, what = row["tool"], row["what"].replace(r"\|", "|")
    directory = "/home/ana/other" if row["where"] == "in another project" else SHOP
    mode = "plan" if row["where"] == "in plan mode" else "default"
    if tool is None:
        return Call("Bash", {"command": what}, directory, project=directory, mode=mode)
    if tool == "tool":
        return Call(what, {}, directory, project=directory, mode=mode)
    path = TOOLS[tool].path
    assert path, tool
    return Call(
        tool, {path: what if what.startswith("/") else f"{directory}/{what}"}, directory, project=directory, mode=mode
    )


@pytest.mark.parametrize(
    ("recipe", "line"),
    [(recipe, line) for recipe in RECIPES for line in recipe.rows],
    ids=[f"{recipe.title.split('.')[0]}: {line.split('|')[1].strip()}" for recipe in RECIPES for line in recipe.rows],
)
def test_each_row_is_true(recipe: Recipe, line: str) -> None:
    row = ROW.match(line)
    assert row, f"not a row that can be tried: {line}"
    now = EXPIRES + timedelta(seconds=1) if row["where"] == "after it has expired" else BEFORE
    ruling = decide(call_of(row), recipe.rules, now)
    assert ruling.decision == RESULTS[row["result"]], ruling.why


def test_there_are_twenty_recipes_with_what_they_allow_and_what_not() -> None:
    assert len(RECIPES) >= 20
    assert [int(each.title.split(".")[0]) for each in RECIPES] == [*range(1, len(RECIPES) + 1)]
    for each in RECIPES:
        results = {row["result"] for line in each.rows if (row := ROW.match(line))}
        assert len(each.rows) >= 2
        assert results <= {*RESULTS}
        assert results - {"allowed"}, f"{each.title} says only what is allowed"
