"""What a tool call is called: its kind, and a title that a person recognises. Pure."""

from collections.abc import Mapping
from typing import Any

from handraise.model.items import ActionKind

_TITLE = 200

_PATHS = ("file_path", "path", "notebook_path")
_BY_TOOL: dict[str, tuple[ActionKind, tuple[str, ...], str]] = {
    "Bash": ("command", ("command",), ""),
    "BashOutput": ("command", ("bash_id",), "Output of "),
    "KillShell": ("command", ("shell_id",), "Stop shell "),
    "Edit": ("file_change", _PATHS, ""),
    "Write": ("file_change", _PATHS, ""),
    "MultiEdit": ("file_change", _PATHS, ""),
    "NotebookEdit": ("file_change", _PATHS, ""),
    "WebSearch": ("web_search", ("query",), ""),
    "WebFetch": ("web_search", ("url",), ""),
    "Read": ("tool", _PATHS, "Read "),
    "Glob": ("tool", ("pattern",), "Find "),
    "Grep": ("tool", ("pattern",), "Search "),
    "LS": ("tool", _PATHS, "List "),
    "Task": ("tool", ("description", "prompt"), "Agent: "),
    "Agent": ("tool", ("description", "prompt"), "Agent: "),
    "Skill": ("tool", ("skill", "command"), "Skill "),
    "ToolSearch": ("tool", ("query",), "Look for tools: "),
    "TaskStop": ("tool", ("task_id",), "Stop task "),
}
_NOTES = {
    "TodoWrite": "Update the to-do list",
    "TodoRead": "Look at the to-do list",
    "AskUserQuestion": "Ask",
    "EnterPlanMode": "Begin to plan",
    "ExitPlanMode": "Show the plan",
}


def name(tool: str, told: Mapping[str, Any]) -> tuple[ActionKind, str]:
    """The kind and the title of a call of `tool` with this input; never fails, whatever the input holds."""
    if tool in _NOTES:
        return "note", _NOTES[tool]
    if tool in _BY_TOOL:
        kind, keys, before = _BY_TOOL[tool]
        return kind, _short(before + (_first(told, keys) or tool))
    if tool.startswith("mcp__"):
        server, _, called = tool.removeprefix("mcp__").partition("__")
        return "tool", _short(f"{server}: {called or server}")
    return "tool", _short(tool)


def _first(told: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = told.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _short(title: str) -> str:
    line = title[: _TITLE + 1].replace("\n", " ")
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
