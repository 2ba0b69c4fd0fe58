"""Markdown as lines. What grows is rendered by closed blocks: each once, however long the whole becomes. Pure."""

import re
from collections.abc import Iterator
from io import StringIO
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from handraise.surfaces.terminal.harmless import evidence, prose, seal
from handraise.surfaces.terminal.lines import Line, Span

MEASURE = 100
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_LIST = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_COLOURS = (
    *("ansiblack", "ansired", "ansigreen", "ansiyellow", "ansiblue", "ansimagenta", "ansicyan", "ansigray"),
    *("ansibrightblack", "ansibrightred", "ansibrightgreen", "ansibrightyellow"),
    *("ansibrightblue", "ansibrightmagenta", "ansibrightcyan", "ansiwhite"),
)


def render(text: str, width: int, *, decided: bool = False) -> list[Line]:
    """The text as lines of at most `width` columns. `decided`: somebody decides about it, so nothing is left out."""
    shown = evidence(text) if decided else prose(text)
    console = Console(
        file=StringIO(), width=max(10, min(width, MEASURE)), color_system="standard", legacy_windows=False
    )
    # Links are spelled out: a hyperlink's target could not be seen.
    rendered = _Quiet(shown, code_theme="ansi_dark", hyperlinks=False)
    rows = console.render_lines(rendered, pad=False)
    lines = [tuple(_spans(row)) for row in rows]
    while lines and not "".join(text for _, text in lines[-1]).strip():
        lines.pop()
    return lines


class Growing:
    """A text that is being written: gives its blocks when they are closed, and keeps the open end."""

    def __init__(self) -> None:
        self.taken = ""

    def grow(self, text: str) -> list[str]:
        """Blocks that were closed since the last time; `text` is all there is so far."""
        if not text.startswith(self.taken):
            return []
        end = len(self.taken)
        closed: list[str] = []
        for stop in _ends(text[end:]):
            closed.append(text[len(self.taken) : end + stop])
            self.taken = text[: end + stop]
        return [block for block in closed if block.strip()]

    def open_end(self, text: str) -> str:
        """What is not closed yet."""
        return text[len(self.taken) :] if text.startswith(self.taken) else text

    def finish(self, text: str) -> str:
        """The rest of the text, whole; all of it where something else had been shown."""
        rest = self.open_end(text)
        self.taken = text
        return rest


def _ends(text: str) -> Iterator[int]:
    """Where blocks end: behind a fence that closes, or at a gap whose next line does not belong to the block."""
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


class _Plainly(Heading):
    """A heading on the left, without a box."""

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
            # Entities (`&#13;`) become characters while Markdown is read, so harm is looked for once more.
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
