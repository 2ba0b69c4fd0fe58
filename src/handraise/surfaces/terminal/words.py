"""The sentence: what is asked and how it ended, as a person would say it. Pure."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, assert_never

from handraise.model.actors import Actor, ByRule, Person, TheHub, is_me
from handraise.model.answers import Allow, Answer, Approve, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import Answered, Ask, Expired, Form, Permission, Plan, Prompt, Question, Settlement, Withdrawn
from handraise.model.trust import Trust, in_words
from handraise.surfaces.terminal.harmless import evidence, one_line

_SHORT = 60
_PATHS = ("file_path", "notebook_path", "path")


def sentence(ask: Ask) -> str:
    """What is asked, on one line."""
    match ask.body:
        case Question(questions):
            return f"{one_line(questions[0].question)}{_more(questions)}" if questions else "A question without words."
        case Permission():
            return _permission(ask.body)
        case Plan():
            return "Claude has a plan."
        case Form(message=message, server=server):
            return one_line(message) or f"{one_line(server)} wants a form filled."
        case Trust(directory=directory, brought=brought):
            return f"Use what {one_line(directory)} brings? {in_words(brought)}."
        case _:
            assert_never(ask.body)


def heading(ask: Ask) -> str:
    """What a card asks. What would be cut here stands whole below it."""
    command = command_of(ask.body) if isinstance(ask.body, Permission) and ask.body.tool == "Bash" else None
    return sentence(ask) if command is None or short(command) == command else "Run this command?"


def short(text: str, most: int = _SHORT) -> str:
    """One line, cut with an ellipsis: for a glance, never for what is decided about."""
    line = one_line(text)
    return line if len(line) <= most else line[: most - 1] + "…"


def settled(ask: Ask, settlement: Settlement, me: Person) -> str:
    """The line that a card folds to: the truth about who, what, where and when."""
    about = _glance(ask)
    match settlement:
        case Answered(answer=answer, by=by, source=source, at=at):
            who = "You" if is_me(by, me) else one_line(_name(by))
            return f"{who} {said(answer)} · {about} · {one_line(source)} · {at.astimezone():%H:%M}"
        case Expired(late=Answered() as late):
            return f"Answered late: {settled(ask, late, me)} · said to Claude as guidance"
        case Expired(at=at):
            return f"Nobody answered in time · {about} · {at.astimezone():%H:%M}"
        case Withdrawn(reason=reason, at=at):
            return f"Withdrawn: {one_line(reason)} · {about} · {at.astimezone():%H:%M}"
        case _:
            assert_never(settlement)


def said(answer: Answer) -> str:
    """What an answer says: "allowed", "chose SQLite"."""
    match answer:
        case Choices(answers):
            each = (", ".join([*choice.labels, *([choice.text] if choice.text else [])]) for choice in answers)
            return f"chose {short('; '.join(each))}"
        case Allow(scope=scope, input=changed):
            lasting = {"once": "", "session": " for this session", "always": " from now on"}[scope]
            return f"allowed{' with changes' if changed is not None else ''}{lasting}"
        case Deny(message=message):
            return f"denied ({short(message)})" if message else "denied"
        case Approve(mode=mode, plan=plan):
            free = ", edits without asking" if mode == "acceptEdits" else ""
            return f"approved {'an edited' if plan is not None else 'the'} plan{free}"
        case Revise(message=message):
            return f"sent the plan back ({short(message)})" if message else "sent the plan back"
        case Outline():
            return "asked for an outline"
        case Filled(action=action):
            return {"accept": "filled the form", "decline": "declined the form", "cancel": "cancelled the form"}[action]
        case Trusting(trust=level):
            return {"without": "chose to run without them", "exactly": "trusted them", "never": "chose never"}[level]
        case _:
            assert_never(answer)


def ago(span: timedelta) -> str:
    """A length of time in its largest unit."""
    seconds = max(0, int(span.total_seconds()))
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {name}"
    return f"{seconds} s"


def waiting(ask: Ask, now: datetime) -> str:
    """How long an ask has waited, and how long it still will."""
    waited = f"waits {ago(now - ask.opened_at)}"
    return f"{waited}, {ago(ask.expires_at - now)} left" if ask.expires_at else waited


def as_json(value: object) -> str:
    """JSON for reading and editing."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def command_of(body: Permission) -> str | None:
    """The command, where one is all that there is to see."""
    command = body.input.get("command")
    return command if isinstance(command, str) else None


def _glance(ask: Ask) -> str:
    match ask.body:
        case Question(questions) if len(questions) > 1:
            return f"{short(questions[0].question)}{_more(questions)}"
        case _:
            return short(sentence(ask))


def _more(questions: Sequence[Prompt]) -> str:
    return f" (and {len(questions) - 1} more)" if len(questions) > 1 else ""


def _permission(body: Permission) -> str:
    path = _path(body.input)
    match body.tool:
        case "Bash":
            return f"Run `{short(command_of(body) or '')}`?"
        case "Write" if path:
            return f"Write {_count(body.input.get('content'))} to `{path}`?"
        case "Edit" | "MultiEdit" | "NotebookEdit" if path:
            return f"Change `{path}`?"
        case "Read" if path:
            return f"Read `{path}`?"
        case "WebFetch":
            return f"Fetch {short(str(body.input.get('url', '')))}?"
        case tool if tool.startswith("mcp__"):
            server, _, called = tool.removeprefix("mcp__").partition("__")
            return f"Use `{one_line(called)}` of {one_line(server)}?"
        case tool:
            return f"Use `{one_line(tool)}`?"


def _path(told: dict[str, Any]) -> str:
    found = next((told[key] for key in _PATHS if isinstance(told.get(key), str)), "")
    return one_line(found)


def _count(content: object) -> str:
    number = len(content.splitlines()) if isinstance(content, str) else 0
    return f"{number} line{'' if number == 1 else 's'}"


def _name(by: Actor) -> str:
    match by:
        case Person(name=name):
            return name
        case ByRule(name=name):
            return f"the rule {evidence(name)}"
        case TheHub():
            return "Handraise"
        case _:
            assert_never(by)
