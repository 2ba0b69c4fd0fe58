"""Names: a class name stands for one thing in the whole project, and a value is named after what it holds."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = sorted(each for folder in ("src", "tests", "bench") for each in (ROOT / folder).rglob("*.py"))
NO_VALUES = {"told", "said", "kept", "taken"}
"""Participles say that something happened to a value, not what it is."""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def test_a_class_name_is_used_once() -> None:
    places = defaultdict(list)
    for path in SOURCES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_value_is_named_by_what_it_holds() -> None:
    wrong = {}
    for path in SOURCES:
        nodes = list(ast.walk(tree_of(path)))
        names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        if names & NO_VALUES:
            wrong[str(path.relative_to(ROOT))] = sorted(names & NO_VALUES)
    assert wrong == {}
