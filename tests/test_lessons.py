"""What broke in systems like ours: each lesson is cited in a test."""

import re
from collections.abc import Iterator
from pathlib import Path

from test_criteria import can_fail, found_in

ROOT = Path(__file__).parent.parent
LESSON = re.compile(r"^(\d+)\. ", re.MULTILINE)
CITED = re.compile(r"(?:#|//) lessons? (\d+(?:, \d+)*)")


def test_every_lesson_is_cited_by_a_test() -> None:
    lessons = LESSON.findall((ROOT / "docs" / "lessons.md").read_text())

    assert lessons == [str(number) for number in range(1, 61)]
    assert {*in_python(), *in_typescript()} == set(lessons)


def in_python() -> Iterator[str]:
    """The lessons that are cited inside a test that asserts something, or right above one."""
    for file in (ROOT / "tests").rglob("test_*.py"):
        path = str(file.relative_to(ROOT))
        lines = file.read_text().splitlines()
        for at, line in enumerate(lines, 1):
            if (cited := CITED.search(line)) and _holds(path, at):
                yield from cited[1].split(", ")


def in_typescript() -> Iterator[str]:
    """The lessons that are cited in a file of tests after its first test begins, or right above it."""
    for file in (ROOT / "web" / "tests").glob("*.test.ts"):
        text = file.read_text()
        for cited in CITED.finditer(text):
            following = text[cited.end() :]
            if "assert" in following:
                yield from cited[1].split(", ")


def _holds(path: str, line: int) -> bool:
    tests = [node for name, node in found_in(path).items() if name.startswith("test_")]
    inside = [node for node in tests if node.lineno <= line <= (node.end_lineno or 0)]
    below = sorted((node for node in tests if node.lineno > line), key=lambda node: node.lineno)
    return any(can_fail(path, node.name) for node in [*inside, *([] if inside else below[:1])])
