"""The call: one use of a tool, as a rule sees it, and what kinds of tools there are."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from handraise.model.tools import MCP, TOOLS, names_of

SHELL_TOOLS = names_of("shell")
_COMMANDS = frozenset({"command", "cmd", "commands", "shell_command", "bash_command", "script", "argv"})
"""Input fields that hold something to run."""
FILE_TOOLS = {name: tool.path for name, tool in TOOLS.items() if tool.path}
"""Which input names the file or directory."""
READING_TOOLS = names_of("read", "find")
SEARCHING_TOOLS = names_of("find")
"""Without a path they search the working directory."""
INWARD_TOOLS = frozenset(name for name, tool in TOOLS.items() if tool.inward)
PEOPLE_TOOLS = names_of("question", "plan")
_PEOPLE_ENDINGS = ("__ask_user", "__approval_prompt")
_SHELL_INPUT = frozenset({"command", "description", "timeout", "timeout_ms", "run_in_background", "persistent"})


class Call(Struct, frozen=True):
    """A tool, its input, and where it is used. `directory` is the project's, absolute."""

    tool: str
    input: Mapping[str, Any]
    directory: str
    project: str | None = None
    session: str | None = None
    mode: str = "default"
    server: str | None = None
    """The MCP server, if known; otherwise the tool's name tells."""
    cwd: str | None = None
    """Where it is used, if not in the project's directory itself."""

    @property
    def is_for_people(self) -> bool:
        """A question or a plan: only a person can answer it."""
        return self.tool in PEOPLE_TOOLS or self.tool.endswith(_PEOPLE_ENDINGS)

    @property
    def is_shell(self) -> bool:
        """Any tool that takes a command runs it."""
        return self.tool in SHELL_TOOLS or (self.tool not in FILE_TOOLS and not _COMMANDS.isdisjoint(self.input))

    @property
    def is_known_shell(self) -> bool:
        """Whether the command is certainly for a shell that we can parse."""
        return self.tool in SHELL_TOOLS

    @property
    def command(self) -> str | None:
        """What a shell tool would run; None if it is missing, or comes with unknown fields."""
        command = self.input.get("command")
        if not isinstance(command, str) or any(self.input[key] for key in self.input if key not in _SHELL_INPUT):
            return None
        return command

    @property
    def runnable(self) -> tuple[str, ...]:
        """Everything in the input that could be run, also what `command` can't be sure about."""
        if not self.is_shell:
            return ()
        values = (self.input[key] for key in self.input if key in _COMMANDS)
        return tuple(" ".join(map(str, each)) if isinstance(each, list | tuple) else str(each) for each in values)

    @property
    def servers(self) -> tuple[str, ...]:
        """Every server that the name could mean: `mcp__a__b__c` is `b__c` of `a`, or `c` of `a__b`."""
        if self.server is not None:
            return (self.server,)
        if not self.tool.startswith(MCP):
            return ()
        pieces = self.tool.removeprefix(MCP).split("__")
        return tuple("__".join(pieces[:count]) for count in range(1, len(pieces)))
