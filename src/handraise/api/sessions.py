"""Sessions over HTTP: start, look, say, steer; and their shapes."""

from base64 import b64decode
from binascii import Error
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from msgspec import Struct
from starlette.responses import Response

from handraise.api.requests import ApiRequest, BadRequest, Parameter, Route, answer
from handraise.api.schemas import Done, Name
from handraise.desk.interface import Refused, SessionSummary
from handraise.model.actors import Actor
from handraise.model.sessions import Ended, Phase, state_of

_SAYING = 40 * 1024 * 1024
_PAGE = 200
_ITEMS = 500
_MOST_SESSIONS = Parameter("limit", "how many", "integer", least=1, most=1000)
_MOST_ITEMS = Parameter("limit", "how many", "integer", least=1, most=5000)
_AFTER = Parameter("after", "the first ones after this cursor", "integer")
_BEFORE = Parameter("before", "the last ones before this cursor", "integer")
_SEARCH = (
    Parameter("project", "an id or a directory"),
    Parameter("state", "a state or phase"),
    Parameter("q", "words in the title or directory"),
    Parameter("after", "the `next` of the page before"),
    _MOST_SESSIONS,
)
_PLACE = (
    _AFTER,
    _BEFORE,
    _MOST_ITEMS,
)
_PLACE_OF_ALL = (*_PLACE, Parameter("session", "only this session's"))


class ImageSchema(Struct, frozen=True, forbid_unknown_fields=True):
    """A picture to go along with what is said."""

    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str
    """Base64."""

    def __post_init__(self) -> None:
        _check(self.data)


class TextBlockSchema(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="text"):
    """A piece of text."""

    text: str


class SourceSchema(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="base64"):
    """What a block carries, as Base64."""

    media_type: str
    data: str

    def __post_init__(self) -> None:
        _check(self.data)


class ImageBlockSchema(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="image"):
    """A picture."""

    source: SourceSchema


class DocumentBlockSchema(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="document"):
    """A document, such as a PDF."""

    source: SourceSchema


Blocks = tuple[TextBlockSchema | ImageBlockSchema | DocumentBlockSchema, ...]


class NewSession(Struct, frozen=True, forbid_unknown_fields=True):
    """What a new session is to be; with `resume` or `fork`, what it goes on from."""

    say: str | Blocks
    project: str | None = None
    mode: Name | None = None
    model: Name | None = None
    title: str | None = None
    resume: str | None = None
    fork: str | None = None
    images: tuple[ImageSchema, ...] = ()


class SessionSchema(Struct, frozen=True):
    """A session; `state` is what a person would say of it."""

    id: str
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
    last_line: str
    """What Claude said or did last; empty, if it has not done anything."""


class Sessions(Struct, frozen=True):
    """A page. `cursor` is the place in the feed that it was read at."""

    sessions: list[SessionSchema]
    next: str | None
    cursor: int


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    """Something to say: text, pictures, or blocks as the Messages API takes them. `id` makes it idempotent."""

    text: str | None = None
    content: Blocks | None = None
    images: tuple[ImageSchema, ...] = ()
    id: UUID | None = None


class MaybeWords(Struct, frozen=True, forbid_unknown_fields=True):
    """Perhaps something to say."""

    say: str | Blocks | None = None
    images: tuple[ImageSchema, ...] = ()


class SaidSchema(Struct, frozen=True):
    """It is stored, and on its way."""

    say: str
    session: str
    by: Actor
    source: str
    at: datetime


class Mode(Struct, frozen=True, forbid_unknown_fields=True):
    """A permission mode, by Claude's own name for it."""

    mode: Name


class Model(Struct, frozen=True, forbid_unknown_fields=True):
    """A model, by Claude's own name for it."""

    model: Name


class Title(Struct, frozen=True, forbid_unknown_fields=True):
    """What a session is called."""

    title: str


class Items(Struct, frozen=True):
    """Entries of a timeline, each with `cursor`, `session`, `at`, `type` and what belongs to the type."""

    items: list[dict[str, Any]]
    next: int | None
    cursor: int


def _check(data: str) -> None:
    """What cannot be read would stand in the conversation for good, and every turn of it would fail."""
    try:
        if b64decode(data, validate=True):
            return
    except (Error, ValueError):
        pass
    raise ValueError("What is sent along must be Base64, and not empty")


async def start(request: ApiRequest) -> Response:
    wanted = request.body(NewSession)
    words = _words(wanted.say, wanted.images)
    desk = request.desk
    if wanted.resume and wanted.fork:
        raise BadRequest("A session is resumed or forked, not both.", 422, "invalid")
    if wanted.resume:
        seen = await desk.resume(wanted.resume, words)
    elif wanted.fork:
        seen = await desk.fork(wanted.fork, words)
    elif wanted.project:
        seen = await desk.start(words, wanted.project, mode=wanted.mode, model=wanted.model, title=wanted.title)
    else:
        raise BadRequest("Name a project: an id, a name or an absolute path.", 422, "invalid")
    return answer(_session(seen), 201)


async def list_all(request: ApiRequest) -> Response:
    cursor = await request.desk.newest()
    seen = [each for each in await request.desk.sessions() if _fits(each, request)]
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


async def say(request: ApiRequest) -> Response:
    wanted = request.body(Words)
    if wanted.content and (wanted.text or wanted.images):
        raise BadRequest("Send `text` and `images`, or `content`, not both.", 422, "invalid")
    words = _words(wanted.content or wanted.text or "", wanted.images)
    said = await request.desk.say(request.path("id"), words, str(wanted.id) if wanted.id else None)
    return answer(SaidSchema(said.id, said.session, said.by, said.source, said.at), 202)


async def interrupt(request: ApiRequest) -> Response:
    await request.desk.interrupt(request.path("id"))
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
        raise Refused("A fork begins with something to say.")
    return answer(_session(await request.desk.fork(request.path("id"), _words(wanted.say or "", wanted.images))), 202)


async def items(request: ApiRequest) -> Response:
    return await _page(request, (await request.desk.session(request.path("id"))).session.id)


async def all_items(request: ApiRequest) -> Response:
    return await _page(request, request.text("session"))


async def _page(request: ApiRequest, session: str | None) -> Response:
    limit = request.number(_MOST_ITEMS) or _ITEMS
    cursor = await request.desk.newest()
    before, after = request.number(_BEFORE), request.number(_AFTER)
    # Up to the cursor that is told, so that who follows from there gets nothing twice.
    before = min(cursor + 1, cursor + 1 if before is None else before)
    found = await request.desk.items(session, after=after, before=before, limit=limit + 1)
    backwards = after is None
    page = (found[-limit:] if backwards else found[:limit]) if len(found) > limit else found
    more = (page[0].cursor if backwards else page[-1].cursor) if len(found) > limit else None
    inside = b",".join(await request.cards.items(page, request.desk))
    body = b'{"items":[%s],"next":%s,"cursor":%d}' % (inside, msgspec.json.encode(more), cursor)
    return Response(body, media_type="application/json")


def _words(said: str | Blocks, images: tuple[ImageSchema, ...]) -> str | tuple[dict[str, Any], ...]:
    if not images and isinstance(said, str) and said.strip():
        return said
    pictures = tuple(ImageBlockSchema(SourceSchema(each.media_type, each.data)) for each in images)
    text = (TextBlockSchema(said),) if isinstance(said, str) and said.strip() else ()
    blocks: tuple[dict[str, Any], ...] = msgspec.to_builtins((*(text if isinstance(said, str) else said), *pictures))
    if not blocks:
        raise BadRequest("The message is empty.", 422, "invalid")
    return blocks


def _session(seen: SessionSummary) -> SessionSchema:
    session = seen.session
    return SessionSchema(
        id=session.id,
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
        last_line=seen.last_line,
    )


def _fits(seen: SessionSummary, request: ApiRequest) -> bool:
    project, state, search = request.text("project"), request.text("state"), request.text("q")
    session = seen.session
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
        largest=_SAYING,
    ),
    Route(
        "GET",
        "/api/sessions",
        "viewer",
        list_all,
        "The sessions, newest first",
        returns=Sessions,
        parameters=_SEARCH,
        compress=True,
    ),
    Route("GET", "/api/sessions/{id}", "viewer", look, "One session", returns=SessionSchema),
    Route("PATCH", "/api/sessions/{id}", "approver", rename, "Give it another title", Title, SessionSchema),
    Route(
        "POST",
        "/api/sessions/{id}/say",
        "approver",
        say,
        "Say something; during a turn it steers",
        Words,
        SaidSchema,
        202,
        largest=_SAYING,
    ),
    Route("POST", "/api/sessions/{id}/interrupt", "approver", interrupt, "End the turn", None, Done, 202),
    Route("POST", "/api/sessions/{id}/stop", "admin", stop, "End Claude; it can be resumed", None, Done, 202),
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
        "Go on with one that has ended",
        MaybeWords,
        SessionSchema,
        202,
        largest=_SAYING,
    ),
    Route(
        "POST",
        "/api/sessions/{id}/fork",
        "admin",
        fork,
        "Begin a new one from here",
        MaybeWords,
        SessionSchema,
        202,
        largest=_SAYING,
    ),
    Route(
        "GET",
        "/api/sessions/{id}/items",
        "viewer",
        items,
        "Its timeline, a page",
        returns=Items,
        parameters=_PLACE,
        compress=True,
    ),
    Route(
        "GET",
        "/api/items",
        "viewer",
        all_items,
        "What the feed holds, a page",
        returns=Items,
        parameters=_PLACE_OF_ALL,
        compress=True,
    ),
)
