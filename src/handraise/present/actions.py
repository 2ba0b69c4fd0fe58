"""What an action is called, and what a surface needs to know of its tool to lay it out. Pure."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from handraise.model.items import ActionKind
from handraise.model.tools import MCP, Change, ToolKind, tool_named
from handraise.texts import t

_TITLE = 200
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
"""Kinds whose title is only what something is done to."""
_TITLED = ("read", "find")
"""Kinds whose title begins with what is done."""


class ToolTraits(Struct, frozen=True):
    """What decides how a call of a tool is shown and edited, so that no surface has to know tools by name."""

    kind: ToolKind
    verb: str
    """What was done, for a line about the past; empty where the title says it."""
    subject: tuple[str, ...]
    """Fields of the input: the first one with a text goes with the verb. None: the title does."""
    path: str
    """The field that names a file or a directory; empty if there is none."""
    editable: str
    """The field that a person edits as plain text; empty: all of the input, as JSON."""
    change: Change
    """How the input says what becomes of a file."""
    only_reads: bool


def traits_of(tool_name: str) -> ToolTraits:
    """The traits of the tool of this name, in the language of the hub."""
    tool = tool_named(tool_name)
    verb = t(f"card.done.{tool.words}") if tool.kind in (*_VERBS, *_TITLED) else ""
    subject = tool.subject if tool.kind in _TITLED else ()
    return ToolTraits(tool.kind, verb, subject, tool.path, tool.editable, tool.change, tool.only_reads)


def name_action(tool_name: str, fields: Mapping[str, Any]) -> tuple[ActionKind, str]:
    """The kind and the title of a call of a tool with this input; never fails, whatever the input holds."""
    tool = tool_named(tool_name)
    kind = _KINDS.get(tool.kind, "tool")
    if tool.words:
        subject = tool.subject_of(fields).strip() or tool_name
        return kind, _short(t(f"card.action.tool.{tool.words}", subject=subject[: _TITLE + 1]))
    if tool_name.startswith(MCP):
        server, _, called = tool_name.removeprefix(MCP).partition("__")
        return kind, _short(t("card.action.server", server=server, tool=called or server))
    return kind, _short(tool_name)


def doing(tool_name: str, title: str) -> str:
    """The title with what is done, where it only says what it is done to."""
    tool = tool_named(tool_name)
    return t(f"card.doing.tool.{tool.words}", title=title) if tool.kind in _VERBS else title


def _short(title: str) -> str:
    line = title[: _TITLE + 1].replace("\n", " ")
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
