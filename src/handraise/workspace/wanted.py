"""What a project's files are to say, by its options. Pure."""

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
    """What is ours in the files; empty fields want nothing."""

    server: dict[str, Any] = {}
    mode: str | None = None
    allow: tuple[str, ...] = ()
    section: str = ""


def files_for(options: Options, state: str | None = None) -> ProjectFiles:
    """With `ask_user` switched off there is no server and no section; the rest stays."""
    if not options.ask_user_enabled:
        return ProjectFiles(mode=options.mode, allow=options.allowed_tools)
    place = ["--state", state] if state else []
    # Without `alwaysLoad` the model never sees the tool: it hides behind ToolSearch.
    server = {"command": SERVER, "args": ["mcp", *place], "alwaysLoad": True}
    return ProjectFiles(server, options.mode, (*options.allowed_tools, qualified(ASK_USER)), SECTION)
