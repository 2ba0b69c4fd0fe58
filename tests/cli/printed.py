"""Finds every command that the product prints or shows: in its sources, messages, page and documentation."""

import ast
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from handraise.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "handraise"
PLACE = re.compile("«([^»]*)»")
"""What an f-string, or a message's variable, puts into a command."""

_WORD = re.compile(r"""(?:"[^"\n]*"|'[^'\n]*'|«[^»]*»|\$\([^)\n]*\)|[^\s"'`|<>;&)«])+""")
_IN_TEXT = re.compile(r"(?<![\w/.«>@'\"-])(handraise|claude) (?=[a-z«-])")
_IN_SHELL = re.compile(
    r"(?:^ *(?:\$ )?|[|;&(] *|exec [\w-]+ |bin/)((?:handraise|make|claude) (?=[a-z-]))", re.MULTILINE
)
_END_OF_SENTENCE = re.compile(r"[.,:]+$")
_CONNECTIONS = (SOURCES / "store" / "postgres", SOURCES / "doctor" / "database.py")
"""Here, `handraise …` is what a connection to PostgreSQL is called."""


class Printed(NamedTuple):
    """A command as it is written, with `«…»` where something is filled in; and what surrounds it."""

    words: str
    where: str
    is_mention: bool = False
    """Only named in a sentence: it has to exist, but isn't complete."""

    @property
    def program(self) -> str:
        return self.words.split()[0]


@functools.cache
def printed() -> list[Printed]:
    """All of them, each where it was found."""
    return [*_of_sources(), *_of_messages(), *_of_page(), *_of_pages()]


def commands_in(text: str, pattern: re.Pattern[str] = _IN_TEXT) -> Iterator[str]:
    """The commands in a text: each ends with its line, its backtick or its sentence, or where a shell would end it."""
    for line in text.splitlines():
        for start in pattern.finditer(line):
            command = _command(line, start)
            # A schema can be "called handraise in this database".
            is_marked = line[: start.start()].endswith(("`", ": ", "$(")) or not line[: start.start()].strip()
            if is_marked or command.split()[1] in COMMANDS:
                yield command


def _command(line: str, start: re.Match[str]) -> str:
    words, at = [start[1].strip()], start.end()
    while found := _WORD.match(line, at):
        word = found[0]
        if word == "#" or word.startswith("("):
            break
        ended = _END_OF_SENTENCE.search(word) if word not in (".", "…") else None
        words.append(word[: ended.start()] if ended else word)
        at = found.end()
        # Two blanks: the next column, which says what the command does.
        if ended or not line.startswith(" ", at) or line.startswith("  ", at):
            break
        at += 1
    return " ".join(each for each in words if each)


def _of_sources() -> Iterator[Printed]:
    for file in sorted(SOURCES.rglob("*.py")):
        if any(file.is_relative_to(each) for each in _CONNECTIONS):
            continue
        tree = ast.parse(file.read_text("utf-8"))
        silent = {id(each) for each in _docstrings(tree)}
        for text in _texts(tree, silent):
            for words in commands_in(text):
                yield Printed(words, str(file.relative_to(ROOT)))


def _texts(node: ast.AST, silent: set[int]) -> Iterator[str]:
    """Every string in the code. An f-string is one, with its places marked."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else f"«{ast.unparse(part.value)}»"  # type: ignore[attr-defined]
            for part in node.values
        )
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from _texts(part.value, silent)
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from _texts(child, silent)


def _docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    """Those that only who reads the code sees: a command's own is its help."""
    for node in ast.walk(tree):
        body: list[Any] = getattr(node, "body", []) if not isinstance(node, ast.Lambda | ast.IfExp) else []
        for each in body:
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and not _is_command(node):
                yield each.value


def _is_command(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any(re.search(r"\b(command|group)\(", ast.unparse(each)) for each in decorators)


def _of_messages() -> Iterator[Printed]:
    for file in sorted((SOURCES / "texts" / "en").glob("*.json")):
        for text in _leaves(json.loads(file.read_text("utf-8"))):
            for words in commands_in(re.sub(r"\{(\w+)\}", r"«\1»", text)):
                yield Printed(words, str(file.relative_to(ROOT)))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else ():
        yield from _leaves(each)


def _of_page() -> Iterator[Printed]:
    for file in sorted((ROOT / "web" / "src").rglob("*.ts*")):
        for text in re.findall(r"<code>([^<{]*)</code>", file.read_text("utf-8")):
            for words in commands_in(text):
                yield Printed(words, str(file.relative_to(ROOT)))


def _of_pages() -> Iterator[Printed]:
    for file in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        where, text = str(file.relative_to(ROOT)), file.read_text("utf-8")
        for block in re.findall(r"^ *```(?:sh|console)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL):
            yield from (Printed(words, where) for words in commands_in(block, _IN_SHELL))
        sentences = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
        for code in re.findall(r"`([^`]+)`", sentences):
            for words in commands_in(code.replace("\n", " "), _IN_SHELL):
                yield Printed(words, where, is_mention=True)
    for name in ("deploy/compose.yaml", "deploy/handraise.service", "compose.yaml"):
        yield from (Printed(words, name) for words in commands_in((ROOT / name).read_text("utf-8"), _IN_SHELL))
