"""What broke in systems like ours: each lesson is cited by a test that holds it, unless its part is not here yet."""

import re
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parent.parent
LESSON = re.compile(r"^(\d+)\. ", re.MULTILINE)
CITED = re.compile(r"(?:#|//) lessons? (\d+(?:, \d+)*)")


def test_every_lesson_is_cited_by_a_test() -> None:
    told, _, later = (ROOT / "docs" / "lessons.md").read_text().partition("## Telegram")
    files = chain((ROOT / "tests").rglob("test_*.py"), (ROOT / "web" / "tests").glob("*.test.ts"))
    cited = {number for file in files for each in CITED.findall(file.read_text()) for number in each.split(", ")}

    assert len(LESSON.findall(told)) > 50
    assert set(LESSON.findall(told)) <= cited
    assert cited <= {*LESSON.findall(told), *LESSON.findall(later)}
