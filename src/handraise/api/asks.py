"""Asks over HTTP: the inbox and the answer, with their types."""

from datetime import datetime
from typing import Literal

from msgspec import Struct, field
from starlette.responses import Response

from handraise.api.requests import ORDER, TEXTS, ApiRequest, BadRequest, Parameter, Route, answer, wrong_role
from handraise.api.schemas import AnAnswer, AnAsk, ASettlement
from handraise.desk.interface import NotFound, Unfit
from handraise.model import answers, asks
from handraise.model.actors import Actor
from handraise.model.answers import Answer, Misfit, Trusting, read_answer
from handraise.model.asks import KINDS, STATES, Kind, State
from handraise.model.tokens import may
from handraise.model.trust import Trust
from handraise.present.cards import Card
from handraise.present.diffs import DiffPart
from handraise.texts import t

_PAGE = 2_000
_DEEPEST = 64
_LIMIT = Parameter("limit", "How many to return", "integer", least=1, most=10_000)
_FILTERS = (
    Parameter("state", "Only asks in this state", choices=STATES),
    Parameter("kind", "Only asks of this kind", choices=KINDS),
    Parameter("session", "A session's ID"),
    Parameter("after", "The `next` of the previous page"),
    _LIMIT,
    ORDER,
    TEXTS,
)
_FIRST = Parameter("first", "The first line, counted from 0. Default: 0", "integer")
_LINES = Parameter("limit", "How many lines to return. Default: 1,000", "integer", least=1, most=5_000)


class AllowSchema(answers.Allow, frozen=True, kw_only=True):
    """To a permission: yes."""

    allow: Literal[True]


class DenySchema(answers.Deny, frozen=True, kw_only=True):
    """To a permission: no, and why."""

    allow: Literal[False]


class ApproveSchema(answers.Approve, frozen=True, kw_only=True):
    """To a plan: go ahead."""

    approve: Literal[True]


class ReviseSchema(answers.Revise, frozen=True, kw_only=True):
    """To a plan: revise it, and why."""

    approve: Literal[False]


class OutlineSchema(Struct, frozen=True, forbid_unknown_fields=True):
    """To a plan: pause, and write an outline first."""

    outline: Literal[True]


class AnsweredSchema(Struct, frozen=True, tag_field="state", tag="answered"):
    """A person or a rule answered."""

    answer: AnAnswer
    by: Actor
    source: str = field(name="from")
    at: datetime


class ExpiredSchema(Struct, frozen=True, tag_field="state", tag="expired"):
    """Nobody answered in time; a late answer was sent to Claude as a follow-up."""

    at: datetime
    late: AnsweredSchema | None


class WithdrawnSchema(Struct, frozen=True, tag_field="state", tag="withdrawn"):
    """The asker went away."""

    reason: str
    at: datetime


class AskSchema(Struct, frozen=True, kw_only=True):
    """An ask. The type of its `body`, and which answers fit, depend on its kind."""

    id: str
    session: str | None
    project: str | None
    machine: str
    """The machine that holds the request."""
    kind: Kind
    state: State
    asker: Literal["session", "agent"]
    agent: str | None
    tool: str
    tool_use: str | None
    """The id of the action it belongs to, as in `action.started`."""
    digest: str
    card: Card
    """What people read about it, in the language of the hub."""
    why: str
    opened_at: datetime
    expires_at: datetime | None
    settlement: ASettlement | None
    delivered_at: datetime | None
    late: bool = False
    """True if the ask had expired, and the answer was sent to Claude as a follow-up."""
    cut: bool = False
    """With `texts=excerpt`: True if texts of the input or the diff are cut. `GET /api/asks/{id}` has them whole."""


class QuestionAsk(AskSchema, frozen=True, kw_only=True):
    """Claude wants to know something."""

    kind: Literal["question"]
    body: asks.Question


class PermissionAsk(AskSchema, frozen=True, kw_only=True):
    """Claude wants to use a tool."""

    kind: Literal["permission"]
    body: asks.Permission


class PlanAsk(AskSchema, frozen=True, kw_only=True):
    """Claude has a plan."""

    kind: Literal["plan"]
    body: asks.Plan


class FormAsk(AskSchema, frozen=True, kw_only=True):
    """An MCP server wants a form filled in."""

    kind: Literal["form"]
    body: asks.Form


class TrustAsk(AskSchema, frozen=True, kw_only=True):
    """A directory brings hooks, servers, permissions or helpers that Claude Code would use without asking."""

    kind: Literal["trust"]
    body: Trust


class Asks(Struct, frozen=True):
    """A page; `next` continues from here. `cursor` is the feed position at which it was read."""

    asks: list[AnAsk]
    next: str | None
    cursor: int


class Answering(Struct, frozen=True, forbid_unknown_fields=True):
    """An answer, and the digest of what was shown."""

    answer: AnAnswer
    digest: str | None = None


UNIONS: dict[str, tuple[type[Struct], ...]] = {
    "Ask": (QuestionAsk, PermissionAsk, PlanAsk, FormAsk, TrustAsk),
    "Settlement": (AnsweredSchema, ExpiredSchema, WithdrawnSchema),
    "Answer": (
        answers.Choices,
        AllowSchema,
        DenySchema,
        ApproveSchema,
        ReviseSchema,
        OutlineSchema,
        answers.Filled,
        answers.Trusting,
    ),
}
"""By component name."""


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
    shown = await request.cards.asks(page, request.desk, cut=request.wants_excerpts())
    return answer({"asks": shown, "next": more, "cursor": cursor})


async def look(request: ApiRequest) -> Response:
    ask = await request.desk.ask(request.path("id"))
    return answer(await request.cards.ask(ask, request.desk, cut=request.wants_excerpts()))


async def part(request: ApiRequest) -> Response:
    number = request.path("number")
    if not number.isascii() or not number.isdigit() or len(number) > 4:
        raise NotFound(t("error.evidence"))
    first, limit = request.number(_FIRST) or 0, request.number(_LINES) or 1_000
    found = await request.cards.part(request.path("id"), int(number), first, limit, request.desk)
    if found is None:
        raise NotFound(t("error.evidence"))
    return answer(found)


async def give_answer(request: ApiRequest) -> Response:
    wanted = request.body(Answering)
    if _is_deeper(wanted.answer, _DEEPEST):
        raise BadRequest(f"An answer can be nested {_DEEPEST} levels deep at most.", 422, "invalid")
    ask = await request.desk.ask(request.path("id"))
    try:
        read = read_answer(ask.kind, wanted.answer)
    except Misfit as error:
        raise Unfit(str(error)) from error
    await _check_trust(request, read, ask.id)
    settled = await request.desk.answer_to(ask, read, wanted.digest)
    shown = await request.cards.ask(settled.ask, request.desk, cut=request.wants_excerpts())
    return answer({**shown, "late": True}, 202) if settled.late else answer(shown)


async def _check_trust(request: ApiRequest, read: Answer, ask: str) -> None:
    """Trusting a directory lets its code run without asking, now and later: only admins may do that."""
    if isinstance(read, Trusting) and read.trust == "exactly" and not may(request.principal.role, "admin"):
        await request.auth.refused("trust a directory", request.principal, request.desk.source, ask=ask)
        raise BadRequest(wrong_role("admin", request.principal.role), 403, "not_allowed")


def _is_deeper(value: object, levels: int) -> bool:
    """Deeply nested ones can be decoded, but not encoded again inside something else."""
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


ROUTES = (
    Route("GET", "/api/asks", "viewer", list_all, "List asks", returns=Asks, parameters=_FILTERS, compress=True),
    Route("GET", "/api/asks/{id}", "viewer", look, "Get an ask", returns=AskSchema, parameters=(TEXTS,), compress=True),
    Route(
        "GET",
        "/api/asks/{id}/evidence/{number}",
        "viewer",
        part,
        "Get lines of a diff in an ask's evidence. Evidence is counted from 0",
        returns=DiffPart,
        parameters=(_FIRST, _LINES),
        compress=True,
    ),
    Route(
        "POST",
        "/api/asks/{id}/answer",
        "approver",
        give_answer,
        "Answer an ask",
        Answering,
        AskSchema,
        parameters=(TEXTS,),
    ),
)
