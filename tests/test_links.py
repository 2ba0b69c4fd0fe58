"""The links in Markdown: each leads to a file that exists, and to a heading in it."""

import re
from pathlib import Path

import pytest

from test_language import PAGES, ROOT

LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text()):
        if target.startswith("https://"):
            continue
        file = page if not target else page.parent / target
        assert file.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(file.read_text()), f"{page.name} links to {target}#{anchor}"


def test_an_anchor_is_spelled_as_github_spells_it() -> None:
    assert anchors("# A\n\n## `[[rule]]`\n\n## What rules can't promise\n") == {"a", "rule", "what-rules-cant-promise"}


def anchors(text: str) -> set[str]:
    """A heading in lower case, without punctuation, with hyphens for blanks."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}
