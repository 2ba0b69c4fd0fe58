"""Claude's tools: the kind of each, what matters in its input, and the keys of its texts. One table; pure.

Everything that treats tools differently uses this table. Unlisted tools are `other`.
"""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

ToolKind = Literal[
    "shell",
    "process",
    "write",
    "edit",
    "read",
    "find",
    "fetch",
    "search",
    "agent",
    "skill",
    "question",
    "plan",
    "note",
    "lookup",
    "other",
]
"""`process`: a command that already runs. `find`: looks through files. `search`: looks through the web.
`note`: Claude's own bookkeeping. `lookup`: looks through Claude's own tools."""
Change = Literal["", "whole", "replacement", "replacements", "cell"]
"""How the input describes the change to a file: its whole text, one or several replacements, or a notebook cell."""

MCP = "mcp__"
_PATHS = ("file_path", "notebook_path", "path")


class Tool(Struct, frozen=True):
    """One tool. Fields of its input are named as Claude names them."""

    name: str
    kind: ToolKind = "other"
    words: str = ""
    """The last part of its text keys: `card.permission.tool.…`, `card.action.tool.…` and so on."""
    subject: tuple[str, ...] = ()
    """What it is used on: the first of these fields that has a text."""
    silent: tuple[str, ...] = ()
    """Fields that say nothing more about what it does."""
    path: str = ""
    """The field that names a file or a directory."""
    editable: str = ""
    """The field that a person edits as plain text."""
    says: str = ""
    """The field in which Claude describes a call in its own words."""
    change: Change = ""
    inward: bool = False
    """It touches nothing outside Claude: its own list, or the output of a command that was allowed before."""

    @property
    def only_reads(self) -> bool:
        """Whether it looks at something and changes nothing."""
        return self.kind in ("read", "find", "lookup")

    @property
    def is_about_a_file(self) -> bool:
        """Whether its subject is a path."""
        return self.path in self.subject

    def subject_of(self, fields: Mapping[str, Any]) -> str:
        """What a call is used on; empty if its input doesn't say."""
        texts = (fields.get(name) for name in self.subject)
        return next((text for text in texts if isinstance(text, str) and text.strip()), "")

    def says_all(self, fields: Mapping[str, Any]) -> bool:
        """Whether the subject is all there is to see of a call."""
        named = next((each for each in self.subject if isinstance(fields.get(each), str) and fields[each]), None)
        return named is not None and set(fields) <= {named, *self.silent}


_TABLE = (
    Tool("Bash", "shell", "run", ("command",), ("description", "timeout"), editable="command", says="description"),
    Tool("BashOutput", "process", "output", ("bash_id",), inward=True),
    Tool("KillShell", "process", "kill", ("shell_id",)),
    Tool("Write", "write", "write", _PATHS, path="file_path", editable="content", change="whole"),
    Tool("Edit", "edit", "edit", _PATHS, path="file_path", editable="new_string", change="replacement"),
    Tool("MultiEdit", "edit", "edit", _PATHS, path="file_path", change="replacements"),
    Tool("NotebookEdit", "edit", "edit", _PATHS, path="notebook_path", editable="new_source", change="cell"),
    Tool("Read", "read", "read", _PATHS, ("offset", "limit"), path="file_path"),
    Tool("NotebookRead", "read", "read", _PATHS, path="notebook_path"),
    Tool("Glob", "find", "glob", ("pattern",), path="path"),
    Tool("Grep", "find", "grep", ("pattern",), path="path"),
    Tool("LS", "find", "list", _PATHS, path="path"),
    Tool("WebFetch", "fetch", "fetch", ("url",), ("prompt",), editable="url"),
    Tool("WebSearch", "search", "search", ("query",), editable="query"),
    Tool("Task", "agent", "agent", ("description", "prompt")),
    Tool("Agent", "agent", "agent", ("description", "prompt")),
    Tool("AskUserQuestion", "question", "ask"),
    Tool("ExitPlanMode", "plan", "plan"),
    Tool("EnterPlanMode", "note", "planning"),
    Tool("TodoWrite", "note", "todo", inward=True),
    Tool("TodoRead", "note", "todos", inward=True),
    Tool("Skill", "skill", "skill", ("skill", "command")),
    Tool("ToolSearch", "lookup", "tools", ("query",)),
    Tool("TaskStop", "other", "stop", ("task_id",)),
)
TOOLS = {tool.name: tool for tool in _TABLE}
TOOL_KINDS = {tool.name: tool.kind for tool in _TABLE}


def tool_named(name: str) -> Tool:
    """The tool of this name; unknown ones are `other`."""
    return TOOLS.get(name) or Tool(name)


def names_of(*kinds: ToolKind) -> frozenset[str]:
    """The names of every tool of these kinds."""
    return frozenset(tool.name for tool in _TABLE if tool.kind in kinds)


def of_server(name: str) -> tuple[str, str] | None:
    """The MCP server and its tool, if the name is one of theirs."""
    server, _, tool = name.removeprefix(MCP).partition("__")
    return (server, tool) if name.startswith(MCP) and server and tool else None
