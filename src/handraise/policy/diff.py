"""The diff: what a file-changing call would do to the file as it is now. Never reads the file: it gets the text."""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from msgspec import Struct

from handraise.model.tools import tool_named
from handraise.texts import t

MAX_COMPARED = 1_000
"""With more changed lines than this, on both sides together, lines aren't paired: pairing takes quadratic time."""
MAX_TRIED = 40_000_000
"""How many characters are searched to apply edits; beyond that, each edit is shown separately."""
_CONTEXT = 3


class NotANotebook(Exception):
    """The cell can't be shown; the text says why."""


def read_cell(text: str | None, cell_id: object, number: object) -> str:
    """The source of the cell with this id, or of the cell at this place; raises NotANotebook."""
    if text is None:
        raise NotANotebook(t("why.diff.no_notebook"))
    try:
        cells = json.loads(text)["cells"]
        place = _place(cells, cell_id, number)
        source = cells[place]["source"] if place is not None else ""
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise NotANotebook(t("why.diff.no_cell")) from None
    return "".join(source) if isinstance(source, list) else str(source)


def _place(cells: list[dict[str, object]], cell_id: object, number: object) -> int | None:
    if cell_id is None and number is None:
        return None
    if isinstance(number, int):
        return number
    for place, cell in enumerate(cells):
        if cell.get("id") == cell_id or cell_id == f"cell-{place}":
            return place
    raise KeyError(cell_id)


class Diff(Struct, frozen=True):
    """`text` is a unified diff without file names, empty when nothing changes; `note` is a sentence, or empty."""

    text: str
    note: str = ""


class _Inapplicable(Exception):
    """The edit doesn't apply to the file; the text says why."""


def diff_of(tool: str, input: Mapping[str, Any], now_in_file: str | None) -> Diff | None:  # noqa: A002
    """The diff of a tool that changes a file; None for other tools, and for inputs that make no sense.

    An edit that doesn't apply is shown separately, old against new, and the note says why it will fail.
    """
    match tool_named(tool).change:
        case "whole" if isinstance(input.get("content"), str):
            return _diff(now_in_file, input["content"])
        case "replacement":
            edits = [input]
        case "replacements" if isinstance(input.get("edits"), list) and input["edits"]:
            edits = input["edits"]
        case "cell" if isinstance(input.get("new_source", ""), str):
            return _diff_of_cell(input, now_in_file)
        case _:
            return None
    return _diff_of_edits(edits, now_in_file) if all(_is_edit(each) for each in edits) else None


def _is_edit(edit: object) -> bool:
    return isinstance(edit, Mapping) and all(isinstance(edit.get(key), str) for key in ("old_string", "new_string"))


def _diff_of_edits(edits: Sequence[Mapping[str, Any]], now_in_file: str | None) -> Diff:
    after = now_in_file
    tried = 0
    for number, edit in enumerate(edits, 1):
        tried += len(after or "")
        if tried + _growth(edit, after) > MAX_TRIED:
            return Diff(_each_by_itself(edits), t("why.diff.untried"))
        try:
            after = _apply(edit, after)
        except _Inapplicable as why:
            several = len(edits) > 1
            note = t("why.diff.edit", number=number, total=len(edits), why=why) if several else str(why)
            return Diff(_each_by_itself(edits), note)
    return _diff(now_in_file, after or "")


def _growth(edit: Mapping[str, Any], text: str | None) -> int:
    """How much longer the text may become: replacing one letter everywhere can fill the memory."""
    if not text or not edit["old_string"] or edit.get("replace_all") is not True:
        return len(edit["new_string"])
    return text.count(edit["old_string"]) * len(edit["new_string"])


def _each_by_itself(edits: Sequence[Mapping[str, Any]]) -> str:
    lines = sum(each[key].count("\n") + 1 for each in edits for key in ("old_string", "new_string"))
    limit = MAX_COMPARED if lines <= MAX_COMPARED else 0
    return "".join(_unified(each["old_string"], each["new_string"], limit)[0] for each in edits)


def _apply(edit: Mapping[str, Any], text: str | None) -> str:
    old, new = edit["old_string"], edit["new_string"]
    if text is None:
        if old:
            raise _Inapplicable(t("why.diff.no_file"))
        return str(new)
    if old == new:
        raise _Inapplicable(t("why.diff.same"))
    if not old:
        if text:
            raise _Inapplicable(t("why.diff.not_empty"))
        return str(new)
    count = text.count(old)
    if not count:
        raise _Inapplicable(t("why.diff.not_found"))
    if edit.get("replace_all") is True:
        return text.replace(old, new)
    if count > 1:
        raise _Inapplicable(t("why.diff.ambiguous", count=count))
    return text.replace(old, new, 1)


def _diff_of_cell(input: Mapping[str, Any], now_in_file: str | None) -> Diff:  # noqa: A002
    mode, new = input.get("edit_mode", "replace"), input.get("new_source", "")
    try:
        old = read_cell(now_in_file, input.get("cell_id"), input.get("cell_number"))
    except NotANotebook as why:
        return Diff(_unified("", new)[0], str(why))
    if mode == "insert":
        return Diff(_unified("", new)[0], t("why.diff.new_cell"))
    if mode == "delete":
        return Diff(_unified(old, "")[0], t("why.diff.deletes_cell"))
    return _diff(old, new)


def _diff(before: str | None, after: str) -> Diff:
    text, note = _unified(before or "", after)
    if before is None:
        return Diff(text, t("why.diff.new") if after else t("why.diff.new_empty"))
    return Diff(text, note if text else t("why.diff.unchanged"))


def _unified(before: str, after: str, limit: int = MAX_COMPARED) -> tuple[str, str]:
    """The hunks, and a note. The equal beginning and end are removed first, which takes linear time."""
    old, new = _lines(before), _lines(after)
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    if head == len(old) == len(new):
        return "", ""
    start = max(0, head - _CONTEXT)
    dropped = max(0, tail - _CONTEXT)
    old, new = old[start : len(old) - dropped], new[start : len(new) - dropped]
    head, tail = head - start, tail - dropped
    if len(old) + len(new) - 2 * (head + tail) > limit:
        codes = [("equal", 0, head, 0, head), ("replace", head, len(old) - tail, head, len(new) - tail)]
        codes.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
        return "".join(_hunk(codes, old, new, start)), t("why.diff.unpaired")
    groups = SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT)
    return "".join(line for group in groups for line in _hunk(group, old, new, start)), ""


def _lines(text: str) -> list[str]:
    """Only `\\n` ends a line here: other separators are part of the line, and are shown in it."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, f"{last}\n\\ No newline at end of file\n"] if last else lines


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _hunk(codes: Sequence[tuple[str, int, int, int, int]], old: list[str], new: list[str], start: int) -> Iterator[str]:
    first, last = codes[0], codes[-1]
    yield f"@@ -{_range(first[1], last[2], start)} +{_range(first[3], last[4], start)} @@\n"
    for tag, old_from, old_to, new_from, new_to in codes:
        if tag == "equal":
            yield from (f" {line}" for line in old[old_from:old_to])
            continue
        yield from (f"-{line}" for line in old[old_from:old_to])
        yield from (f"+{line}" for line in new[new_from:new_to])


def _range(begin: int, end: int, start: int) -> str:
    """As `diff -u` counts: from 1, and an empty range names the line before it."""
    length = end - begin
    first = start + begin + (1 if length else 0)
    return str(first) if length == 1 else f"{first},{length}"
