"""Where a drawn picture begins after the terminal was resized. Most terminals wrap its rows again; some cut them off.

The terminal itself can't be asked. If the answer is wrong, old rows stay visible, or some printed ones are erased.
"""

from collections.abc import Mapping, Sequence

_CUTTING = ("linux", "screen", "rxvt", "st-", "dumb", "eterm", "cons")
"""The beginnings of `$TERM` for terminals that cut off rows. tmux uses `screen` too, and wraps."""


def wraps(environment: Mapping[str, str]) -> bool:
    """Whether the terminal wraps rows again when it gets narrower, as far as its environment says."""
    if environment.get("TMUX"):
        return True
    # xterm sets it; terminals that only call themselves xterm don't.
    if environment.get("XTERM_VERSION"):
        return False
    return not environment.get("TERM", "").startswith(_CUTTING)


def rows_above(rows: Sequence[Sequence[int]], cursor: tuple[int, int], columns: int) -> int:
    """How many rows are above the cursor once these rows are wrapped at `columns`.

    Each row is the widths of its characters, without the blanks at its end; the cursor is at (column, row) of them.
    """
    at, below = cursor
    before = sum(_wrapped(row, columns) for row in rows[:below])
    own = list(_until(rows[below], at)) if below < len(rows) else []
    beyond = [1] * (at - sum(own))
    # The character under the cursor begins the next row if the ones before it fill theirs.
    return before + _wrapped([*own, *beyond, 1], columns) - 1


def pushed_out(rows: Sequence[Sequence[int]], above: int, height: int, columns: int) -> int:
    """How many of these rows are beyond the top of the terminal, if there are `above` above a cursor at its bottom."""
    count, beyond = 0, above - (height - 1)
    while beyond > 0 and count < len(rows):
        beyond -= _wrapped(rows[count], columns)
        count += 1
    return count


def _wrapped(row: Sequence[int], columns: int) -> int:
    """A character of two columns isn't divided."""
    count, used = 1, 0
    for width in row:
        if used + width > columns:
            count, used = count + 1, 0
        used += width
    return count


def _until(row: Sequence[int], column: int) -> Sequence[int]:
    used = 0
    for number, width in enumerate(row):
        if used >= column:
            return row[:number]
        used += width
    return row
