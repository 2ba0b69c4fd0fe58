"""The shapes of asks, answers and settlements over HTTP, for the OpenAPI document. What comes in is read by the model.

An ask and an answer are one of several shapes; the document names each union by a component of its own.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from handraise.model import answers, asks
from handraise.model.actors import Actor
from handraise.model.asks import Kind, State
from handraise.model.trust import Trust

REFERENCE = "#/components/schemas/"

AnAnswer = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": f"{REFERENCE}Answer"})]
ASettlement = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": f"{REFERENCE}Settlement"})]
AnAsk = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": f"{REFERENCE}Ask"})]


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
    """To a plan: not like this, and why."""

    approve: Literal[False]


class OutlineSchema(Struct, frozen=True, forbid_unknown_fields=True):
    """To a plan: pause, and write the steps down first."""

    outline: Literal[True]


class AnsweredSchema(Struct, frozen=True, tag_field="state", tag="answered"):
    """Somebody, or a rule, answered."""

    answer: AnAnswer
    by: Actor
    source: str = field(name="from")
    at: datetime


class ExpiredSchema(Struct, frozen=True, tag_field="state", tag="expired"):
    """Patience ran out; a late answer was said to Claude as guidance."""

    at: datetime
    late: AnsweredSchema | None


class WithdrawnSchema(Struct, frozen=True, tag_field="state", tag="withdrawn"):
    """The asker went away."""

    reason: str
    at: datetime


class AskSchema(Struct, frozen=True, kw_only=True):
    """An ask. What its `body` is, and which answers fit, depends on its kind."""

    id: str
    session: str | None
    project: str | None
    kind: Kind
    state: State
    asker: Literal["session", "agent"]
    agent: str | None
    tool: str
    tool_use: str | None
    """The action that it stands at, by the id that `action.started` has."""
    digest: str
    why: str
    opened_at: datetime
    expires_at: datetime | None
    settlement: ASettlement | None
    delivered_at: datetime | None
    late: bool = False
    """Set in the reply to an answer that came too late for the request itself, and was said to Claude as guidance."""


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
    """An MCP server wants a form filled."""

    kind: Literal["form"]
    body: asks.Form


class TrustAsk(AskSchema, frozen=True, kw_only=True):
    """A directory brings hooks, servers, permissions or helpers that Claude Code would use unasked."""

    kind: Literal["trust"]
    body: Trust


class Asks(Struct, frozen=True):
    """A page; `next` goes on from here. `cursor` is the place in the feed that it was read at."""

    asks: list[AnAsk]
    next: str | None
    cursor: int


class Answering(Struct, frozen=True, forbid_unknown_fields=True):
    """An answer, and the digest of what was shown."""

    answer: AnAnswer
    digest: str | None = None


UNIONS: dict[str, tuple[type[Struct], ...]] = {
    "AskSchema": (QuestionAsk, PermissionAsk, PlanAsk, FormAsk, TrustAsk),
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
"""By the name of their component."""
