"""A terminal's screen as an SVG picture. Pure."""

from html import escape
from itertools import groupby

import pyte
from pyte.screens import Char

WIDE, TALL, MARGIN, TITLE = 8.4, 19.0, 16.0, 34.0
_COLOURS = {
    "default": "#d6d3ce",
    "black": "#55524d",
    "red": "#ff8f85",
    "green": "#7fcfa4",
    "brown": "#f2b457",
    "blue": "#8fbdee",
    "magenta": "#c9a4e6",
    "cyan": "#7cc7cf",
    "white": "#ebe9e5",
    "brightblack": "#8d8981",
}


def picture(screen: pyte.Screen, title: str) -> str:
    """The screen in a window with this title, without trailing empty rows."""
    shown = [[screen.buffer[row][column] for column in range(screen.columns)] for row in range(screen.lines)]
    while shown and not "".join(char.data for char in shown[-1]).strip():
        shown.pop()
    width, height = screen.columns * WIDE + 2 * MARGIN, len(shown) * TALL + TITLE + MARGIN
    rows = "\n".join(_row(row, TITLE + (at + 0.75) * TALL) for at, row in enumerate(shown))
    return _FRAME.format(
        width=round(width), height=round(height), title=escape(title), middle=round(width / 2), rows=rows
    )


def _row(row: list[Char], y: float) -> str:
    pieces, column = [], 0
    for look, group in groupby(row, key=_look):
        chars = list(group)
        text = "".join(char.data for char in chars)
        if text.strip():
            x, length = MARGIN + column * WIDE, len(chars) * WIDE
            pieces.append(f'<text x="{x:.1f}" y="{y:.1f}" textLength="{length:.1f}" {look}>{_firm(text)}</text>')
        column += len(chars)
    return "".join(pieces)


def _firm(text: str) -> str:
    """Spaces that no SVG reader collapses."""
    return escape(text).replace(" ", "\u00a0")


def _look(char: Char) -> str:
    colour = _COLOURS.get(char.fg, f"#{char.fg}" if len(char.fg) == 6 else _COLOURS["default"])
    if char.reverse:
        colour = "#ffffff"
    weight = ' font-weight="700"' if char.bold else ""
    line = ' text-decoration="underline"' if char.underscore else ""
    return f'fill="{colour}"{weight}{line}'


_FRAME = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">
<rect width="{width}" height="{height}" rx="10" fill="#1c1d20"/>
<circle cx="20" cy="17" r="5.5" fill="#55524d"/><circle cx="38" cy="17" r="5.5" fill="#55524d"/>
<circle cx="56" cy="17" r="5.5" fill="#55524d"/>
<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
<text x="{middle}" y="22" fill="#8d8981" text-anchor="middle" font-size="13">{title}</text>
{rows}
</g>
</svg>
"""
