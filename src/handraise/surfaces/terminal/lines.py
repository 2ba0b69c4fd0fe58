"""The line: styled text of known width. Pure.

Everything the terminal shows consists of these. Styles are prompt_toolkit's: `class:accent`, `bold`, `fg:ansicyan`.
"""

import re
from collections.abc import Iterable

ELLIPSIS = "…"
BETWEEN = " · "
_PIECES = re.compile(r"\s+|\S+")
_NARROW = re.compile("[ -~¡-¬®-ÿ‐-‧‹›←-⇿─-▟◌✓✗❯⟨⟩]*")
"""Each takes one column: ASCII, Latin-1, punctuation, arrows, lines and blocks. Most text has no others."""


Span = tuple[str, str]
Line = tuple[Span, ...]

EMPTY: Line = ()


def line(*spans: Span | str) -> Line:
    """A line of spans; plain text has no style."""
    return tuple(("", span) if isinstance(span, str) else span for span in spans)


def text_of(row: Line) -> str:
    """The text of a line, without its styles."""
    return "".join(text for _, text in row)


def width_of(shown: Line | str) -> int:
    """How many columns it takes: wide characters take two, combining ones none."""
    return _width(shown if isinstance(shown, str) else text_of(shown))


def indent(lines: Iterable[Line], before: Span) -> list[Line]:
    """Prefixes each line with the same text."""
    return [(before, *each) for each in lines]


def cut(row: Line, width: int) -> Line:
    """The line in at most `width` columns; an ellipsis says that there is more."""
    if width_of(row) <= width:
        return row
    parts: list[Span] = []
    left = width - 1
    for style, text in row:
        head = _head(text, left)
        parts.append((style, head))
        left -= width_of(head)
        if head != text:
            break
    return (*parts, ("", ELLIPSIS))


def joined(parts: Iterable[str], width: int) -> str:
    """As many of the parts, from the first, as fit; at least one."""
    shown = [each for each in parts if each]
    while len(shown) > 1 and width_of(BETWEEN.join(shown)) > width:
        shown.pop()
    return BETWEEN.join(shown)


def flow(parts: Iterable[str], width: int) -> list[str]:
    """All parts, on as many rows as needed; a part is broken only if it is wider than a row."""
    rows = [""]
    for each in parts:
        longer = f"{rows[-1]}{BETWEEN}{each}" if rows[-1] else each
        if rows[-1] and width_of(longer) > width:
            rows.append(each)
        else:
            rows[-1] = longer
    return rows


def wrap(row: Line, width: int, hang: int = 0) -> list[Line]:
    """For sentences: breaks between words if possible; later rows are indented by `hang` columns."""
    rows: list[list[Span]] = [[]]
    room = width
    for style, text in row:
        for piece in _PIECES.findall(text):
            if width_of(piece) > room and room < width - (hang if len(rows) > 1 else 0):
                rows.append([("", " " * hang)])
                room = width - hang
                if piece.isspace():
                    continue
            for part in _chunks(piece, room, width - hang):
                if width_of(part) > room:
                    rows.append([("", " " * hang)])
                    room = width - hang
                rows[-1].append((style, part))
                room -= width_of(part)
    return [tuple(row) for row in rows]


def fold(row: Line, width: int) -> list[Line]:
    """For text to decide about: breaks only at the edge, so that every blank stays where it is."""
    rows: list[list[Span]] = [[]]
    room = width
    for style, text in row:
        for part in _chunks(text, room, width):
            if width_of(part) > room:
                rows.append([])
                room = width
            rows[-1].append((style, part))
            room -= width_of(part)
    return [tuple(row) for row in rows]


def _width(text: str) -> int:
    if _NARROW.fullmatch(text):
        return len(text)
    from prompt_toolkit.utils import get_cwidth  # noqa: PLC0415 (start-up: 100 ms, all of prompt_toolkit)

    return get_cwidth(text)


def _head(text: str, width: int) -> str:
    columns = 0
    for at, letter in enumerate(text):
        columns += _width(letter)
        if columns > width:
            return text[:at]
    return text


def _chunks(text: str, first: int, others: int) -> list[str]:
    """The text in parts that fit: the first into the rest of its row. At least one character each."""
    parts: list[str] = []
    room = first
    while text:
        head = _head(text, max(room, 1)) or text[0]
        parts.append(head)
        text = text[len(head) :]
        room = others
    return parts
