"""Markdown as lines. Growing text is rendered by closed blocks: each once, however long it gets. Pure."""

import re
from collections.abc import Iterator

from handraise.present.harmless import evidence, prose
from handraise.surfaces.terminal.lines import Line, text_of

MEASURE = 100
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_LIST = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")


def render(text: str, width: int, *, decided: bool = False) -> list[Line]:
    """The text as lines of at most `width` columns. `decided`: a person decides about it, so nothing is left out."""
    from handraise.surfaces.terminal.rendering import lines_of  # noqa: PLC0415 (start-up: 70 ms, all of rich)

    lines = lines_of(evidence(text) if decided else prose(text), max(10, min(width, MEASURE)))
    while lines and not text_of(lines[-1]).strip():
        lines.pop()
    return lines


class Growing:
    """A text that is being written: returns its blocks once they are closed, and keeps the open end."""

    def __init__(self) -> None:
        self.closed = ""

    def grow(self, text: str) -> list[str]:
        """Blocks closed since the last call; `text` is everything so far."""
        if not text.startswith(self.closed):
            return []
        end = len(self.closed)
        closed: list[str] = []
        for stop in _ends(text[end:]):
            closed.append(text[len(self.closed) : end + stop])
            self.closed = text[: end + stop]
        return [block for block in closed if block.strip()]

    def open_end(self, text: str) -> str:
        """The part that isn't closed yet."""
        return text[len(self.closed) :] if text.startswith(self.closed) else text

    def finish(self, text: str) -> str:
        """The rest of the text; all of it if something else had been shown."""
        rest = self.open_end(text)
        self.closed = text
        return rest


def _ends(text: str) -> Iterator[int]:
    """Where blocks end: after a closing fence, or at a gap whose next line doesn't belong to the block."""
    fence, listing, gap, at = "", False, 0, 0
    for row in text.splitlines(keepends=True):
        whole = row.endswith("\n")
        begins = _FENCE.match(row)
        if fence:
            if whole and begins and begins[1].startswith(fence) and row.strip() == begins[1]:
                fence = ""
                if not listing:
                    yield at + len(row)
        elif not row.strip():
            gap = at + len(row) if whole else gap
        else:
            if gap and not row[0].isspace() and not (listing and (_LIST.match(row) or row.strip().isdigit())):
                yield gap
                listing = False
            gap = 0
            listing = listing or bool(_LIST.match(row))
            fence = begins[1] if begins and whole else ""
        at += len(row)
