"""Asks over HTTP: the inbox, and the answer."""

from typing import Any

from starlette.responses import Response

from handraise.desk.interface import Unfit
from handraise.model.answers import Answer, Misfit, Trusting, read_answer
from handraise.model.asks import KINDS, STATES, ask_as_json
from handraise.model.tokens import may
from handraise.surfaces.web.ask_shapes import Answering, Asks, AskSchema
from handraise.surfaces.web.visit import ORDER, ApiRequest, BadRequest, Parameter, Route, answer

_PAGE = 2_000
_DEEPEST = 64
_LIMIT = Parameter("limit", "how many", "integer", least=1, most=10_000)


async def list_all(request: ApiRequest) -> Response:
    cursor = await request.desk.newest()
    limit = request.number(_LIMIT) or _PAGE
    found = await request.desk.asks(
        state=request.choice("state", STATES),
        kind=request.choice("kind", KINDS),
        session=request.text("session"),
        after=request.text("after"),
        limit=limit + 1,
        newest_first=request.newest_first(),
    )
    page = found[:limit]
    more = page[-1].id if len(found) > limit else None
    return answer({"asks": [ask_as_json(ask) for ask in page], "next": more, "cursor": cursor})


async def look(request: ApiRequest) -> Response:
    return answer(ask_as_json(await request.desk.ask(request.path("id"))))


async def give_answer(request: ApiRequest) -> Response:
    wanted = request.body(Answering)
    if _is_deeper(wanted.answer, _DEEPEST):
        raise BadRequest(f"An answer is nested at most {_DEEPEST} deep.", 422, "invalid")
    ask = await request.desk.ask(request.path("id"))
    try:
        read = read_answer(ask.kind, wanted.answer)
    except Misfit as error:
        raise Unfit(str(error)) from error
    await _check_trust(request, read, ask.id)
    given = await request.desk.answer(ask.id, read, wanted.digest)
    told: dict[str, Any] = ask_as_json(given.ask)
    return answer({**told, "late": True}, 202) if given.late else answer(told)


async def _check_trust(request: ApiRequest, read: Answer, ask: str) -> None:
    """Who trusts a directory lets its code run unasked, now and later: that is for who administers the hub."""
    if isinstance(read, Trusting) and read.trust == "exactly" and not may(request.principal.role, "admin"):
        await request.auth.refused("trust a directory", request.principal, request.desk.source, ask=ask)
        role = request.principal.role
        raise BadRequest(f"Trusting a directory requires the admin role (yours: {role}).", 403, "not_allowed")


def _is_deeper(value: object, levels: int) -> bool:
    """Deep ones can be read, but not written again inside of something else."""
    layer = [value]
    for _ in range(levels):
        inside: list[object] = []
        for each in layer:
            if isinstance(each, dict):
                inside += each.values()
            elif isinstance(each, list):
                inside += each
        if not inside:
            return False
        layer = inside
    return True


_FILTERS = (
    Parameter("state", "open, answered, expired or withdrawn", choices=STATES),
    Parameter("kind", "question, permission, plan, form or trust", choices=KINDS),
    Parameter("session", "a session's id"),
    Parameter("after", "the `next` of the page before"),
    _LIMIT,
    ORDER,
)

ROUTES = (
    Route("GET", "/api/asks", "viewer", list_all, "The inbox", returns=Asks, parameters=_FILTERS, compress=True),
    Route("GET", "/api/asks/{id}", "viewer", look, "One ask", returns=AskSchema, compress=True),
    Route(
        "POST",
        "/api/asks/{id}/answer",
        "approver",
        give_answer,
        "Settle it, if nobody was first",
        Answering,
        AskSchema,
    ),
)
