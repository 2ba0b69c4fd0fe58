"""What a call would change, against the file as it is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.policy.diff import MAX_COMPARED, Diff, diff_of

NOTEBOOK = '{"cells": [{"id": "a", "source": ["x\\n", "y\\n"]}, {"source": "z\\n"}]}'


def edit(old: str, new: str, **more: object) -> dict[str, Any]:
    return {"file_path": "/p/f", "old_string": old, "new_string": new, **more}


def test_an_edit_is_shown_with_the_lines_around_it() -> None:
    file = "".join(f"{number}\n" for number in range(1, 21))

    diff = diff_of("Edit", edit("10\n", "ten\n"), file)

    assert diff == Diff("@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n")


def test_places_far_apart_are_separate_hunks() -> None:
    file = "x\n" + "".join(f"{number}\n" for number in range(50)) + "x\n"

    diff = diff_of("Edit", edit("x", "y", replace_all=True), file)

    assert diff is not None
    assert diff.text.count("@@ -") == 2


@pytest.mark.parametrize(
    ("old", "new", "file", "note"),
    [
        ("q", "r", "a\n", "The old text isn't in the file."),
        ("a", "b", "a a\n", "The old text is in the file 2 times, and the edit doesn't say which one to replace."),
        ("a", "b", None, "The file doesn't exist, so there is nothing to replace."),
        ("a", "a", "a\n", "The old and the new text are the same."),
        ("", "b", "a\n", "The old text is empty, but the file isn't."),
    ],
)
def test_an_edit_that_does_not_apply_says_so(old: str, new: str, file: str | None, note: str) -> None:
    diff = diff_of("Edit", edit(old, new), file)

    assert diff is not None
    assert diff.note == note
    if old != new:
        assert f"+{new}\n" in diff.text


def test_writing_shows_a_new_file_a_change_or_nothing() -> None:
    assert diff_of("Write", {"content": "a\nb\n"}, None) == Diff("@@ -0,0 +1,2 @@\n+a\n+b\n", "New file.")
    assert diff_of("Write", {"content": ""}, None) == Diff("", "New, empty file.")
    assert diff_of("Write", {"content": "a\n"}, "a\n") == Diff("", "No changes.")
    assert diff_of("Write", {"content": ""}, "a\n") == Diff("@@ -1 +0,0 @@\n-a\n")
    assert diff_of("Edit", edit("", "a\n"), None) == Diff("@@ -0,0 +1 @@\n+a\n", "New file.")


def test_a_missing_newline_at_the_end_is_shown() -> None:
    expected = "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"

    assert diff_of("Write", {"content": "a"}, "a\n") == Diff(expected)


def test_several_edits_are_applied_one_after_the_other() -> None:
    edits = {"edits": [edit("a", "b"), edit("b", "c")]}

    assert diff_of("MultiEdit", edits, "a\n") == Diff("@@ -1 +1 @@\n-a\n+c\n")


def test_the_edit_that_does_not_apply_is_named() -> None:
    diff = diff_of("MultiEdit", {"edits": [edit("a", "b"), edit("q", "c")]}, "a\n")

    assert diff is not None
    assert diff.note == "Edit 2 of 2: The old text isn't in the file."
    assert "+b" in diff.text
    assert "+c" in diff.text


def test_other_line_separators_stay_in_their_line() -> None:
    assert diff_of("Write", {"content": "a\rb\u2028c\n"}, "") == Diff("@@ -0,0 +1 @@\n+a\rb\u2028c\n")


@pytest.mark.parametrize(
    ("change", "text", "note"),
    [
        ({"cell_id": "a", "new_source": "x\nq\n"}, "@@ -1,2 +1,2 @@\n x\n-y\n+q\n", ""),
        ({"cell_number": 1, "new_source": "z\n"}, "", "No changes."),
        ({"cell_id": "cell-1", "edit_mode": "delete"}, "@@ -1 +0,0 @@\n-z\n", "Deletes the cell."),
        ({"cell_id": "a", "edit_mode": "insert", "new_source": "n\n"}, "@@ -0,0 +1 @@\n+n\n", "New cell."),
        ({"new_source": "n\n", "edit_mode": "insert"}, "@@ -0,0 +1 @@\n+n\n", "New cell."),
        ({"cell_id": "q", "new_source": "n\n"}, "@@ -0,0 +1 @@\n+n\n", "The cell isn't in the notebook."),
    ],
)
def test_a_notebook_edit_shows_its_cell(change: dict[str, Any], text: str, note: str) -> None:
    assert diff_of("NotebookEdit", change, NOTEBOOK) == Diff(text, note)


@pytest.mark.parametrize("file", [None, "", "[]", "7", '{"cells": 3}', '{"cells": [3]}'])
def test_a_notebook_that_is_none_is_told(file: str | None) -> None:
    diff = diff_of("NotebookEdit", {"cell_id": "a", "new_source": "x"}, file)

    assert diff is not None
    assert diff.note


def test_a_large_change_is_shown_whole_and_unpaired() -> None:  # lesson 38
    old = "".join(f"{number}\n" for number in range(MAX_COMPARED))
    new = "".join(f"{number} \n" for number in range(MAX_COMPARED))

    diff = diff_of("Write", {"content": f"head\n{new}tail\n"}, f"head\n{old}tail\n")

    assert diff is not None
    assert diff.note.startswith("Too large to compare")
    assert diff.text.count("\n") == 2 * MAX_COMPARED + 3


def test_a_small_change_in_a_huge_file_is_still_paired() -> None:
    huge = "x\n" * 200_000

    diff = diff_of("Edit", edit("one\n", "two\n"), f"{huge}one\n{huge}")

    assert diff == Diff("@@ -199998,7 +199998,7 @@\n x\n x\n x\n-one\n+two\n x\n x\n x\n")


@pytest.mark.parametrize(
    ("tool", "change"),
    [("Read", {}), ("Edit", {}), ("Edit", edit(1, "x")), ("Write", {}), ("Write", {"content": 3}), ("MultiEdit", {}),  # type: ignore[arg-type]
     ("MultiEdit", {"edits": []}), ("MultiEdit", {"edits": [3]}), ("NotebookEdit", {"new_source": 3})],
)  # fmt: skip
def test_an_input_that_is_no_change_has_no_diff(tool: str, change: dict[str, Any]) -> None:
    assert diff_of(tool, change, "a") is None


LINES = st.lists(st.sampled_from("abcdef"), max_size=30)


@given(before=LINES, after=LINES)
def test_a_diff_leads_from_the_old_text_to_the_new(before: list[str], after: list[str]) -> None:
    diff = diff_of("Write", {"content": _text(after)}, _text(before))

    assert diff is not None
    assert _patched(before, diff.text) == after


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _patched(old: list[str], diff: str) -> list[str]:
    """Applies hunks as `patch` does, and insists on what they say of the old text."""
    new: list[str] = []
    at = 0
    for line in diff.splitlines():
        if line.startswith("@@"):
            first, _, length = line.split()[1][1:].partition(",")
            until = int(first) - (0 if length == "0" else 1)
            new, at = new + old[at:until], until
            continue
        if line[0] in " +":
            new.append(line[1:])
        if line[0] in " -":
            assert old[at] == line[1:]
            at += 1
    return new + old[at:]
