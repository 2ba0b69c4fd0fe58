"""A diff as it is sent: what to know about all of it, its beginning, and any part of it. Pure."""

from functools import cached_property
from typing import Literal

from msgspec import Struct

EXCERPT = 40_000
"""Longer texts are cut to this many characters where an excerpt is wanted."""
_CHECKPOINT = 1_000
_LARGEST_PART = 1_000_000
_NO_NEWLINE = "\\"

LineEnding = Literal["", "lf", "crlf", "mixed"]
"""How the lines of one side end. Empty if the diff shows none of that side."""


class DiffFacts(Struct, frozen=True):
    """What to know about a whole diff. Its text may be an excerpt: then it has fewer lines than `lines`."""

    lines: int
    """Lines of the diff as it is shown, with the heads of its hunks."""
    added: int
    gone: int
    old_ending: LineEnding = ""
    new_ending: LineEnding = ""
    old_open: bool = False
    """The old file has no newline at its end."""
    new_open: bool = False


class DiffPart(Struct, frozen=True):
    """Some lines of a diff, from `first` (counted from 0), and the line numbers of both files there."""

    text: str
    first: int
    old: int
    new: int
    lines: int
    """How many lines the whole diff has."""


def facts_of(diff: str, shown: str | None = None) -> DiffFacts:
    """The facts of a unified diff without file names. `shown`: the same with hidden characters marked."""
    text = diff if shown is None else shown
    led = f"\n{diff}"
    added, gone = led.count("\n+"), led.count("\n-")
    old_ending, new_ending = _endings(diff) if diff else ("", "")
    old_open, new_open = _open_ends(led)
    return DiffFacts(
        text.count("\n") + (bool(text) and not text.endswith("\n")),
        added,
        gone,
        old_ending,
        new_ending,
        old_open,
        new_open,
    )


def _endings(diff: str) -> tuple[LineEnding, LineEnding]:
    if "\r" not in diff:
        led = f"\n{diff}"
        sides = [any(f"\n{sign}" in led for sign in signs) for signs in ("- ", "+ ")]
        return "lf" if sides[0] else "", "lf" if sides[1] else ""
    lines = diff.removesuffix("\n").split("\n")
    endings: list[LineEnding] = []
    for signs in ("- ", "+ "):
        numbers = [at for at, line in enumerate(lines) if line[:1] in signs and line[:1]]
        endings.append(_ending([lines[at] for at in numbers], _is_open(lines, numbers)))
    return endings[0], endings[1]


def _is_open(lines: list[str], numbers: list[int]) -> bool:
    """Whether the last of these lines has no newline."""
    after = lines[numbers[-1] + 1 : numbers[-1] + 2] if numbers else []
    return any(line.startswith(_NO_NEWLINE) for line in after)


def _ending(lines: list[str], is_open: bool) -> LineEnding:
    """A last line without a newline has no ending; a carriage return there is a character like any other."""
    if not lines:
        return ""
    if is_open and lines[-1].endswith("\r"):
        return "mixed"
    ended = lines[:-1] if is_open else lines
    carried = sum(line.endswith("\r") for line in ended)
    return "lf" if not carried else "crlf" if carried == len(ended) else "mixed"


def _open_ends(led: str) -> tuple[bool, bool]:
    old = new = False
    at = led.find(f"\n{_NO_NEWLINE}")
    while at > 0:
        sign = led[led.rfind("\n", 0, at) + 1 : at][:1]
        old, new = old or sign in ("-", " "), new or sign in ("+", " ")
        at = led.find(f"\n{_NO_NEWLINE}", at + 1)
    return old, new


def excerpt(text: str, most: int = EXCERPT) -> str:
    """The first whole lines of a text that is too long, at most so many characters. Empty if one line is too long."""
    return text if len(text) <= most else text[: text.rfind("\n", 0, most) + 1]


class DiffLines:
    """The lines of a diff, any of which can be had with its line numbers."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known = [(1, 1)]

    @cached_property
    def _lines(self) -> list[str]:
        """Split when the first part is wanted: most diffs are never looked at beyond their beginning."""
        lines = self._text.split("\n")
        if lines[-1] == "":
            lines.pop()
        return lines

    def part(self, first: int, limit: int) -> DiffPart:
        """At most `limit` lines, fewer if they are very long; at least one, if there is one."""
        old, new = self._numbers(min(first, len(self._lines)))
        size = 0
        part: list[str] = []
        for line in self._lines[first : first + limit]:
            size += len(line) + 1
            if part and size > _LARGEST_PART:
                break
            part.append(line)
        return DiffPart("".join(f"{line}\n" for line in part), first, old, new, len(self._lines))

    def _numbers(self, at: int) -> tuple[int, int]:
        """The next line number of each file before this line. Every thousandth is remembered."""
        while len(self._known) <= at // _CHECKPOINT:
            start = (len(self._known) - 1) * _CHECKPOINT
            self._known.append(_counted(self._lines[start : start + _CHECKPOINT], self._known[-1]))
        start = at - at % _CHECKPOINT
        return _counted(self._lines[start:at], self._known[at // _CHECKPOINT])


def _counted(lines: list[str], before: tuple[int, int]) -> tuple[int, int]:
    old, new = before
    for line in lines:
        match line[:1]:
            case "-":
                old += 1
            case "+":
                new += 1
            case "@":
                old, new = _hunk(line) or (old, new)
            case "\\":
                pass
            case _:
                old, new = old + 1, new + 1
    return old, new


def _hunk(line: str) -> tuple[int, int] | None:
    """Where a hunk starts: `@@ -3,4 +5 @@`."""
    words = line.split(" ", 3)
    if len(words) < 4 or not words[1].startswith("-") or not words[2].startswith("+"):
        return None
    starts = [word[1:].partition(",")[0] for word in words[1:3]]
    if not all(each.isascii() and each.isdigit() and len(each) < 16 for each in starts):
        return None
    return int(starts[0]), int(starts[1])
