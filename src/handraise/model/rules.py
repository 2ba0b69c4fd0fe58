"""The rule: a standing answer. `policy` decides what it matches."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict

Decision = Literal["allow", "deny", "ask"]


class Rule(Struct, frozen=True):
    """Every condition that is set must match. Rules are tried in order; the first that matches decides."""

    id: str
    decision: Decision
    tool: str | None = None
    """A tool's name, or a pattern with `*`."""
    command: str | None = None
    """For shell tools: the words of a command; `*` matches anything (`npm run *`). Each part must match."""
    path: str | None = None
    """For file tools: a glob; relative ones are inside the project."""
    server: str | None = None
    """An MCP server's name."""
    project: str | None = None
    session: str | None = None
    """Set by "for this session"."""
    machine: str = ""
    """Where it applies, if `project` is a directory and not a project; empty everywhere."""
    mode: str | None = None
    message: str = ""
    """What Claude reads when the rule denies."""
    expires_at: datetime | None = None
    made_by: str = ""
    made_at: datetime | None = None
    source: Literal["settings", "project", "person"] = "person"


class ProjectRule(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a project may set of a `Rule`. It applies only there."""

    decision: Decision
    tool: str | None = None
    command: str | None = None
    path: str | None = None
    server: str | None = None
    mode: str | None = None
    message: str = ""
    expires_at: Annotated[datetime, Meta(tz=True)] | None = None

    def rule(self, identity: str, project: str) -> Rule:
        """The rule itself."""
        return Rule(identity, **asdict(self), project=project, source="project")
