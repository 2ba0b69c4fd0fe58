"""The ask: a request to people that an asker waits for. Five kinds, one lifecycle; a settlement is final."""

from datetime import datetime
from hashlib import sha256
from typing import Any, Literal, assert_never

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from handraise.model.actors import Actor, TheHub
from handraise.model.answers import Answer, answer_as_json, read_answer
from handraise.model.dangers import Danger
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
    closed: bool | UnsetType = UNSET
    """Only the options answer it, no text of one's own. Left out where a text does, for the digests of earlier asks."""

    @property
    def is_closed(self) -> bool:
        return self.closed is True


class Terms(Struct, frozen=True):
    """How Claude Code says that a request may be answered. Nothing in here can make an answer easier."""

    person: bool = False
    """Only a person who has opened the card may answer: no rule allows it, and no button of a notification."""
    once: bool = False
    """It can be allowed this once only."""
    deny_first: bool = False
    """No single key may allow it, and denying comes first."""
    cause: str = ""
    """Why Claude Code asks, by its own name for it: `rule`, `classifier`, `safetyCheck`, …"""
    ask_rule: str = ""
    """The rule in the user's own Claude Code settings that says to ask."""
    classifier_approvable: bool | None = None
    title: str = ""

    @property
    def is_strict(self) -> bool:
        """Whether a rule may not allow it."""
        return self.person or self.once or self.deny_first or bool(self.ask_rule)


class Dialog(Struct, frozen=True):
    """A dialog of Claude Code itself, by its own name, and what it calls each option of the only prompt, in order."""

    kind: str
    results: tuple[str, ...]


class Question(Struct, frozen=True):
    """Claude wants to know something: one to four prompts, answered together."""

    questions: tuple[Prompt, ...]
    terms: Terms | UnsetType = UNSET
    dialog: Dialog | UnsetType = UNSET
    """Left out unless Claude Code itself asks, and not Claude."""


class Offer(Struct, frozen=True):
    """What could be allowed for longer than once: the scope in words, and exactly the rules that would be saved."""

    lasting: Literal["session", "always"] = field(name="for")
    scope: str
    rules: tuple[Rule, ...]


class Permission(Struct, frozen=True):
    """Claude wants to use a tool. `input` is complete; `suggestions` are Claude's own, verbatim and in words."""

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
    terms: Terms | UnsetType = UNSET
    """Left out where Claude Code sets none, so that the digests of earlier asks stay the same."""
    dangers: tuple[Danger, ...] | UnsetType = UNSET
    """What to look at twice. Left out where nothing was found."""


class Plan(Struct, frozen=True):
    """Claude has a plan and wants to leave plan mode."""

    plan: str
    terms: Terms | UnsetType = UNSET


class Form(Struct, frozen=True):
    """An MCP server wants a form filled, or a link visited; `schema` is a flat JSON Schema."""

    message: str
    server: str
    schema: dict[str, Any]
    url: str | UnsetType = UNSET
    """The link, as the server wrote it: there are no fields then. Left out where there is none."""


Body = Question | Permission | Plan | Form | Trust


class Answered(Struct, frozen=True, tag_field="state", tag="answered"):
    """A person or a rule answered."""

    answer: Answer
    by: Actor
    source: str = field(name="from")
    at: datetime


class Expired(Struct, frozen=True, tag_field="state", tag="expired"):
    """Nobody answered in time, and the asker knows. A late answer is sent as a follow-up."""

    at: datetime
    late: Answered | None = None


class Withdrawn(Struct, frozen=True, tag_field="state", tag="withdrawn"):
    """The asker went away."""

    reason: str
    at: datetime


Settlement = Answered | Expired | Withdrawn


class Origin(Struct, frozen=True):
    """Where an ask came from, so that its asker can match the answer. Never part of the digest."""

    reference: str
    """The asker's own ID for the ask: opening it twice opens it once."""
    tool_use: str | None = None
    """The action it belongs to; the only part that is shown."""
    request: str = "{}"
    """The request itself, as verbatim JSON."""


class Ask(Struct, frozen=True):
    """A request to people that an asker waits for."""

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
    machine: str = ""
    """The machine that holds the request. Empty in databases of older versions: this one."""

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
        """Identifies what was shown: an answer with another digest was for something else."""
        return digest_of(self.body)


class AcceptedAnswer(Struct, frozen=True):
    """An answer that counted, and its ask after it. A late answer is sent to Claude as a follow-up."""

    ask: Ask
    late: bool = False


def kind_of(body: Body) -> Kind:
    """The kind of a body, as the API names it."""
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


def terms_of(body: Body) -> Terms:
    """The terms of a body, those of nothing special where it has none."""
    terms = body.terms if isinstance(body, Question | Permission | Plan) else UNSET
    return _NO_TERMS if terms is UNSET else terms


def dangers_of(body: Body) -> tuple[Danger, ...]:
    """The dangers of a permission; nothing else has any."""
    return body.dangers if isinstance(body, Permission) and body.dangers is not UNSET else ()


def is_dialog(body: Body) -> bool:
    """Whether Claude Code itself asks: Claude knows nothing of it."""
    return isinstance(body, Question) and body.dialog is not UNSET


def is_link(body: Body) -> bool:
    """Whether an MCP server wants a link visited."""
    return isinstance(body, Form) and body.url is not UNSET


def was_completed(ask: Ask, answered: Answered) -> bool:
    """Whether nobody answered: the website of a link reported that it is done."""
    return is_link(ask.body) and isinstance(answered.by, TheHub)


def digest_of(body: Body) -> str:
    """The same for the same body, whatever the order of its keys."""
    return "sha256:" + sha256(msgspec.json.encode([kind_of(body), body], order="deterministic")).hexdigest()


def digest_of_trust(body: Trust) -> str:
    """What a decision about a directory is bound to, in whatever language its problems were put into words."""
    return digest_of(replace(body, unreadable=("",) * len(body.unreadable)))


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
    """An ask as the API shows it; of its origin, only the action it belongs to."""
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
        "machine": ask.machine,
    }


def ask_from_json(shown: dict[str, Any]) -> Ask:
    """An ask from what the API showed of it."""
    kind = shown["kind"]
    settlement = shown["settlement"]
    fields: dict[str, Any] = {key: shown[key] for key in ("id", "session", "project", "tool", "asker", "agent", "why")}
    times: dict[str, Any] = {
        key: msgspec.convert(shown[key], datetime | None) for key in ("expires_at", "delivered_at")
    }
    return Ask(
        body=msgspec.convert(shown["body"], BODIES[kind]),
        origin=Origin("", shown.get("tool_use")),
        opened_at=msgspec.convert(shown["opened_at"], datetime),
        settlement=_settlement(kind, settlement) if settlement else None,
        machine=shown.get("machine", ""),
        **fields,
        **times,
    )


def read_body(kind: str, stored: str | bytes) -> Body:
    """A body as it was stored."""
    return msgspec.json.decode(stored, type=BODIES[kind])


def read_settlement(kind: str, stored: str | bytes) -> Settlement:
    """A settlement as it was stored, for an ask of this kind."""
    return _settlement(kind, msgspec.json.decode(stored))


def _settlement(kind: str, content: dict[str, Any]) -> Settlement:
    match content["state"]:
        case "answered":
            answer = read_answer(kind, content["answer"])
            by: Actor = msgspec.convert(content["by"], Actor)
            return Answered(answer, by, content["from"], msgspec.convert(content["at"], datetime))
        case "expired":
            late = content.get("late")
            answered = _settlement(kind, late) if late else None
            return Expired(
                msgspec.convert(content["at"], datetime), answered if isinstance(answered, Answered) else None
            )
        case _:
            return msgspec.convert(content, Withdrawn)


_NO_TERMS = Terms()
BODIES: dict[str, type[Body]] = {
    "question": Question,
    "permission": Permission,
    "plan": Plan,
    "form": Form,
    "trust": Trust,
}
