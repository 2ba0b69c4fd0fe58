"""What an action is called, and what a surface needs to know about its tool to lay it out. Pure."""

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
        return kind, _short(t(f"card.action.tool.{tool.words}", subject=subject[: _TITLE + 1]))
    if tool_name.startswith(MCP):
        server, _, called = tool_name.removeprefix(MCP).partition("__")
        return kind, _short(t("card.action.server", server=server, tool=called or server))
    return kind, _short(tool_name)


def doing(tool_name: str, title: str) -> str:
    """The title with its verb, if it only names the object."""
    tool = tool_named(tool_name)
    return t(f"card.doing.tool.{tool.words}", title=title) if tool.kind in _VERBS else title


def _short(title: str) -> str:
    line = title[: _TITLE + 1].replace("\n", " ")
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
