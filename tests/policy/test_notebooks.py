"""Cells are found by id or by position."""

import pytest

from handraise.policy.diff import NotANotebook, read_cell

NOTEBOOK = '{"cells": [{"id": "a", "source": ["x\\n", "y"]}, {"source": "z"}]}'


def test_a_cell_is_found_by_its_id_or_its_place() -> None:
    assert read_cell(NOTEBOOK, "a", None) == "x\ny"
    assert read_cell(NOTEBOOK, "cell-1", None) == "z"
    assert read_cell(NOTEBOOK, None, 1) == "z"
    assert read_cell(NOTEBOOK, None, None) == ""


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"cells": [7]}', "[" * 100_000])
def test_what_is_no_notebook_is_told_in_a_sentence(text: str | None) -> None:
    with pytest.raises(NotANotebook, match=r"The .+\."):
        read_cell(text, "a", None)
