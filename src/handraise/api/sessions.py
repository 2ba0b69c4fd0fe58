"""Sessions over HTTP: start, list, send messages, steer; with their types."""

from base64 import b64decode
from binascii import Error
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from msgspec import Struct
from starlette.responses import Response

from handraise.api.requests import TEXTS, ApiRequest, BadRequest, Parameter, Route, answer
from handraise.api.schemas import Done, Name
from handraise.desk.interface import Refused, SessionSummary
from handraise.model.actors import Actor
from handraise.model.search import SearchFilter, SearchPage
from handraise.model.sessions import Ended, Phase, state_of
from handraise.model.usage import UsageLimit
from handraise.texts import t

_LARGEST_MESSAGE = 40 * 1024 * 1024
_PAGE = 200
_ITEMS = 500
_MOST_SESSIONS = Parameter("limit", "How many to return", "integer", least=1, most=1000)
_MOST_ITEMS = Parameter("limit", "How many to return", "integer", least=1, most=5000)
_AFTER = Parameter("after", "Items after this cursor, first ones first", "integer")
_BEFORE = Parameter("before", "The last items before this cursor", "integer")
_SEARCH = (
    Parameter("project", "A project's ID or directory"),
    Parameter("state", "A state or phase"),
    Parameter("machine", "A machine's ID or name"),
    Parameter("q", "Text in the title, directory or ID"),
    Parameter("after", "The `next` of the previous page"),
    _MOST_SESSIONS,
)
_PLACE = (
    _AFTER,
    _BEFORE,
    _MOST_ITEMS,
    TEXTS,
)
_FOUND = 50
_MOST_FOUND = Parameter("limit", "How many to return", "integer", least=1, most=200)
_FINDING = (
    Parameter("q", "Words; each has to be there, in any order"),
    Parameter("session", "Only this session"),
    Parameter("project", "Only sessions of this project: its ID or directory"),
    Parameter("state", "Only sessions in this state or phase; `running`: all that haven't ended"),
    Parameter("since", "Only items at or after this time", form="date-time"),
    Parameter("until", "Only items before this time", form="date-time"),
    Parameter("by", "Only what `people`, `claude` or `tools` wrote, or the person with this name"),
    _BEFORE,
    _MOST_FOUND,
)
_PLACE_OF_ALL = (*_PLACE, Parameter("session", "Only this session"))


class ImageSchema(Struct, frozen=True, forbid_unknown_fields=True):
    """An image to send with a message."""

    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str
    """Base64."""

    def __post_init__(self) -> None:
        _check(self.data)


class TextBlockSchema(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="text"):
    """A piece of text."""

    text: str


class SourceSchema(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="base64"):
    """The content of a block, as Base64."""

    media_type: str
    data: str

    def __post_init__(self) -> None:
        _check(self.data)


class ImageBlockSchema(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="image"):
    """An image."""

    source: SourceSchema


class DocumentBlockSchema(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="document"):
    """A document, such as a PDF."""

    source: SourceSchema


Blocks = tuple[TextBlockSchema | ImageBlockSchema | DocumentBlockSchema, ...]


class NewSession(Struct, frozen=True, forbid_unknown_fields=True):
    """A new session. With `resume` or `fork`, the session that it continues."""

    say: str | Blocks
    project: str | None = None
    mode: Name | None = None
    model: Name | None = None
    title: str | None = None
    machine: str | None = None
    """A machine's ID or name, or `any`: the least busy one that is online and has the project."""
    resume: str | None = None
    fork: str | None = None
    images: tuple[ImageSchema, ...] = ()


class SessionSchema(Struct, frozen=True):
    """A session. `state` is its phase in plain words."""

    id: str
    machine: str
    """The machine that it runs on."""
    project: str | None
    directory: str
    claude_id: str
    title: str
    state: str
    phase: Phase
    mode: str
    model: str | None
    cost_usd: float
    open_asks: int
    run: int
    created_at: datetime
    changed_at: datetime
    ended: Ended | None
    stuck_since: datetime | None
    forked_from: str | None
    terminal: str
    """The machine where a person runs it in a terminal. Empty if Handraise runs it."""
    dialog: str
    """What waits in that terminal and can be answered only there. Empty if nothing does."""
    last_line: str
    """The last thing that Claude said or did. Empty at first."""
    usage: tuple[UsageLimit, ...]
    """The usage limits of the account, as Claude reported them last. Empty with an API key."""


class Sessions(Struct, frozen=True):
    """A page of sessions. Follow the feed from `cursor`."""

    sessions: list[SessionSchema]
    next: str | None
    cursor: int


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    """A message: text and images, or blocks as in the Messages API. A repeated `id` is sent once."""

    text: str | None = None
    content: Blocks | None = None
    images: tuple[ImageSchema, ...] = ()
    id: UUID | None = None


class MaybeWords(Struct, frozen=True, forbid_unknown_fields=True):
    """An optional message."""

    say: str | Blocks | None = None
    images: tuple[ImageSchema, ...] = ()


class SaidSchema(Struct, frozen=True):
    """A stored message, on its way to Claude."""

    say: str
    session: str
    by: Actor
    source: str
    at: datetime


class Mode(Struct, frozen=True, forbid_unknown_fields=True):
    """A permission mode, as Claude names it."""

    mode: Name


class Model(Struct, frozen=True, forbid_unknown_fields=True):
    """A model, as Claude names it."""

    model: Name


class Title(Struct, frozen=True, forbid_unknown_fields=True):
    """A session's title."""

    title: str


class Items(Struct, frozen=True):
    """Items of a timeline, each with `cursor`, `session`, `at`, `type` and the fields of its type."""

    items: list[dict[str, Any]]
    next: int | None
    cursor: int


def _check(data: str) -> None:
    """An unreadable attachment would stay in the conversation, and every turn would fail."""
    try:
        if b64decode(data, validate=True):
            return
    except (Error, ValueError):
        pass
    raise ValueError("Attachments must be Base64 and not empty")


async def start(request: ApiRequest) -> Response:
    wanted = request.body(NewSession)
    words = _words(wanted.say, wanted.images)
    desk = request.desk
    if wanted.resume and wanted.fork:
        raise BadRequest("Use `resume` or `fork`, not both.", 422, "invalid")
    if wanted.resume:
        seen = await desk.resume(wanted.resume, words)
    elif wanted.fork:
        seen = await desk.fork(wanted.fork, words)
    elif wanted.project:
        seen = await desk.start(
            words, wanted.project, mode=wanted.mode, model=wanted.model, title=wanted.title, machine=wanted.machine
        )
    else:
        raise BadRequest("`project` is required: an ID, a name or an absolute path.", 422, "invalid")
    return answer(_session(seen), 201)


async def list_all(request: ApiRequest) -> Response:
    cursor = await request.desk.newest()
    machine = await _machine(request)
    seen = [each for each in await request.desk.sessions() if _fits(each, request, machine)]
    after, limit = request.text("after"), request.number(_MOST_SESSIONS) or _PAGE
    if after is not None:
        ids = [each.session.id for each in seen]
        seen = seen[ids.index(after) + 1 :] if after in ids else []
    page = seen[:limit]
    more = page[-1].session.id if len(seen) > limit else None
    return answer(Sessions([_session(each) for each in page], more, cursor))


async def look(request: ApiRequest) -> Response:
    return answer(_session(await request.desk.session(request.path("id"))))


async def rename(request: ApiRequest) -> Response:
    await request.desk.rename(request.path("id"), request.body(Title).title)
    return await look(request)


async def remove(request: ApiRequest) -> Response:
    await request.desk.remove(request.path("id"))
    return answer(Done())


async def say(request: ApiRequest) -> Response:
    wanted = request.body(Words)
    if wanted.content and (wanted.text or wanted.images):
        raise BadRequest("Send `text` and `images`, or `content`, not both.", 422, "invalid")
    words = _words(wanted.content or wanted.text or "", wanted.images)
    stored = await request.desk.say(request.path("id"), words, str(wanted.id) if wanted.id else None)
    return answer(SaidSchema(stored.id, stored.session, stored.by, stored.source, stored.at), 202)


async def interrupt(request: ApiRequest) -> Response:
    await request.desk.interrupt(request.path("id"))
    return answer(Done(), 202)


async def allow_denied(request: ApiRequest) -> Response:
    await request.desk.allow_denied(request.path("id"), request.path("action"))
    return answer(Done(), 202)


async def stop(request: ApiRequest) -> Response:
    await request.desk.stop(request.path("id"))
    return answer(Done(), 202)


async def change_mode(request: ApiRequest) -> Response:
    await request.desk.change_mode(request.path("id"), request.body(Mode).mode)
    return answer(Done(), 202)


async def change_model(request: ApiRequest) -> Response:
    await request.desk.change_model(request.path("id"), request.body(Model).model)
    return answer(Done(), 202)


async def resume(request: ApiRequest) -> Response:
    wanted = request.body(MaybeWords)
    words = _words(wanted.say or "", wanted.images) if wanted.say is not None or wanted.images else None
    return answer(_session(await request.desk.resume(request.path("id"), words)), 202)


async def fork(request: ApiRequest) -> Response:
    wanted = request.body(MaybeWords)
    if not wanted.say and not wanted.images:
        raise Refused(t("error.fork_message"))
    return answer(_session(await request.desk.fork(request.path("id"), _words(wanted.say or "", wanted.images))), 202)


async def items(request: ApiRequest) -> Response:
    return await _page(request, (await request.desk.session(request.path("id"))).session.id)


async def all_items(request: ApiRequest) -> Response:
    return await _page(request, request.text("session"))


async def search(request: ApiRequest) -> Response:
    limit, before = request.number(_MOST_FOUND) or _FOUND, request.number(_BEFORE)
    session = request.text("session")
    only = SearchFilter(
        request.text("project"),
        request.text("state"),
        request.moment("since"),
        request.moment("until"),
        request.text("by"),
    )
    found = await request.desk.search(request.text("q") or "", session=session, before=before, limit=limit, only=only)
    return answer(found)


async def _page(request: ApiRequest, session: str | None) -> Response:
    limit = request.number(_MOST_ITEMS) or _ITEMS
    cursor = await request.desk.newest()
    before, after = request.number(_BEFORE), request.number(_AFTER)
    # Up to the cursor in the response, so that a client that follows from there gets nothing twice.
    before = min(cursor + 1, cursor + 1 if before is None else before)
    found = await request.desk.items(session, after=after, before=before, limit=limit + 1)
    backwards = after is None
    page = (found[-limit:] if backwards else found[:limit]) if len(found) > limit else found
    more = (page[0].cursor if backwards else page[-1].cursor) if len(found) > limit else None
    inside = b",".join(await request.cards.items(page, request.desk, cut=request.wants_excerpts()))
    body = b'{"items":[%s],"next":%s,"cursor":%d}' % (inside, msgspec.json.encode(more), cursor)
    return Response(body, media_type="application/json")


def _words(content: str | Blocks, images: tuple[ImageSchema, ...]) -> str | tuple[dict[str, Any], ...]:
    if not images and isinstance(content, str) and content.strip():
        return content
    pictures = tuple(ImageBlockSchema(SourceSchema(each.media_type, each.data)) for each in images)
    if isinstance(content, str):
        content = (TextBlockSchema(content),) if content.strip() else ()
    blocks: tuple[dict[str, Any], ...] = msgspec.to_builtins((*content, *pictures))
    if not blocks:
        raise BadRequest(t("sessions.refused.empty"), 422, "invalid")
    return blocks


def _session(seen: SessionSummary) -> SessionSchema:
    session = seen.session
    return SessionSchema(
        id=session.id,
        machine=session.machine,
        project=session.project,
        directory=session.directory,
        claude_id=session.claude_id,
        title=session.title,
        state=state_of(session, seen.open_asks),
        phase=session.phase,
        mode=session.mode,
        model=session.model,
        cost_usd=session.cost_usd,
        open_asks=seen.open_asks,
        run=session.run,
        created_at=session.created_at,
        changed_at=session.changed_at,
        ended=session.ended,
        stuck_since=session.stuck_since,
        forked_from=session.forked_from,
        terminal=session.terminal,
        dialog=session.dialog,
        last_line=seen.last_line,
        usage=session.usage,
    )


async def _machine(request: ApiRequest) -> frozenset[str]:
    """What sessions of the wanted machine have as theirs; empty if any will do. In old databases, ours is nameless."""
    wanted = request.text("machine")
    if wanted is None:
        return frozenset()
    known = [each for each in await request.desk.machines() if wanted in (each.machine.id, each.machine.name)]
    return frozenset([wanted, *(each.machine.id for each in known), *("" for each in known if each.here)])


def _fits(seen: SessionSummary, request: ApiRequest, machine: frozenset[str]) -> bool:
    project, state, search = request.text("project"), request.text("state"), request.text("q")
    session = seen.session
    if machine and session.machine not in machine:
        return False
    if project is not None and project not in (session.project, session.directory):
        return False
    if state is not None and state not in (state_of(session, seen.open_asks), session.phase):
        return False
    return search is None or search.lower() in f"{session.title} {session.directory} {session.id}".lower()


ROUTES = (
    Route(
        "POST",
        "/api/sessions",
        "admin",
        start,
        "Start, resume or fork a session",
        NewSession,
        SessionSchema,
        201,
        largest=_LARGEST_MESSAGE,
    ),
    Route(
        "GET",
        "/api/sessions",
        "viewer",
        list_all,
        "List sessions, newest first",
        returns=Sessions,
        parameters=_SEARCH,
        compress=True,
    ),
    Route("GET", "/api/sessions/{id}", "viewer", look, "Get a session", returns=SessionSchema),
    Route("PATCH", "/api/sessions/{id}", "approver", rename, "Rename a session", Title, SessionSchema, may_wait=True),
    Route("DELETE", "/api/sessions/{id}", "admin", remove, "Remove a session that has ended", returns=Done),
    Route(
        "POST",
        "/api/sessions/{id}/say",
        "approver",
        say,
        "Send a message. During a turn it steers Claude",
        Words,
        SaidSchema,
        202,
        largest=_LARGEST_MESSAGE,
    ),
    Route("POST", "/api/sessions/{id}/interrupt", "approver", interrupt, "End the current turn", None, Done, 202),
    Route(
        "POST",
        "/api/sessions/{id}/denied/{action}/allow",
        "approver",
        allow_denied,
        "Allow one retry of exactly this denied call",
        None,
        Done,
        202,
    ),
    Route(
        "POST",
        "/api/sessions/{id}/stop",
        "admin",
        stop,
        "Stop a session. It can be resumed",
        None,
        Done,
        202,
        may_wait=True,
    ),
    Route(
        "POST",
        "/api/sessions/{id}/mode",
        "admin",
        change_mode,
        "Change the permission mode",
        Mode,
        Done,
        202,
    ),
    Route("POST", "/api/sessions/{id}/model", "admin", change_model, "Change the model", Model, Done, 202),
    Route(
        "POST",
        "/api/sessions/{id}/resume",
        "admin",
        resume,
        "Resume a session",
        MaybeWords,
        SessionSchema,
        202,
        largest=_LARGEST_MESSAGE,
        may_wait=True,
    ),
    Route(
        "POST",
        "/api/sessions/{id}/fork",
        "admin",
        fork,
        "Fork a session",
        MaybeWords,
        SessionSchema,
        202,
        largest=_LARGEST_MESSAGE,
        may_wait=True,
    ),
    Route(
        "GET",
        "/api/sessions/{id}/items",
        "viewer",
        items,
        "Get a page of a session's timeline",
        returns=Items,
        parameters=_PLACE,
        compress=True,
    ),
    Route(
        "GET",
        "/api/search",
        "viewer",
        search,
        "Search in all sessions or in one, newest first",
        returns=SearchPage,
        parameters=_FINDING,
        compress=True,
    ),
    Route(
        "GET",
        "/api/items",
        "viewer",
        all_items,
        "Get a page of the feed",
        returns=Items,
        parameters=_PLACE_OF_ALL,
        compress=True,
    ),
)
