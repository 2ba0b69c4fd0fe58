"""The ask: something put to people, and somebody waits. Five kinds, one lifecycle, no way back from a settlement."""

from datetime import datetime
from hashlib import sha256
from typing import Any, Literal, assert_never

import msgspec
from msgspec import Struct, field

from handraise.model.actors import Actor
from handraise.model.answers import Answer, answer_as_json, read_answer
from handraise.model.rules import Rule
from handraise.model.trust import Trust

Kind = Literal["question", "permission", "plan", "form", "trust"]
KINDS: tuple[Kind, ...] = ("question", "permission", "plan", "form", "trust")
State = Literal["open", "answered", "expired", "withdrawn"]
STATES: tuple[State, ...] = ("open", "answered", "expired", "withdrawn")


class Option(Struct, frozen=True):
    """One of the choices that a prompt offers."""

    label: str
    description: str = ""
    preview: str | None = None


class Prompt(Struct, frozen=True):
    """One question of a Question; without options it takes free text only."""

    question: str
    header: str = ""
    options: tuple[Option, ...] = ()
    multi_select: bool = False


class Question(Struct, frozen=True):
    """Claude wants to know something: one to four prompts, answered together."""

    questions: tuple[Prompt, ...]


class Offer(Struct, frozen=True):
    """What could be allowed for longer than this once: the scope in words, and exactly the rules that would be kept."""

    lasting: Literal["session", "always"] = field(name="for")
    scope: str
    rules: tuple[Rule, ...]


class Permission(Struct, frozen=True):
    """Claude wants to use a tool. `input` is whole; `suggestions` are Claude's own, verbatim, and told in words."""

    tool: str
    input: dict[str, Any]
    description: str = ""
    reason: str = ""
    blocked_path: str | None = None
    suggestions: tuple[dict[str, Any], ...] = ()
    suggestions_in_words: tuple[str, ...] = ()
    diff: str | None = None
    diff_note: str = ""
    offers: tuple[Offer, ...] = ()


class Plan(Struct, frozen=True):
    """Claude has a plan and wants to leave plan mode."""

    plan: str


class Form(Struct, frozen=True):
    """An MCP server wants a form filled; `schema` is a flat JSON Schema."""

    message: str
    server: str
    schema: dict[str, Any]


Body = Question | Permission | Plan | Form | Trust


class Answered(Struct, frozen=True, tag_field="state", tag="answered"):
    """Somebody, or a rule, answered."""

    answer: Answer
    by: Actor
    source: str = field(name="from")
    at: datetime


class Expired(Struct, frozen=True, tag_field="state", tag="expired"):
    """Patience ran out. The asker was told; a late answer is guidance."""

    at: datetime
    late: Answered | None = None


class Withdrawn(Struct, frozen=True, tag_field="state", tag="withdrawn"):
    """The asker went away."""

    reason: str
    at: datetime


Settlement = Answered | Expired | Withdrawn


class Origin(Struct, frozen=True):
    """Where an ask came from, as its asker needs it to take the answer: never part of the digest."""

    reference: str
    """The asker's own name for the ask (a request id): opening it twice is opening it once."""
    tool_use: str | None = None
    """The action that it stands at; all that is shown of this."""
    request: str = "{}"
    """The request itself, as JSON, to the letter."""


class Ask(Struct, frozen=True):
    """Something put to people that somebody waits for."""

    id: str
    session: str | None
    project: str | None
    body: Body
    tool: str
    origin: Origin
    opened_at: datetime
    asker: Literal["session", "agent"] = "session"
    agent: str | None = None
    why: str = ""
    """Why it reached a person, or which rule decided."""
    expires_at: datetime | None = None
    settlement: Settlement | None = None
    delivered_at: datetime | None = None

    @property
    def kind(self) -> Kind:
        return kind_of(self.body)

    @property
    def state(self) -> State:
        match self.settlement:
            case None:
                return "open"
            case Answered():
                return "answered"
            case Expired():
                return "expired"
            case Withdrawn():
                return "withdrawn"
            case _:
                assert_never(self.settlement)

    @property
    def digest(self) -> str:
        """Names what was shown: an answer that carries another digest was given to something else."""
        return digest_of(self.body)


class AcceptedAnswer(Struct, frozen=True):
    """An answer that counted, and its ask after it. A late answer is sent to Claude as a follow-up."""

    ask: Ask
    late: bool = False


def kind_of(body: Body) -> Kind:
    """The kind that a body is, as the API says it."""
    match body:
        case Question():
            return "question"
        case Permission():
            return "permission"
        case Plan():
            return "plan"
        case Form():
            return "form"
        case Trust():
            return "trust"
        case _:
            assert_never(body)


def digest_of(body: Body) -> str:
    """The same for the same body, whatever the order of its keys."""
    return "sha256:" + sha256(msgspec.json.encode([kind_of(body), body], order="deterministic")).hexdigest()


def settlement_as_json(settlement: Settlement) -> dict[str, Any]:
    """A settlement as the API shows it."""
    match settlement:
        case Answered(answer=answer):
            return {**msgspec.to_builtins(settlement), "answer": answer_as_json(answer)}
        case Expired(late=Answered() as late):
            return {**msgspec.to_builtins(settlement), "late": settlement_as_json(late)}
        case Expired() | Withdrawn():
            built: dict[str, Any] = msgspec.to_builtins(settlement)
            return built
        case _:
            assert_never(settlement)


def ask_as_json(ask: Ask) -> dict[str, Any]:
    """An ask as the API shows it; of where it came from, only the action that it stands at."""
    return {
        "id": ask.id,
        "session": ask.session,
        "project": ask.project,
        "kind": ask.kind,
        "state": ask.state,
        "asker": ask.asker,
        "agent": ask.agent,
        "tool": ask.tool,
        "tool_use": ask.origin.tool_use,
        "body": msgspec.to_builtins(ask.body),
        "digest": ask.digest,
        "why": ask.why,
        "opened_at": ask.opened_at,
        "expires_at": ask.expires_at,
        "settlement": settlement_as_json(ask.settlement) if ask.settlement else None,
        "delivered_at": ask.delivered_at,
    }


def ask_from_json(told: dict[str, Any]) -> Ask:
    """An ask as the API showed it: all of it that was shown."""
    kind = told["kind"]
    settlement = told["settlement"]
    fields: dict[str, Any] = {key: told[key] for key in ("id", "session", "project", "tool", "asker", "agent", "why")}
    times: dict[str, Any] = {key: msgspec.convert(told[key], datetime | None) for key in ("expires_at", "delivered_at")}
    return Ask(
        body=msgspec.convert(told["body"], _BODIES[kind]),
        origin=Origin("", told.get("tool_use")),
        opened_at=msgspec.convert(told["opened_at"], datetime),
        settlement=_settlement(kind, settlement) if settlement else None,
        **fields,
        **times,
    )


def read_body(kind: str, told: str | bytes) -> Body:
    """A body as it was stored."""
    return msgspec.json.decode(told, type=_BODIES[kind])


def read_settlement(kind: str, told: str | bytes) -> Settlement:
    """A settlement as it was stored, for an ask of this kind."""
    return _settlement(kind, msgspec.json.decode(told))


def _settlement(kind: str, told: dict[str, Any]) -> Settlement:
    match told["state"]:
        case "answered":
            answer = read_answer(kind, told["answer"])
            by: Actor = msgspec.convert(told["by"], Actor)
            return Answered(answer, by, told["from"], msgspec.convert(told["at"], datetime))
        case "expired":
            late = told.get("late")
            answered = _settlement(kind, late) if late else None
            return Expired(msgspec.convert(told["at"], datetime), answered if isinstance(answered, Answered) else None)
        case _:
            return msgspec.convert(told, Withdrawn)


_BODIES: dict[str, type[Body]] = {
    "question": Question,
    "permission": Permission,
    "plan": Plan,
    "form": Form,
    "trust": Trust,
}
