"""The criteria page: every row has a test that exists, or says why ours differs."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROW = re.compile(r"^\| (AC-\d+|(?:case|plan|stream|machines) \d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
BENCH = re.compile(r"`(bench/\w+\.py)`")
ROWS = {name: (criterion, held) for name, criterion, held in ROW.findall((ROOT / "docs" / "criteria.md").read_text())}
EXPECTING = {"raises", "expect", "fail"}
EXPECTED = {"AC-": 10, "case ": 14, "plan ": 15, "stream ": 28, "machines ": 12}


def test_every_criterion_has_a_row() -> None:
    assert set(ROWS) == {f"{kind}{number}" for kind, many in EXPECTED.items() for number in range(1, many + 1)}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_names_tests_that_exist_or_says_why_ours_differs(name: str) -> None:
    _, held = ROWS[name]
    named = TEST.findall(held)

    assert named or held.startswith("Differs: ")
    for path, function in named:
        assert Path(path).name.startswith("test_"), f"{path} is not collected"
        assert function in found_in(path), f"{name} names {path}::{function}"
        assert can_fail(path, function), f"{path}::{function} asserts nothing"
    for path in BENCH.findall(held):
        assert (ROOT / path).is_file(), f"{name} names {path}"


@cache
def found_in(path: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions that pytest would collect there, and those that they call: of the module, or of a class in it."""
    file = ROOT / path
    if not file.is_file():
        return {}
    tree = ast.parse(file.read_text())
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name: node for body in bodies for node in body if isinstance(node, functions)}


def can_fail(path: str, function: str, seen: frozenset[str] = frozenset()) -> bool:
    """Whether it asserts or expects something, or calls something of its module or a neighbour that may."""
    for node in ast.walk(found_in(path)[function]):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).rsplit(".", 1)[-1]
            if called in EXPECTING or called.startswith(("assert_", "to_be", "to_have", "until")):
                return True
            if called in found_in(path) and called not in seen and can_fail(path, called, seen | {function, called}):
                return True
    return False


def test_a_test_without_any_assertion_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(
        "def test_empty():\n    look()\n\ndef test_full():\n    check()\n\n"
        "def look():\n    look()\n\ndef check():\n    assert True\n"
    )
    assert not can_fail(str(file), "test_empty")
    assert can_fail(str(file), "test_full")
