"""Sessions over HTTP: start, look, say, steer."""

from typing import Any

import msgspec
from starlette.responses import Response

from handraise.desk.interface import Refused, Seen
from handraise.model.sessions import state_of
from handraise.surfaces.web import session_shapes as shapes
from handraise.surfaces.web.shapes import Done
from handraise.surfaces.web.visit import BadRequest, Parameter, Visit, Way, answer

_SAYING = 40 * 1024 * 1024
_PAGE = 200
_ITEMS = 500
_MOST_SESSIONS = Parameter("limit", "how many", "integer", least=1, most=1000)
_MOST_ITEMS = Parameter("limit", "how many", "integer", least=1, most=5000)
_AFTER = Parameter("after", "the first ones after this cursor", "integer")
_BEFORE = Parameter("before", "the last ones before this cursor", "integer")


async def start(visit: Visit) -> Response:
    wanted = visit.body(shapes.NewSession)
    words = _words(wanted.say, wanted.images)
    desk = visit.desk
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


async def list_all(visit: Visit) -> Response:
    cursor = await visit.desk.newest()
    seen = [each for each in await visit.desk.sessions() if _fits(each, visit)]
    after, limit = visit.text("after"), visit.number(_MOST_SESSIONS) or _PAGE
    if after is not None:
        ids = [each.session.id for each in seen]
        seen = seen[ids.index(after) + 1 :] if after in ids else []
    page = seen[:limit]
    more = page[-1].session.id if len(seen) > limit else None
    return answer(shapes.Sessions([_session(each) for each in page], more, cursor))


async def look(visit: Visit) -> Response:
    return answer(_session(await visit.desk.session(visit.path("id"))))


async def rename(visit: Visit) -> Response:
    await visit.desk.rename(visit.path("id"), visit.body(shapes.Title).title)
    return await look(visit)


async def say(visit: Visit) -> Response:
    wanted = visit.body(shapes.Words)
    if wanted.content and (wanted.text or wanted.images):
        raise BadRequest("Send `text` and `images`, or `content`, not both.", 422, "invalid")
    words = _words(wanted.content or wanted.text or "", wanted.images)
    said = await visit.desk.say(visit.path("id"), words, str(wanted.id) if wanted.id else None)
    return answer(shapes.Said(said.id, said.session, said.by, said.source, said.at), 202)


async def interrupt(visit: Visit) -> Response:
    await visit.desk.interrupt(visit.path("id"))
    return answer(Done(), 202)


async def stop(visit: Visit) -> Response:
    await visit.desk.stop(visit.path("id"))
    return answer(Done(), 202)


async def change_mode(visit: Visit) -> Response:
    await visit.desk.change_mode(visit.path("id"), visit.body(shapes.Mode).mode)
    return answer(Done(), 202)


async def change_model(visit: Visit) -> Response:
    await visit.desk.change_model(visit.path("id"), visit.body(shapes.Model).model)
    return answer(Done(), 202)


async def resume(visit: Visit) -> Response:
    wanted = visit.body(shapes.MaybeWords)
    words = _words(wanted.say or "", wanted.images) if wanted.say is not None or wanted.images else None
    return answer(_session(await visit.desk.resume(visit.path("id"), words)), 202)


async def fork(visit: Visit) -> Response:
    wanted = visit.body(shapes.MaybeWords)
    if not wanted.say and not wanted.images:
        raise Refused("A fork begins with something to say.")
    return answer(_session(await visit.desk.fork(visit.path("id"), _words(wanted.say or "", wanted.images))), 202)


async def items(visit: Visit) -> Response:
    return await _page(visit, (await visit.desk.session(visit.path("id"))).session.id)


async def all_items(visit: Visit) -> Response:
    return await _page(visit, visit.text("session"))


async def _page(visit: Visit, session: str | None) -> Response:
    limit = visit.number(_MOST_ITEMS) or _ITEMS
    cursor = await visit.desk.newest()
    before, after = visit.number(_BEFORE), visit.number(_AFTER)
    # Up to the cursor that is told, so that who follows from there gets nothing twice.
    before = min(cursor + 1, cursor + 1 if before is None else before)
    found = await visit.desk.items(session, after=after, before=before, limit=limit + 1)
    backwards = after is None
    page = (found[-limit:] if backwards else found[:limit]) if len(found) > limit else found
    more = (page[0].cursor if backwards else page[-1].cursor) if len(found) > limit else None
    inside = b",".join(item.as_json() for item in page)
    body = b'{"items":[%s],"next":%s,"cursor":%d}' % (inside, msgspec.json.encode(more), cursor)
    return Response(body, media_type="application/json")


def _words(said: str | shapes.Blocks, images: tuple[shapes.Image, ...]) -> str | tuple[dict[str, Any], ...]:
    if not images and isinstance(said, str) and said.strip():
        return said
    pictures = tuple(shapes.ImageBlock(shapes.Source(each.media_type, each.data)) for each in images)
    text = (shapes.TextBlock(said),) if isinstance(said, str) and said.strip() else ()
    blocks: tuple[dict[str, Any], ...] = msgspec.to_builtins((*(text if isinstance(said, str) else said), *pictures))
    if not blocks:
        raise BadRequest("There is nothing to say.", 422, "invalid")
    return blocks


def _session(seen: Seen) -> shapes.Session:
    session = seen.session
    return shapes.Session(
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


def _fits(seen: Seen, visit: Visit) -> bool:
    project, state, search = visit.text("project"), visit.text("state"), visit.text("q")
    session = seen.session
    if project is not None and project not in (session.project, session.directory):
        return False
    if state is not None and state not in (state_of(session, seen.open_asks), session.phase):
        return False
    return search is None or search.lower() in f"{session.title} {session.directory} {session.id}".lower()


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

WAYS = (
    Way(
        "POST",
        "/api/sessions",
        "admin",
        start,
        "Start, resume or fork a session",
        shapes.NewSession,
        shapes.Session,
        201,
        largest=_SAYING,
    ),
    Way(
        "GET",
        "/api/sessions",
        "viewer",
        list_all,
        "The sessions, newest first",
        gives=shapes.Sessions,
        parameters=_SEARCH,
        squeezes=True,
    ),
    Way("GET", "/api/sessions/{id}", "viewer", look, "One session", gives=shapes.Session),
    Way("PATCH", "/api/sessions/{id}", "approver", rename, "Give it another title", shapes.Title, shapes.Session),
    Way(
        "POST",
        "/api/sessions/{id}/say",
        "approver",
        say,
        "Say something; during a turn it steers",
        shapes.Words,
        shapes.Said,
        202,
        largest=_SAYING,
    ),
    Way("POST", "/api/sessions/{id}/interrupt", "approver", interrupt, "End the turn", None, Done, 202),
    Way("POST", "/api/sessions/{id}/stop", "admin", stop, "End Claude; it can be resumed", None, Done, 202),
    Way(
        "POST",
        "/api/sessions/{id}/mode",
        "admin",
        change_mode,
        "Change the permission mode",
        shapes.Mode,
        Done,
        202,
    ),
    Way("POST", "/api/sessions/{id}/model", "admin", change_model, "Change the model", shapes.Model, Done, 202),
    Way(
        "POST",
        "/api/sessions/{id}/resume",
        "admin",
        resume,
        "Go on with one that has ended",
        shapes.MaybeWords,
        shapes.Session,
        202,
        largest=_SAYING,
    ),
    Way(
        "POST",
        "/api/sessions/{id}/fork",
        "admin",
        fork,
        "Begin a new one from here",
        shapes.MaybeWords,
        shapes.Session,
        202,
        largest=_SAYING,
    ),
    Way(
        "GET",
        "/api/sessions/{id}/items",
        "viewer",
        items,
        "Its timeline, a page",
        gives=shapes.Items,
        parameters=_PLACE,
        squeezes=True,
    ),
    Way(
        "GET",
        "/api/items",
        "viewer",
        all_items,
        "What the feed holds, a page",
        gives=shapes.Items,
        parameters=_PLACE_OF_ALL,
        squeezes=True,
    ),
)
