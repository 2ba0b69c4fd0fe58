"""The windows of a screen, from top to bottom, and their colors. Their contents are decided elsewhere."""

from collections.abc import Callable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import BufferControl, ConditionalContainer, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.processors import AfterInput
from prompt_toolkit.styles import Style

from handraise.surfaces.terminal.cards import BAR
from handraise.surfaces.terminal.lines import Span, fold, line, width_of

STYLE = Style.from_dict(
    {
        "accent": "fg:ansiyellow",
        "danger": "fg:ansired",
        "warning": "fg:ansiyellow",
        "good": "fg:ansigreen",
        "dim": "fg:ansibrightblack",
        "key": "fg:ansicyan",
        "code": "",
        "added": "fg:ansigreen",
        "removed": "fg:ansired",
        "hunk": "fg:ansicyan",
        "said": "bold",
        "found": "reverse",
    }
)
_MOST = 6
"""How many rows a text may take while it is being written."""
_MARK = ("class:key", "› ")
_INSIDE = ("", "  ")

Shown = Callable[[], StyleAndTextTuples]


def layout(
    above: Shown,
    entry: Buffer,
    entry_rows: Callable[[], int],
    below: Shown,
    composer: Buffer,
    hint: Shown,
    state: Shown,
    writing: Condition,
    composing: Condition,
) -> Layout:
    """`entry` is the text for a card, between its two parts; `composer` the text for Claude."""
    written = _written(entry, (BAR,), lambda: Dimension.exact(entry_rows()))
    line_to_claude = _written(composer, (), lambda: Dimension(min=1, max=_MOST), hint)
    return Layout(
        HSplit(
            [
                _text(above),
                ConditionalContainer(written, writing),
                _text(below),
                ConditionalContainer(line_to_claude, composing),
                Window(FormattedTextControl(state), height=1, dont_extend_height=True),
            ]
        ),
        focused_element=line_to_claude,
    )


def rows_of(text: str, columns: int, rows: int) -> int:
    """How many rows a text for a card takes while it is being written, on a screen of this size."""
    room = max(2, columns - width_of(BAR[1]) - width_of(_MARK[1]))
    # The cursor takes a column too.
    wanted = sum(len(fold(line(f"{row} "), room)) for row in text.split("\n"))
    return min(wanted, _MOST, max(1, rows // 3))


def _text(shown: Shown) -> ConditionalContainer:
    window = Window(FormattedTextControl(shown, show_cursor=False), dont_extend_height=True, wrap_lines=False)
    return ConditionalContainer(window, Condition(lambda: bool(shown())))


def _written(
    buffer: Buffer, before: tuple[Span, ...], height: Callable[[], Dimension], hint: Shown | None = None
) -> Window:
    def prefix(number: int, wrapped: int) -> StyleAndTextTuples:
        return [*before, _MARK if number == wrapped == 0 else _INSIDE]

    return Window(
        BufferControl(buffer, input_processors=[AfterInput(hint)] if hint is not None else []),
        get_line_prefix=prefix,
        height=height,
        dont_extend_height=True,
        wrap_lines=True,
    )
