"""Our entries in a project's files, by its options. Pure."""

from typing import Any

from msgspec import Struct

from handraise.model.own_tools import ASK_USER, SERVER, qualified
from handraise.model.projects import Options

SECTION = f"""## Asking the person

When you need a decision, a clarification or a confirmation, call the tool `{qualified(ASK_USER)}` and wait for the \
answer. It reaches the person wherever they are. Ask one question at a time, and offer options where you can. If \
nobody answers in time, go on with your best judgement and say what you assumed.
"""


class ProjectFiles(Struct, frozen=True):
    """Our entries in the files; empty fields add nothing."""

    server: dict[str, Any] = {}
    mode: str | None = None
    allow: tuple[str, ...] = ()
    section: str = ""


def files_for(options: Options, state: str | None = None) -> ProjectFiles:
    """If `ask_user` is off, there is no server and no section."""
    if not options.ask_user_enabled:
        return ProjectFiles(mode=options.mode, allow=options.allowed_tools)
    where = ["--state", state] if state else []
    # Without `alwaysLoad` the model doesn't see the tool: it is hidden behind ToolSearch.
    server = {"command": SERVER, "args": ["mcp", *where], "alwaysLoad": True}
    return ProjectFiles(server, options.mode, (*options.allowed_tools, qualified(ASK_USER)), SECTION)
