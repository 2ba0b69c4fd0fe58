"""The page of criteria: every row has a test that exists, or says why ours differs."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROW = re.compile(r"^\| (AC-\d+|(?:case|plan|stream) \d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
BENCH = re.compile(r"`(bench/\w+\.py)`")
ROWS = {name: (criterion, held) for name, criterion, held in ROW.findall((ROOT / "docs" / "criteria.md").read_text())}
EXPECTED = {"AC-": 10, "case ": 14, "plan ": 15, "stream ": 28}


def test_every_criterion_has_a_row() -> None:
    assert set(ROWS) == {f"{kind}{number}" for kind, many in EXPECTED.items() for number in range(1, many + 1)}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_names_tests_that_exist_or_says_why_ours_differs(name: str) -> None:
    _, held = ROWS[name]
    named = TEST.findall(held)

    assert named or held.startswith("Differs: ")
    for path, function in named:
        assert function in found_in(path), f"{name} names {path}::{function}"
    for path in BENCH.findall(held):
        assert (ROOT / path).is_file(), f"{name} names {path}"


@cache
def found_in(path: str) -> frozenset[str]:
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, functions))
