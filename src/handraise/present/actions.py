"""What an action is called, and what a surface needs to know about its tool to lay it out. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from handraise.model.items import ActionKind
from handraise.model.plain_line import first_plain_line
from handraise.model.tools import MCP, Change, ToolKind, tool_named
from handraise.present.headlines import lines_of
from handraise.texts import t

_TITLE = 200
_LONGEST = 2000
_KINDS: dict[ToolKind, ActionKind] = {
    "shell": "command",
    "process": "command",
    "write": "file_change",
    "edit": "file_change",
    "fetch": "web_search",
    "search": "web_search",
    "question": "note",
    "plan": "note",
    "note": "note",
}
_VERBS = ("shell", "write", "edit", "fetch", "search")
"""Kinds whose title is only the object of the action."""
_TITLED = ("read", "find")
"""Kinds whose title starts with the verb."""


class ToolTraits(Struct, frozen=True):
    """How to show and edit a tool call, so that no surface has to know tools by name."""

    kind: ToolKind
    verb: str
    """The verb for a line about the past; empty if the title has it."""
    subject: tuple[str, ...]
    """Input fields: the first one with a text follows the verb. None: the title does."""
    path: str
    """The field that names a file or a directory; empty if there is none."""
    editable: str
    """The field that a person edits as plain text; empty: all of the input, as JSON."""
    change: Change
    """How the input describes the change to a file."""
    only_reads: bool


def traits_of(tool_name: str) -> ToolTraits:
    """The traits of the tool of this name, in the hub's language."""
    tool = tool_named(tool_name)
    verb = t(f"card.done.{tool.words}") if tool.kind in (*_VERBS, *_TITLED) else ""
    subject = tool.subject if tool.kind in _TITLED else ()
    return ToolTraits(tool.kind, verb, subject, tool.path, tool.editable, tool.change, tool.only_reads)


def name_action(tool_name: str, fields: Mapping[str, Any]) -> tuple[ActionKind, str]:
    """The kind and title of a tool call with this input; never fails, whatever the input holds."""
    tool = tool_named(tool_name)
    kind = _KINDS.get(tool.kind, "tool")
    if tool.words:
        subject = tool.subject_of(fields).strip() or tool_name
        if tool.kind == "agent":
            subject = first_plain_line(subject[:_LONGEST]) or tool_name
        return kind, _short(t(f"card.action.tool.{tool.words}", subject=subject[: _TITLE + 1]))
    if tool_name.startswith(MCP):
        server, _, called = tool_name.removeprefix(MCP).partition("__")
        return kind, _short(t("card.action.server", server=server, tool=called or server))
    return kind, _short(tool_name)


def doing(tool_name: str, title: str) -> str:
    """The title with its verb, if it only names the object."""
    tool = tool_named(tool_name)
    return t(f"card.doing.tool.{tool.words}", title=title) if tool.kind in _VERBS else title


def done(tool_name: str, title: str) -> str:
    """The same for an action that has ended; a command stays as it was typed."""
    tool = tool_named(tool_name)
    if tool.kind not in _VERBS or tool.kind == "shell":
        return doing(tool_name, title)
    return f"{t(f'card.done.{tool.words}')} {title}"


def size_of_change(tool_name: str, fields: Mapping[str, Any], diff: str | None = None) -> str:
    """How large a change to a file is: "+5 −1", or the lines of a whole file; empty for what changes none."""
    if diff:
        rows = diff.split("\n")
        counts = [sum(row.startswith(sign) for row in rows) for sign in "+-"]
        return t("card.change_size.changed", added=counts[0], removed=counts[1])
    tool = tool_named(tool_name)
    match tool.change:
        case "whole":
            content = fields.get(tool.editable)
            return t("card.change_size.whole", count=lines_of(content)) if isinstance(content, str) else ""
        case "replacement":
            return _replaced([fields])
        case "replacements":
            edits = fields.get("edits")
            return _replaced(edits) if isinstance(edits, list) else ""
        case _:
            return ""


def _replaced(edits: Sequence[object]) -> str:
    added = removed = 0
    for each in edits:
        before, after = (each.get(name) if isinstance(each, Mapping) else None for name in ("old_string", "new_string"))
        if not isinstance(before, str) or not isinstance(after, str):
            return ""
        counts = _changed_lines(before.split("\n"), after.split("\n"))
        added, removed = added + counts[0], removed + counts[1]
    return t("card.change_size.changed", added=added, removed=removed) if edits else ""


def _changed_lines(before: list[str], after: list[str]) -> tuple[int, int]:
    """Between the first and the last line that differ."""
    least = min(len(before), len(after))
    start = next((at for at in range(least) if before[at] != after[at]), least)
    end = next((at for at in range(least - start) if before[-1 - at] != after[-1 - at]), least - start)
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    return (0 if come == [""] else len(come)), (0 if gone == [""] else len(gone))


def _short(title: str) -> str:
    line = title[: _TITLE + 1].replace("\n", " ")
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
