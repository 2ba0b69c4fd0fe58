"""The shapes of projects, rules, tokens and the audit over HTTP."""

from datetime import datetime

from msgspec import Struct

from handraise.model.audit import Entry
from handraise.model.projects import Options, Project
from handraise.model.rules import Decision, Rule
from handraise.model.tokens import Role
from handraise.model.trust import DirectoryTrust
from handraise.surfaces.web.shapes import Moment, Name, check_time


class Projects(Struct, frozen=True):
    """All of them, by name."""

    projects: list[Project]


class NewProject(Struct, frozen=True, forbid_unknown_fields=True):
    """A directory, perhaps with a name and options."""

    path: str
    name: str | None = None
    options: Options = Options()


class ProjectChange(Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be another one; what is left out stays."""

    name: str | None = None
    options: Options | None = None


class Rules(Struct, frozen=True):
    """In the order in which they are tried."""

    rules: list[Rule]


class Trusts(Struct, frozen=True):
    """What was decided about directories, by directory."""

    trust: list[DirectoryTrust]


class NewRule(Struct, frozen=True, forbid_unknown_fields=True):
    """A standing answer."""

    decision: Decision
    tool: str | None = None
    command: str | None = None
    path: str | None = None
    server: str | None = None
    project: str | None = None
    session: str | None = None
    mode: str | None = None
    message: str = ""
    expires_at: Moment | None = None

    def __post_init__(self) -> None:
        check_time(self.expires_at)


class TokenSchema(Struct, frozen=True):
    """A token, without what makes it one."""

    id: str
    name: str
    role: Role
    kind: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    project: str | None


class Tokens(Struct, frozen=True):
    """Oldest first."""

    tokens: list[TokenSchema]


class NewToken(Struct, frozen=True, forbid_unknown_fields=True):
    """A name, a role, and perhaps an end; for an agent, perhaps the project that it works in."""

    name: Name
    role: Role
    expires_at: Moment | None = None
    project: str | None = None

    def __post_init__(self) -> None:
        check_time(self.expires_at)


class MadeToken(Struct, frozen=True):
    """The secret is shown this once."""

    token: TokenSchema
    secret: str


class Audit(Struct, frozen=True):
    """In order; `next` goes on from here."""

    entries: list[Entry]
    next: int | None
