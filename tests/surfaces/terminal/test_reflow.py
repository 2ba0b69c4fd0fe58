"""Where a picture begins after the terminal was resized."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.surfaces.terminal.reflow import pushed_out, rows_above, wraps

ROW = st.lists(st.sampled_from((1, 1, 1, 2)), max_size=40)


def test_rows_that_fit_stay_as_they_are() -> None:
    assert rows_above([[1] * 10, [1] * 60, [1] * 5], (3, 2), 60) == 2


def test_longer_rows_take_more() -> None:
    assert rows_above([[1] * 100, [1] * 61, [1] * 5], (3, 2), 60) == 4
    assert rows_above([[1] * 100], (0, 0), 60) == 0


def test_a_cursor_in_a_longer_row_moves_with_its_character() -> None:
    assert rows_above([[1] * 100], (59, 0), 60) == 0
    assert rows_above([[1] * 100], (60, 0), 60) == 1
    assert rows_above([[1] * 2], (65, 0), 60) == 1


def test_a_wide_character_is_not_divided() -> None:
    assert rows_above([[1, 2, 2], []], (0, 1), 4) == 2
    assert rows_above([[2, 2], []], (0, 1), 4) == 1


def test_what_does_not_fit_above_the_cursor_is_pushed_out() -> None:
    rows = [[1] * 100, [1] * 10, [1] * 10]
    assert pushed_out(rows, rows_above(rows, (0, 2), 50), 3, 50) == 1
    assert pushed_out(rows, rows_above(rows, (0, 2), 50), 4, 50) == 0
    assert pushed_out(rows, 100, 3, 50) == 3


@given(st.lists(ROW, min_size=1, max_size=8), st.integers(2, 40), st.data())
def test_a_narrower_terminal_never_needs_fewer_rows(rows: list[list[int]], columns: int, data: st.DataObject) -> None:
    y = data.draw(st.integers(0, len(rows) - 1))
    x = data.draw(st.integers(0, 40))
    assert rows_above(rows, (x, y), columns) >= rows_above(rows, (x, y), columns + 1) >= 0
    assert rows_above(rows, (x, y), 100) == y


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "screen-256color", "TMUX": "/tmp/tmux-0/default,1,0"}, True),
        ({"TERM": "screen-256color"}, False),
        ({"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)"}, False),
        ({"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)", "TMUX": "x"}, True),
        ({"TERM": "linux"}, False),
        ({"TERM": "foot"}, True),
        ({}, True),
    ],
)
def test_the_environment_says_whether_a_terminal_wraps(environment: dict[str, str], expected: bool) -> None:
    assert wraps(environment) is expected
