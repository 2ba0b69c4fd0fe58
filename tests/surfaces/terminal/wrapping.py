"""A terminal that wraps its rows again when it is resized, as most do. pyte itself cuts them off."""

from typing import Any

import pyte
from pyte.screens import StaticDefaultDict

_WRAPPED = "wrapped"
"""Set on a row that continues in the next one. It stays with the row wherever that moves."""

Row = list[Any]


class Wrapping(pyte.HistoryScreen):
    """Works like tmux: the cursor stays on its character, and the lowest rows are visible."""

    def __init__(self, columns: int, rows: int, *, wraps: bool) -> None:
        super().__init__(columns, rows, history=5000, ratio=0.5)
        self._wraps = wraps

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        if not self._wraps or lines is None or columns is None:
            super().resize(lines, columns)
            return
        rows, cursor = self._whole_rows()
        x, y = self._wrap(rows, cursor, columns)
        new = self._rewrapped
        while len(new) > max(y + 1, lines) and not new[-1][0]:
            new.pop()
        top = min(max(0, len(new) - lines), y)
        super().resize(lines, columns)
        self.history.top.clear()
        self.history.top.extend(self._line(*each) for each in new[:top])
        self.buffer.clear()
        for number, each in enumerate(new[top : top + lines]):
            self.buffer[number] = self._line(*each)
        self.cursor.x, self.cursor.y = x, y - top

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        super().erase_in_line(how, private)
        if how != 1:
            setattr(self.buffer[self.cursor.y], _WRAPPED, False)

    def erase_in_display(self, how: int = 0, *rest: Any, **named: Any) -> None:
        super().erase_in_display(how, *rest, **named)
        for number in range(self.cursor.y if how == 0 else 0, self.lines):
            setattr(self.buffer[number], _WRAPPED, False)

    def _whole_rows(self) -> tuple[list[Row], tuple[int, int]]:
        """The rows as they were written, with the history; and where the cursor is in them."""
        shown = [*self.history.top, *(self.buffer[at] for at in range(self.lines))]
        rows: list[Row] = [[]]
        at = 0, 0
        for number, line in enumerate(shown):
            if number == len(self.history.top) + self.cursor.y:
                at = len(rows[-1]) + self.cursor.x, len(rows) - 1
            last = max((x for x, cell in line.items() if cell != self.default_char), default=-1)
            wrapped = getattr(line, _WRAPPED, False)
            rows[-1] += [line[x] for x in range(self.columns if wrapped else last + 1)]
            if not wrapped:
                rows.append([])
        return rows[:-1] if not rows[-1] else rows, at

    def _wrap(self, rows: list[Row], cursor: tuple[int, int], columns: int) -> tuple[int, int]:
        """Wraps them, and returns where the cursor is then."""
        self._rewrapped: list[tuple[Row, bool]] = []
        found = 0, 0
        for number, row in enumerate(rows):
            left, start = row, 0
            while True:
                # The second half of a wide character is an empty cell.
                size = columns - 1 if len(left) > columns and not left[columns].data else columns
                head, left = left[:size], left[size:]
                is_last = not left
                if number == cursor[1] and start <= cursor[0] and (is_last or cursor[0] < start + size):
                    found = min(cursor[0] - start, columns - 1), len(self._rewrapped)
                self._rewrapped.append((head, not is_last))
                start += size
                if is_last:
                    break
        return found

    def _line(self, cells: Row, wrapped: bool) -> Any:
        line: Any = StaticDefaultDict(self.default_char)
        line.update(enumerate(cells))
        setattr(line, _WRAPPED, wrapped)
        return line
