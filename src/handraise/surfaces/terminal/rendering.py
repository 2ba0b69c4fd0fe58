"""Renders Markdown with `rich`, as lines. Takes 70 ms to import; `markdown.py` does so with the first text."""

from collections.abc import Iterator
from io import StringIO
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from handraise.present.harmless import seal
from handraise.surfaces.terminal.lines import Line, Span

_COLOURS = (
    *("ansiblack", "ansired", "ansigreen", "ansiyellow", "ansiblue", "ansimagenta", "ansicyan", "ansigray"),
    *("ansibrightblack", "ansibrightred", "ansibrightgreen", "ansibrightyellow"),
    *("ansibrightblue", "ansibrightmagenta", "ansibrightcyan", "ansiwhite"),
)


def warm_up() -> None:
    """Loads everything that the first text would load."""
    lines_of("", 10)


def lines_of(text: str, width: int) -> list[Line]:
    """The text as lines of at most `width` columns."""
    console = Console(file=StringIO(), width=width, color_system="standard", legacy_windows=False)
    # Links are spelled out: a hyperlink's target would be invisible.
    rendered = _Quiet(text, code_theme="ansi_dark", hyperlinks=False)
    return [tuple(_spans(row)) for row in console.render_lines(rendered, pad=False)]


class _Plainly(Heading):
    """A left-aligned heading without a box."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text: Text = self.text
        text.justify = "left"
        yield text


class _Code(CodeBlock):
    """Code between other blocks, without empty lines of its own."""

    def __rich_console__(self, _console: Console, _options: ConsoleOptions) -> RenderResult:
        yield Syntax(str(self.text).rstrip(), self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 1))


class _Quiet(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Plainly,
        "fence": _Code,
        "code_block": _Code,
    }


def _spans(row: list[Segment]) -> Iterator[Span]:
    for segment in row:
        if segment.text and not segment.control:
            # Entities (`&#13;`) become characters during parsing, so the text is checked again.
            yield _style(segment.style), seal(segment.text)


def _style(style: Style | None) -> str:
    if style is None:
        return ""
    words = [word for word in ("bold", "italic", "underline", "strike") if getattr(style, word)]
    if style.dim:
        words.append("class:dim")
    if style.color is not None and style.color.number is not None and style.color.number < len(_COLOURS):
        words.append(f"fg:{_COLOURS[style.color.number]}")
    return " ".join(words)
