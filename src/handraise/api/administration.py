"""Administration over HTTP: projects, rules, trust, tokens and the audit log, with their types."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, get_args

import msgspec
from msgspec import Struct
from starlette.responses import Response, StreamingResponse

from handraise.api.requests import ORDER, ApiRequest, BadRequest, Parameter, Route, answer
from handraise.api.schemas import Done, Moment, Name, check_time
from handraise.desk.interface import Desk, Refused
from handraise.model import tokens
from handraise.model.audit import Entry, What
from handraise.model.projects import BadOption, Options, Project, check
from handraise.model.rules import Decision, Rule
from handraise.model.tokens import Role
from handraise.model.trust import DirectoryTrust
from handraise.texts import t

_ENTRIES = 500
_TOKEN_STATES = ("good", "gone")
_LINES = "application/x-ndjson"
_LIMIT = Parameter("limit", "How many to return", "integer", least=1, most=10_000)
_AFTER = Parameter("after", "Entries after this number: the `next` of the previous page", "integer")
_BEFORE = Parameter(
    "before", "Entries before this number: with `order=newest`, the `next` of the previous page", "integer"
)
_WHICH_TOKENS = (
    Parameter("state", "`gone`: revoked or expired in the last 90 days. Default: valid tokens", choices=_TOKEN_STATES),
)
_WHICH_DIRECTORY = (
    Parameter("directory", "Absolute path of a directory"),
    Parameter("machine", "A machine's ID or name; default: the hub's own"),
)
_AUDIT = (
    _AFTER,
    _BEFORE,
    Parameter("since", "Entries at or after this time", form="date-time"),
    Parameter("until", "Entries before this time", form="date-time"),
    ORDER,
    Parameter("session", "A session's ID"),
    Parameter("ask", "An ask's ID"),
    Parameter("by", "Who did it"),
    Parameter("what", "What was done", choices=get_args(What)),
    _LIMIT,
    Parameter("as", "`lines` returns JSON lines", choices=("lines",)),
)


class Projects(Struct, frozen=True):
    """All projects, by name."""

    projects: list[Project]


class NewProject(Struct, frozen=True, forbid_unknown_fields=True):
    """A directory, with an optional name and options."""

    path: str
    name: str | None = None
    options: Options = Options()
    machine: str | None = None
    """The ID or name of the machine that the directory is on. Default: the hub's own."""


class ProjectChange(Struct, frozen=True, forbid_unknown_fields=True):
    """What changes. Fields that are left out stay the same."""

    name: str | None = None
    options: Options | None = None
    path: str | None = None
    """Its directory on `machine`; empty removes it there."""
    machine: str | None = None
    """A machine's ID or name. Default: the hub's own."""


class Rules(Struct, frozen=True):
    """All rules, in the order they are tried."""

    rules: list[Rule]


class Trusts(Struct, frozen=True):
    """Decisions about directories, by directory."""

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
    machine: str = ""
    """Where `project` is, if that is a directory. Default: the hub's own machine."""
    message: str = ""
    expires_at: Moment | None = None

    def __post_init__(self) -> None:
        check_time(self.expires_at)


class TokenSchema(Struct, frozen=True):
    """A token, without its secret."""

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
    """Tokens, oldest first."""

    tokens: list[TokenSchema]


class NewToken(Struct, frozen=True, forbid_unknown_fields=True):
    """A name, a role, an optional expiry date and, for an agent, an optional project."""

    name: Name
    role: Role
    expires_at: Moment | None = None
    project: str | None = None

    def __post_init__(self) -> None:
        check_time(self.expires_at)


class MadeToken(Struct, frozen=True):
    """A new token. Its secret is shown only once."""

    token: TokenSchema
    secret: str


class Audit(Struct, frozen=True):
    """Entries in order. `next` continues from here."""

    entries: list[Entry]
    next: int | None


async def list_projects(request: ApiRequest) -> Response:
    return answer(Projects(await request.desk.projects()))


async def add_project(request: ApiRequest) -> Response:
    wanted = request.body(NewProject)
    _check(wanted.options)
    return answer(await request.desk.add_project(wanted.path, wanted.name, wanted.options, wanted.machine), 201)


async def change_project(request: ApiRequest) -> Response:
    wanted = request.body(ProjectChange)
    _check(wanted.options)
    desk, project = request.desk, request.path("id")
    return answer(await desk.change_project(project, wanted.name, wanted.options, wanted.path, wanted.machine))


async def remove_project(request: ApiRequest) -> Response:
    project = await _project(request, request.path("id"))
    for token in await request.auth.tokens():
        if token.project == project:
            raise Refused(t("error.project_has_token", token=token.name))
    await request.desk.remove_project(project or "")
    return answer(Done())


async def list_rules(request: ApiRequest) -> Response:
    return answer(Rules(await request.desk.rules()))


async def add_rule(request: ApiRequest) -> Response:
    wanted = request.body(NewRule)
    if not any((wanted.tool, wanted.command, wanted.path, wanted.server)):
        raise BadRequest(t("error.rule_empty"), 422, "invalid")
    drafted = Rule(id="", **msgspec.structs.asdict(wanted))
    return answer(await request.desk.add_rule(drafted), 201)


async def revoke_rule(request: ApiRequest) -> Response:
    await request.desk.revoke(request.path("id"))
    return answer(Done())


async def list_trust(request: ApiRequest) -> Response:
    return answer(Trusts(await request.desk.trusts()))


async def revoke_trust(request: ApiRequest) -> Response:
    directory = request.text("directory")
    if directory is None:
        raise BadRequest("`directory` is required.", 422, "invalid")
    await request.desk.revoke_trust(directory, request.text("machine") or "")
    return answer(Done())


async def list_tokens(request: ApiRequest) -> Response:
    gone = request.choice("state", _TOKEN_STATES) == "gone"
    return answer(Tokens([_token(token) for token in await request.auth.tokens(gone=gone)]))


async def make_token(request: ApiRequest) -> Response:
    wanted = request.body(NewToken)
    if wanted.expires_at is not None and wanted.expires_at <= request.auth.now():
        raise BadRequest(t("error.expiry_past"), 422, "invalid")
    if wanted.project is not None and wanted.role != "agent":
        raise BadRequest(t("error.agent_tokens_only"), 422, "invalid")
    made = await request.auth.make(
        wanted.name,
        wanted.role,
        request.desk.person,
        request.desk.source,
        expires_at=wanted.expires_at,
        project=await _project(request, wanted.project),
    )
    return answer(MadeToken(_token(made.token), made.secret), 201)


async def revoke_token(request: ApiRequest) -> Response:
    await request.auth.revoke(request.path("id"), request.desk.person, request.desk.source)
    return answer(Done())


async def audit(request: ApiRequest) -> Response:
    limit = request.number(_LIMIT)
    search = _search(request)
    if request.choice("as", ("lines",)) == "lines":
        return StreamingResponse(_lines(search, limit), media_type=_LINES)
    limit = limit or _ENTRIES
    found = await search.read(None, limit + 1)
    page = found[:limit]
    return answer(Audit(page, page[-1].number if len(found) > limit else None))


async def _lines(search: "_Search", limit: int | None) -> AsyncIterator[bytes]:
    """All entries, a page at a time, up to the limit if there is one."""
    left, last = limit, None
    while left is None or left > 0:
        page = await search.read(last, _ENTRIES if left is None else min(left, _ENTRIES))
        if not page:
            return
        yield b"".join([msgspec.json.encode(entry) + b"\n" for entry in page])
        last = page[-1].number
        left = None if left is None else left - len(page)


class _Search(Struct, frozen=True):
    """A search in the audit log, from either end."""

    desk: Desk
    after: int
    before: int | None
    newest_first: bool
    filters: dict[str, Any]

    async def read(self, last: int | None, limit: int) -> list[Entry]:
        """The entries that follow the last one read."""
        after, before = self.after, self.before
        if last is not None:
            after, before = (after, last) if self.newest_first else (last, before)
        wanted = {**self.filters, "newest_first": self.newest_first, "limit": limit}
        return await self.desk.audit(after=after, before=before, **wanted)


def _search(request: ApiRequest) -> _Search:
    filters: dict[str, Any] = {name: request.text(name) for name in ("session", "ask", "by")}
    filters |= {"what": request.choice("what", get_args(What))}
    filters |= {"since": request.moment("since"), "until": request.moment("until")}
    return _Search(request.desk, request.number(_AFTER) or 0, request.number(_BEFORE), request.newest_first(), filters)


async def _project(request: ApiRequest, named: str | None) -> str | None:
    """The ID of a project that is named by its ID, name or path."""
    if named is None:
        return None
    for key in ("id", "name", "path"):
        for project in await request.desk.projects():
            if getattr(project, key) == named:
                return project.id
    raise BadRequest(t("error.no_project", project=named), 404, "not_found")


def _token(token: tokens.Token) -> TokenSchema:
    return TokenSchema(
        id=token.id,
        name=token.name,
        role=token.role,
        kind=token.kind,
        created_at=token.created_at,
        expires_at=token.expires_at,
        last_used_at=token.last_used_at,
        revoked_at=token.revoked_at,
        project=token.project,
    )


def _check(options: Options | None) -> None:
    try:
        check(options or Options())
    except BadOption as error:
        raise BadRequest(str(error), 422, "invalid") from error


ROUTES = (
    Route("GET", "/api/projects", "viewer", list_projects, "List projects", returns=Projects, compress=True),
    Route("POST", "/api/projects", "admin", add_project, "Add a project", NewProject, Project, 201),
    Route("PATCH", "/api/projects/{id}", "admin", change_project, "Change a project", ProjectChange, Project),
    Route("DELETE", "/api/projects/{id}", "admin", remove_project, "Remove a project and its rules", returns=Done),
    Route("GET", "/api/rules", "viewer", list_rules, "List rules in order", returns=Rules, compress=True),
    Route("POST", "/api/rules", "admin", add_rule, "Add a rule", NewRule, Rule, 201),
    Route("DELETE", "/api/rules/{id}", "admin", revoke_rule, "Revoke a rule", returns=Done),
    Route("GET", "/api/trust", "viewer", list_trust, "List decisions about directories", returns=Trusts, compress=True),
    Route(
        "DELETE",
        "/api/trust",
        "admin",
        revoke_trust,
        "Forget the decision about a directory",
        returns=Done,
        parameters=_WHICH_DIRECTORY,
    ),
    Route("GET", "/api/tokens", "admin", list_tokens, "List tokens", returns=Tokens, parameters=_WHICH_TOKENS),
    Route("POST", "/api/tokens", "admin", make_token, "Create a token", NewToken, MadeToken, 201),
    Route("DELETE", "/api/tokens/{id}", "admin", revoke_token, "Revoke a token immediately", returns=Done),
    Route(
        "GET",
        "/api/audit",
        "admin",
        audit,
        "List who did what",
        returns=Audit,
        parameters=_AUDIT,
        alternate_media=_LINES,
        compress=True,
        long_lived=True,
    ),
)
