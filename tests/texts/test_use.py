"""Every text that the code names is in the catalogue with exactly its values, and no text is unused."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct

from handraise.texts import Catalogue
from handraise.texts.catalogue import FOLDER, flat

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "handraise"
PAGE = ROOT / "web" / "src"
AREAS = ("card", "terminal", "push", "telegram", "why", "sessions", "error", "doctor", "webhooks", "channels", "reach")
"""The areas that Python speaks from; the page has its own."""
MESSAGES = {key: message for area in AREAS for key, message in flat(Catalogue("en").area(area), f"{area}.")}
KEY = re.compile(rf"(?:{'|'.join(AREAS)})\.[\w.]*\w")
PLACEHOLDER = re.compile(r"\{(\w+)\}")


class TextUse(Struct, frozen=True):
    """One call of `t`: the keys that it may name, as a pattern, and the values that it gives; None: whatever."""

    where: str
    pattern: str
    values: frozenset[str] | None


def pattern_of(node: ast.expr) -> list[str]:
    """The keys that an expression may be; a part that is only known at run time stands for one name."""
    match node:
        case ast.Constant(value=str() as key):
            return [re.escape(key)]
        case ast.JoinedStr(values=pieces):
            return [
                "".join(re.escape(str(each.value)) if isinstance(each, ast.Constant) else r"\w+" for each in pieces)
            ]
        case ast.IfExp(body=one, orelse=other):
            return [*pattern_of(one), *pattern_of(other)]
        case _:
            return []


def uses(path: Path) -> Iterator[TextUse]:
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="t") | ast.Attribute(value=ast.Name(id="texts"), attr="t"), args=[first]):
                named = {each.arg for each in node.keywords}
                values = None if None in named else frozenset(each for each in named if each)
                for pattern in pattern_of(first):
                    yield TextUse(f"{path.relative_to(ROOT)}:{node.lineno}", pattern, values)
            case ast.Constant(value=str() as text) if KEY.fullmatch(text):
                yield TextUse(f"{path.relative_to(ROOT)}:{node.lineno}", re.escape(text), None)


@cache
def all_uses() -> tuple[TextUse, ...]:
    """Read by the first test that needs it, not by each process that collects tests."""
    return tuple(use for path in sorted(SOURCE.rglob("*.py")) if FOLDER not in path.parents for use in uses(path))


def matching(use: TextUse) -> list[str]:
    return _matching(use.pattern)


@cache
def _matching(pattern: str) -> list[str]:
    known = re.compile(pattern)  # there are more patterns than `re` remembers
    return [key for key in MESSAGES if known.fullmatch(key)]


def needed(key: str) -> set[str]:
    message = MESSAGES[key]
    return set(PLACEHOLDER.findall(message if isinstance(message, str) else message["other"])) | (
        set() if isinstance(message, str) else {"count"}
    )


def test_every_text_that_is_named_exists() -> None:
    assert [f"{use.where}: {use.pattern}" for use in all_uses() if not matching(use)] == []


def test_every_text_gets_the_values_that_it_needs_and_no_others() -> None:
    wrong = []
    for use in all_uses():
        if use.values is None:
            continue
        keys = matching(use)
        wrong += [f"{use.where}: {key} needs {needed(key) - use.values}" for key in keys if needed(key) - use.values]
        unused = use.values - {value for key in keys for value in needed(key)}
        wrong += [f"{use.where}: nobody uses {unused}"] if unused else []
    assert wrong == []


def test_no_text_is_there_for_nobody() -> None:
    page = "\n".join(path.read_text("utf-8") for path in PAGE.rglob("*.ts*") if "generated" not in path.parts)
    quoted = set(re.findall(r"""["'`]((?:card|terminal|push)\.[\w.]+)["'`]""", page))
    named = {key for use in all_uses() for key in matching(use)}
    assert sorted(set(MESSAGES) - named - quoted) == []


def test_the_checker_reads_what_a_call_may_name() -> None:
    read = [pattern_of(ast.parse(text, mode="eval").body) for text in ('"a.b"', 'f"a.{x}.c"', '"a" if x else f"b.{y}"')]
    assert read == [[r"a\.b"], [r"a\.\w+\.c"], ["a", r"b\.\w+"]]
