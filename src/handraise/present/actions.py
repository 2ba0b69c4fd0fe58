"""What an action is called: its kind, a recognizable title, and the line while it runs. Pure."""

from collections.abc import Mapping
from typing import Any

from handraise.model.items import ActionKind
from handraise.model.tools import MCP, ToolKind, tool_named
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
