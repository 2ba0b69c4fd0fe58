"""Names: a class name stands for one thing in the whole project, and a value is named after what it holds."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = sorted(each for folder in ("src", "tests", "bench") for each in (ROOT / folder).rglob("*.py"))
NO_VALUES = {"told", "said", "kept", "taken"}
"""Participles say that something happened to a value, not what it is."""
CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
NO_VALUE = re.compile(rf"\b(?:{'|'.join(NO_VALUES)})\b")


def test_a_class_name_is_used_once() -> None:
    texts = {path: path.read_text() for path in SOURCES}
    # Parsing takes long: only what looks like a second class is parsed.
    likely = Counter(name for text in texts.values() for name in CLASS.findall(text))
    places = defaultdict(list)
    for path, text in texts.items():
        if any(likely[name] > 1 for name in CLASS.findall(text)):
            for node in ast.parse(text).body:
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_value_is_named_by_what_it_holds() -> None:
    wrong = {}
    for path in SOURCES:
        text = path.read_text()
        if not NO_VALUE.search(text):
            continue
        nodes = list(ast.walk(ast.parse(text)))
        names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        if names & NO_VALUES:
            wrong[str(path.relative_to(ROOT))] = sorted(names & NO_VALUES)
    assert wrong == {}
