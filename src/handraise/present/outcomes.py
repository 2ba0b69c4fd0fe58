"""The outcome: how an ask was settled, in one line, about another person or as "You". Pure."""

from collections.abc import Mapping
from typing import Any, Literal, assert_never

from msgspec import Struct

from handraise.model.actors import Actor, ByRule, Person, TheHub
from handraise.model.answers import Allow, Answer, Approve, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import (
    Answered,
    Ask,
    Expired,
    Form,
    Permission,
    Plan,
    Settlement,
    Withdrawn,
    is_link,
    was_completed,
)
from handraise.model.tools import tool_named
from handraise.present.headlines import clipped, nearby, one_line, quoted, title_of_plan
from handraise.texts import t

_VALUES = 200
_Side = Literal["theirs", "yours"]


class CardOutcome(Struct, frozen=True):
    """Who did what. `yours` is for the seat that answered.

    `brief` goes behind what was done ("Wrote a.py · you allowed"); only what was allowed has one.
    """

    text: str
    yours: str
    brief: str = ""
    yours_brief: str = ""


def outcome(ask: Ask, directory: str | None) -> CardOutcome | None:
    """How an ask ended; None while it is open."""
    return None if ask.settlement is None else of_settlement(ask, ask.settlement, directory)


def of_settlement(ask: Ask, settlement: Settlement, directory: str | None) -> CardOutcome:
    """The outcome of this settlement."""
    match settlement:
        case Answered() if was_completed(ask, settlement):
            return _same(t("card.outcome.completed"))
        case Answered(answer=answer, by=by):
            text = _answered(ask, answer, _name(by), "theirs", directory)
            yours = _answered(ask, answer, "", "yours", directory) if isinstance(by, Person) else text
            return CardOutcome(text, yours, *_briefs(answer, by))
        case Expired(late=Answered() as late):
            answered = of_settlement(ask, late, directory)
            return CardOutcome(
                t("card.outcome.late", outcome=answered.text), t("card.outcome.late", outcome=answered.yours)
            )
        case Expired():
            return _same(t("card.outcome.expired"))
        case Withdrawn(reason=reason):
            return _same(t("card.outcome.withdrawn", reason=one_line(reason)))
        case _:
            assert_never(settlement)


def subject(ask: Ask, directory: str | None) -> str:
    """What a permission is about, in a few words and in backquotes; for a glance."""
    if not isinstance(ask.body, Permission):
        return ""
    tool = tool_named(ask.body.tool)
    named = tool.subject_of(ask.body.input)
    if tool.kind == "shell" and named:
        return f"`{quoted(_first_line(named))}`"
    if named and tool.is_about_a_file:
        return t("card.outcome.use", tool=quoted(tool.name), subject=quoted(nearby(named, directory)))
    return f"`{quoted(tool.name)}`"


def _same(text: str) -> CardOutcome:
    return CardOutcome(text, text)


def _answered(ask: Ask, answer: Answer, who: str, side: _Side, directory: str | None) -> str:
    line = t(f"card.outcome.{side}.{_verb(ask, answer)}", who=who, what=_what(ask, answer, directory))
    match answer:
        case Allow():
            return _noted(line, answer)
        case Approve(plan=str()):
            return t("card.outcome.edited", outcome=line)
        case Deny(message=message) | Revise(message=message) if message.strip():
            return t("card.outcome.reason", outcome=line, reason=quoted(message))
        case Filled(action="accept", content=dict() as content) if isinstance(ask.body, Form) and content:
            return t("card.outcome.filled_with", outcome=line, values=_values(ask.body, content))
        case _:
            return line


def _briefs(answer: Answer, by: Actor) -> tuple[str, str]:
    if not isinstance(answer, Allow):
        return "", ""
    theirs = t(f"card.outcome.brief.theirs.{answer.scope}", who=_name(by))
    if not isinstance(by, Person):
        theirs = t("card.outcome.brief.rule") if isinstance(by, ByRule) else theirs
        return theirs, theirs
    return _noted(theirs, answer), _noted(t(f"card.outcome.brief.yours.{answer.scope}"), answer)


def _noted(line: str, answer: Allow) -> str:
    """With what was granted besides the call as it was."""
    line = t("card.outcome.edited", outcome=line) if answer.input is not None else line
    return t("card.outcome.suggested", outcome=line) if answer.suggestions else line


def _values(form: Form, content: Mapping[str, Any]) -> str:
    """What was filled in, under the names that the form shows."""
    fields = form.schema.get("properties")
    described = fields if isinstance(fields, Mapping) else {}
    each = (
        t("card.outcome.value", name=quoted(_title(described.get(name), name)), value=quoted(_value(value)))
        for name, value in content.items()
    )
    return clipped(" · ".join(each), _VALUES)


def _title(field: object, name: str) -> str:
    title = field.get("title") if isinstance(field, Mapping) else None
    return title if isinstance(title, str) and title.strip() else name


def _value(value: object) -> str:
    if isinstance(value, bool):
        return t("card.outcome.yes" if value else "card.outcome.no")
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _verb(ask: Ask, answer: Answer) -> str:
    match answer:
        case Choices():
            return "answered"
        case Allow(scope=scope):
            return scope
        case Deny(interrupt=interrupt):
            return "stopped" if interrupt else "denied"
        case Approve(mode=mode):
            return "freed" if mode == "acceptEdits" else "approved"
        case Revise():
            return "revised"
        case Outline():
            return "outlined"
        case Filled(action=action) if is_link(ask.body):
            return {"accept": "visited", "decline": "declined_link", "cancel": "dismissed_link"}[action]
        case Filled(action=action):
            return {"accept": "filled", "decline": "declined", "cancel": "dismissed"}[action]
        case Trusting(trust=level):
            return level
        case _:
            assert_never(answer)


def _what(ask: Ask, answer: Answer, directory: str | None) -> str:
    if isinstance(answer, Approve | Revise):
        title = title_of_plan(ask.body.plan) if isinstance(ask.body, Plan) else ""
        return t("card.outcome.titled", title=title) if title else ""
    if not isinstance(answer, Choices):
        return subject(ask, directory)
    each = (", ".join([*choice.labels, *([quoted(choice.text)] if choice.text else [])]) for choice in answer.answers)
    return one_line(" · ".join(each))


def _name(by: Actor) -> str:
    match by:
        case Person(name=name):
            return quoted(name)
        case ByRule():
            return t("card.who.rule")
        case TheHub():
            return t("card.who.hub")
        case _:
            assert_never(by)


def _first_line(text: str) -> str:
    line = text.split("\n")[0]
    return clipped(line) if line == text else clipped(f"{line} …")
