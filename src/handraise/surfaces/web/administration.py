"""Administration over HTTP: projects, rules, tokens, audit."""

from collections.abc import AsyncIterator
from typing import Any, get_args

import msgspec
from msgspec import Struct
from starlette.responses import Response, StreamingResponse

from handraise.desk.interface import Desk
from handraise.model import tokens
from handraise.model.audit import Entry, What
from handraise.model.options import BadOption, check
from handraise.model.projects import Options, Project
from handraise.model.rules import Rule
from handraise.surfaces.web import administration_shapes as shapes
from handraise.surfaces.web.shapes import Done
from handraise.surfaces.web.visit import ORDER, BadRequest, Parameter, Visit, Way, answer

_ENTRIES = 500
_TOKEN_STATES = ("good", "gone")
_LINES = "application/x-ndjson"
_LIMIT = Parameter("limit", "how many", "integer", least=1, most=10_000)
_AFTER = Parameter("after", "entries after this number; the `next` of the page before", "integer")
_BEFORE = Parameter(
    "before", "entries before this number; the `next` of the page before, with `order=newest`", "integer"
)


async def list_projects(visit: Visit) -> Response:
    return answer(shapes.Projects(await visit.desk.projects()))


async def add_project(visit: Visit) -> Response:
    wanted = visit.body(shapes.NewProject)
    _check(wanted.options)
    return answer(await visit.desk.add_project(wanted.path, wanted.name, wanted.options), 201)


async def change_project(visit: Visit) -> Response:
    wanted = visit.body(shapes.ProjectChange)
    _check(wanted.options)
    return answer(await visit.desk.change_project(visit.path("id"), wanted.name, wanted.options))


async def list_rules(visit: Visit) -> Response:
    return answer(shapes.Rules(await visit.desk.rules()))


async def add_rule(visit: Visit) -> Response:
    wanted = visit.body(shapes.NewRule)
    if not any((wanted.tool, wanted.command, wanted.path, wanted.server)):
        raise BadRequest("A rule needs a tool, a command, a path or a server.", 422, "invalid")
    drafted = Rule(id="", **msgspec.structs.asdict(wanted))
    return answer(await visit.desk.add_rule(drafted), 201)


async def revoke_rule(visit: Visit) -> Response:
    await visit.desk.revoke(visit.path("id"))
    return answer(Done())


async def list_trust(visit: Visit) -> Response:
    return answer(shapes.Trusts(await visit.desk.trusts()))


async def revoke_trust(visit: Visit) -> Response:
    directory = visit.text("directory")
    if directory is None:
        raise BadRequest("Name the directory.", 422, "invalid")
    await visit.desk.revoke_trust(directory)
    return answer(Done())


async def list_tokens(visit: Visit) -> Response:
    gone = visit.choice("state", _TOKEN_STATES) == "gone"
    return answer(shapes.Tokens([_token(token) for token in await visit.gate.tokens(gone=gone)]))


async def make_token(visit: Visit) -> Response:
    wanted = visit.body(shapes.NewToken)
    if wanted.expires_at is not None and wanted.expires_at <= visit.gate.now():
        raise BadRequest("This token would have expired already.", 422, "invalid")
    if wanted.project is not None and wanted.role != "agent":
        raise BadRequest("Only an agent's token can be bound to a project.", 422, "invalid")
    made = await visit.gate.make(
        wanted.name,
        wanted.role,
        visit.desk.person,
        visit.desk.source,
        expires_at=wanted.expires_at,
        project=await _project(visit, wanted.project),
    )
    return answer(shapes.MadeToken(_token(made.token), made.secret), 201)


async def revoke_token(visit: Visit) -> Response:
    await visit.gate.revoke(visit.path("id"), visit.desk.person, visit.desk.source)
    return answer(Done())


async def audit(visit: Visit) -> Response:
    limit = visit.number(_LIMIT)
    search = _search(visit)
    if visit.choice("as", ("lines",)) == "lines":
        return StreamingResponse(_lines(search, limit), media_type=_LINES)
    limit = limit or _ENTRIES
    found = await search.read(None, limit + 1)
    page = found[:limit]
    return answer(shapes.Audit(page, page[-1].number if len(found) > limit else None))


async def _lines(search: "_Search", limit: int | None) -> AsyncIterator[bytes]:
    """All of them, a page at a time, up to the limit if there is one."""
    left, last = limit, None
    while left is None or left > 0:
        page = await search.read(last, _ENTRIES if left is None else min(left, _ENTRIES))
        if not page:
            return
        yield b"".join([msgspec.json.encode(entry) + b"\n" for entry in page])
        last = page[-1].number
        left = None if left is None else left - len(page)


class _Search(Struct, frozen=True):
    """The entries that are wanted, from either end."""

    desk: Desk
    after: int
    before: int | None
    newest_first: bool
    filters: dict[str, Any]

    async def read(self, last: int | None, limit: int) -> list[Entry]:
        """The next ones behind the last that was read."""
        after, before = self.after, self.before
        if last is not None:
            after, before = (after, last) if self.newest_first else (last, before)
        wanted = {**self.filters, "newest_first": self.newest_first, "limit": limit}
        return await self.desk.audit(after=after, before=before, **wanted)


def _search(visit: Visit) -> _Search:
    filters: dict[str, Any] = {name: visit.text(name) for name in ("session", "ask", "by")}
    filters |= {"what": visit.choice("what", get_args(What))}
    filters |= {"since": visit.moment("since"), "until": visit.moment("until")}
    return _Search(visit.desk, visit.number(_AFTER) or 0, visit.number(_BEFORE), visit.newest_first(), filters)


async def _project(visit: Visit, named: str | None) -> str | None:
    """The id of the project that is named by its id, name or path."""
    if named is None:
        return None
    for key in ("id", "name", "path"):
        for project in await visit.desk.projects():
            if getattr(project, key) == named:
                return project.id
    raise BadRequest(f"There is no project {named}.", 404, "not_found")


def _token(token: tokens.Token) -> shapes.Token:
    return shapes.Token(
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


_WHICH_TOKENS = (
    Parameter("state", "`gone`: revoked or expired, for 90 days; else the good ones", choices=_TOKEN_STATES),
)
_WHICH_DIRECTORY = (Parameter("directory", "the absolute path of a directory"),)
_AUDIT = (
    _AFTER,
    _BEFORE,
    Parameter("since", "from this time on", form="date-time"),
    Parameter("until", "before this time", form="date-time"),
    ORDER,
    Parameter("session", "a session's id"),
    Parameter("ask", "an ask's id"),
    Parameter("by", "a name"),
    Parameter("what", "what was done", choices=get_args(What)),
    _LIMIT,
    Parameter("as", "`lines` for JSON lines", choices=("lines",)),
)

WAYS = (
    Way("GET", "/api/projects", "viewer", list_projects, "The projects", gives=shapes.Projects, squeezes=True),
    Way("POST", "/api/projects", "admin", add_project, "Add one", shapes.NewProject, Project, 201),
    Way("PATCH", "/api/projects/{id}", "admin", change_project, "Change one", shapes.ProjectChange, Project),
    Way("GET", "/api/rules", "viewer", list_rules, "The rules, in order", gives=shapes.Rules, squeezes=True),
    Way("POST", "/api/rules", "admin", add_rule, "Add one", shapes.NewRule, Rule, 201),
    Way("DELETE", "/api/rules/{id}", "admin", revoke_rule, "Revoke one", gives=Done),
    Way("GET", "/api/trust", "viewer", list_trust, "Which directories are trusted", gives=shapes.Trusts, squeezes=True),
    Way("DELETE", "/api/trust", "admin", revoke_trust, "Ask about one again", gives=Done, parameters=_WHICH_DIRECTORY),
    Way("GET", "/api/tokens", "admin", list_tokens, "The tokens", gives=shapes.Tokens, parameters=_WHICH_TOKENS),
    Way("POST", "/api/tokens", "admin", make_token, "Make one", shapes.NewToken, shapes.MadeToken, 201),
    Way("DELETE", "/api/tokens/{id}", "admin", revoke_token, "Revoke one, at once", gives=Done),
    Way(
        "GET",
        "/api/audit",
        "admin",
        audit,
        "Who did what",
        gives=shapes.Audit,
        parameters=_AUDIT,
        or_media=_LINES,
        squeezes=True,
        lasts=True,
    ),
)
