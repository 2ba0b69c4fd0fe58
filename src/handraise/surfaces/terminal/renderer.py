"""prompt_toolkit's renderer, which also finds its picture again after the terminal was resized."""

import os
import sys
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.layout import Layout
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.renderer import Renderer
from prompt_toolkit.styles import BaseStyle

from handraise.surfaces.terminal.reflow import pushed_out, rows_above

_CLEAR_DOWN = "\x1b7\x1b[K\x1b[B\r\x1b[J\x1b8"
"""The row from the cursor on, and all below it: saves the cursor, and comes back to it."""


def terminal_output() -> Output:
    """The terminal on stdout."""
    return _Vt100.from_pty(sys.stdout, term=os.environ.get("TERM"), default_color_depth=ColorDepth.from_env())


class _Vt100(Vt100_Output):
    def erase_down(self) -> None:
        # If a screen is cleared from its first cell, tmux saves it in its history. So the second row begins.
        self.write_raw(_CLEAR_DOWN)


class ResizedRenderer(Renderer):
    """`wraps`: the terminal wraps rows again when it gets narrower."""

    def __init__(self, style: BaseStyle, output: Output, *, wraps: bool) -> None:
        self._wraps = wraps
        self._beyond: list[list[int]] = []
        """Rows of earlier pictures beyond the top of the terminal: it shows them again when it gets larger."""
        super().__init__(style, output)

    def render(self, app: Application[Any], layout: Layout, is_done: bool = False) -> None:
        # A clock may redraw before the signal arrives.
        if self._last_size is not None and self._last_size != self.output.get_size():
            self.erase(leave_alternate_screen=False)
        super().render(app, layout, is_done)

    def erase(self, leave_alternate_screen: bool = True) -> None:
        size, drawn = self.output.get_size(), self._last_size
        if leave_alternate_screen:
            # prompt_toolkit's sign for something else that is printed next: it separates them from the next picture.
            self._beyond = []
        if self._wraps and drawn is not None and size != drawn:
            rows = [*self._beyond, *self._rows()]
            x, y = self._cursor_pos
            above = rows_above(rows, (x, y + len(self._beyond)), size.columns)
            self._beyond = rows[: pushed_out(rows, above, size.rows, size.columns)]
            self.output.write_raw("\r")
            self.output.cursor_up(above)
            self._cursor_pos = self._cursor_pos._replace(x=0, y=0)
        super().erase(leave_alternate_screen)

    def _rows(self) -> list[list[int]]:
        """The widths of the characters in each row that was drawn."""
        screen, styled = self._last_screen, self._style_string_has_style
        if screen is None or styled is None:
            return []
        rows = []
        for number in range(screen.height):
            row = screen.data_buffer[number]
            last = max((at for at, each in row.items() if each.char != " " or styled[each.style]), default=-1)
            cells = [row[at] for at in range(last + 1)]
            rows.append([each.width for each in cells if each.char])
        return rows
