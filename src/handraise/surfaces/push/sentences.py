"""What is asked, as the card says it; what there is to see of it; and how it ended. Pure."""

import unicodedata
from typing import Any, NamedTuple, assert_never

from msgspec import json

from handraise.model.actors import Actor, ByRule, Person, TheHub
from handraise.model.answers import Allow, Answer, Approve, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import Answered, Ask, Expired, Form, Permission, Plan, Question, Settlement, Withdrawn
from handraise.model.hidden import has_hidden, reveal
from handraise.model.trust import Trust, in_words

_SHORT = 72
_COLUMNS = 36
_ROWS = 4
"""What every device surely shows below a title where it has buttons: four rows on Windows and macOS, more on phones."""
_PATHS = ("file_path", "notebook_path", "path")
_CHANGES = ("Write", "Edit", "MultiEdit", "NotebookEdit")
# What else such a call may say without meaning anything else.
_BESIDE: dict[str, set[str]] = {
    "Bash": {"description", "timeout"},
    "Read": {"offset", "limit"},
    "WebFetch": {"prompt"},
}
_SAID_BY: dict[str, tuple[str, ...]] = {
    "Bash": ("command",),
    "Read": ("file_path",),
    "WebFetch": ("url",),
    "WebSearch": ("query",),
}


class Evidence(NamedTuple):
    """What is decided about. `whole`: it is all there, short, and hides nothing, so that a glance is enough."""

    text: str
    whole: bool


def sentence(ask: Ask, directory: str | None) -> str:
    """On one line, in the words of the card; without marks around what a machine said."""
    match ask.body:
        case Question(questions):
            said = " · ".join(prompt.question for prompt in questions)
        case Permission():
            said = _permission(ask.body, directory)
        case Plan():
            said = "Claude has a plan."
        case Form(message=message, server=server):
            said = f"{server} asks: {message}"
        case Trust(directory=named):
            said = f"Use what {named} brings?"
        case _:
            assert_never(ask.body)
    return " ".join(reveal(said).split())


def evidence(ask: Ask) -> Evidence:
    """What belongs below the sentence."""
    match ask.body:
        case Question(questions):
            return _options(ask.body, one=len(questions) == 1)
        case Permission():
            return _seen_of(ask.body)
        case Plan(plan=plan):
            return Evidence(reveal(plan.strip()), whole=False)
        case Form():
            return Evidence("", whole=False)
        case Trust(brought=brought):
            return Evidence(reveal(in_words(brought)), whole=False)
        case _:
            assert_never(ask.body)


def is_shown_whole(text: str) -> bool:
    """Whether it takes no more rows than any device shows."""
    return sum(max(1, -(-_width(row) // _COLUMNS)) for row in text.rstrip().split("\n")) <= _ROWS


def outcome(settlement: Settlement) -> str:
    """How an ask ended: who, what and from where."""
    match settlement:
        case Answered(answer=answer, by=by, source=source):
            return reveal(f"{_name(by)} {said(answer)} · {source}")
        case Expired(late=Answered() as late):
            return f"Answered late: {outcome(late)}"
        case Expired():
            return "Nobody answered in time"
        case Withdrawn(reason=reason):
            return f"No longer needed: {reveal(reason)}"
        case _:
            assert_never(settlement)


def said(answer: Answer) -> str:
    """What an answer says, after a name."""
    match answer:
        case Choices(answers):
            each = (", ".join([*choice.labels, *([choice.text] if choice.text else [])]) for choice in answers)
            return f"answered: {' · '.join(each)}"
        case Allow(scope=scope, input=changed):
            lasting = {"once": "", "session": " for this session", "always": " always"}[scope]
            return f"allowed it{lasting}{', as edited' if changed is not None else ''}"
        case Deny():
            return "denied it"
        case Approve():
            return "approved the plan"
        case Revise():
            return "sent the plan back"
        case Outline():
            return "asked for an outline first"
        case Filled(action=action):
            return {"accept": "filled the form", "decline": "declined the form", "cancel": "cancelled the form"}[action]
        case Trusting(trust=level):
            return {"without": "chose to run without them", "exactly": "trusted them", "never": "chose never"}[level]
        case _:
            assert_never(answer)


def _permission(body: Permission, directory: str | None) -> str:
    path = _nearby(_path(body.input), directory)
    match body.tool:
        case "Bash":
            command = _text(body.input.get("command"))
            return f"Run {command}?" if _is_short(command) else "Run this command?"
        case "Write" if path:
            lines = _text(body.input.get("content")).removesuffix("\n").count("\n") + 1
            many = f"{lines} line{'' if lines == 1 else 's'}"
            return f"Create {path} with {many}?" if _is_new(body.diff) else f"Write {many} to {path}?"
        case "Edit" | "MultiEdit" | "NotebookEdit" if path:
            return f"Change {path}?"
        case "Read" if path:
            return f"Read {path}?"
        case "WebFetch" if _is_short(url := _text(body.input.get("url"))):
            return f"Fetch {url}?"
        case "WebSearch" if _is_short(query := _text(body.input.get("query"))):
            return f"Search the web for {query}?"
        case tool:
            server, double, called = tool.removeprefix("mcp__").partition("__")
            is_mcp = tool.startswith("mcp__") and server and double and called
            return f"Use {called} of {server}?" if is_mcp else f"Use {tool}?"


def _seen_of(body: Permission) -> Evidence:
    reaches = f"It reaches {body.blocked_path}.\n" if body.blocked_path else ""
    if body.tool in _CHANGES:
        shown = reaches + (body.diff or "").rstrip()
        return Evidence(reveal(shown), bool(body.diff) and not body.diff_note and _is_whole(shown))
    names, beside = _SAID_BY.get(body.tool, ()), _BESIDE.get(body.tool, set())
    if names and all(isinstance(body.input.get(name), str) for name in names) and set(body.input) <= {*names, *beside}:
        shown = reaches + "\n".join(body.input[name] for name in names)
    else:
        # Whatever is known by nothing better is shown as it was sent.
        shown = reaches + json.encode(body.input).decode()
    return Evidence(reveal(shown), _is_whole(shown))


def _options(body: Question, *, one: bool) -> Evidence:
    rows = [
        f"{option.label}: {option.description}" if option.description else option.label
        for prompt in body.questions
        for option in prompt.options
    ]
    text = "\n".join(rows)
    previewed = any(option.preview for prompt in body.questions for option in prompt.options)
    asked = "\n".join(prompt.question for prompt in body.questions)
    return Evidence(reveal(text), one and not previewed and _is_whole(f"{asked}\n{text}"))


def _is_whole(text: str) -> bool:
    return bool(text) and is_shown_whole(text) and not has_hidden(text)


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(message) in "WF" else 1 for message in text)


def _is_short(text: str) -> bool:
    return 0 < len(text) <= _SHORT and "\n" not in text and "`" not in text and not has_hidden(text)


def _is_new(diff: str | None) -> bool:
    rows = (diff or "").removesuffix("\n").split("\n")
    return bool(diff) and all(row.startswith(("@@ ", "+", "\\")) for row in rows)


def _path(told: dict[str, Any]) -> str:
    return next((_text(told[key]) for key in _PATHS if _text(told.get(key))), "")


def _nearby(path: str, directory: str | None) -> str:
    return path.removeprefix(f"{directory}/") if directory else path


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _name(by: Actor) -> str:
    match by:
        case Person(name=name):
            return name
        case ByRule():
            return "A rule"
        case TheHub():
            return "The hub"
        case _:
            assert_never(by)
