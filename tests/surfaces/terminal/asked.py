"""Asks for the terminal tests, one of each kind."""

from datetime import UTC, datetime
from typing import Any

from handraise.model.asks import Ask, Body, Form, Offer, Option, Origin, Permission, Plan, Prompt, Question
from handraise.model.rules import Rule
from handraise.present.flows import flow_of
from handraise.surfaces.terminal.dialogue import Dialogue, Effect, begin, press, write

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

DATABASE = Prompt("Which database?", "Store", (Option("SQLite", "one file"), Option("Postgres", "a server")))
CHECKS = Prompt("Which checks?", "Checks", (Option("Uptime"), Option("Disk"), Option("Memory")), multi_select=True)
NAME = Prompt("What is it called?")

TWO_QUESTIONS = Question((DATABASE, CHECKS))
NPM = Permission(
    "Bash",
    {"command": "npm test", "description": "Run the tests"},
    suggestions=({"type": "addRules"},),
    suggestions_in_words=("Allow every command that begins with `npm test`, until Claude's process ends.",),
    offers=(
        Offer(
            "session",
            "Allow every `npm test …` in this session.",
            (Rule("", "allow", tool="Bash", command="npm test *"),),
        ),
        Offer(
            "always",
            "Always allow any `npm test …` in this project",
            (Rule("", "allow", tool="Bash", command="npm test *"),),
        ),
    ),
)
PLAN = Plan("# The plan\n\n1. Read\n2. Write\n")
ADDRESS = Form(
    "Where does it go?",
    "forms",
    {
        "properties": {
            "street": {"type": "string", "title": "Street", "description": "and number"},
            "floor": {"type": "integer", "minimum": 0, "maximum": 9, "default": 2},
            "lift": {"type": "boolean"},
            "door": {"type": "string", "enum": ["left", "right"]},
            "days": {"type": "array", "items": {"type": "string", "enum": ["Mo", "Tu", "We"]}},
        },
        "required": ["street", "lift"],
    },
)


def ask(body: Body, identity: str = "a_1", **fields: Any) -> Ask:
    values: dict[str, Any] = {"session": "s_1", "project": None, "tool": "Tool", "origin": Origin(identity), **fields}
    return Ask(id=identity, body=body, opened_at=NOON, **values)


def dialogue(body: Body) -> Dialogue:
    asked = ask(body)
    return begin(asked, flow_of(asked, None))


def play(started: Dialogue, *keys: str) -> tuple[Dialogue, Effect | None]:
    """Presses keys; `'text` types a text."""
    effect: Effect | None = None
    for key in keys:
        if key.startswith("'"):
            started = write(started, key[1:])
        else:
            started, effect = press(started, key)
    return started, effect
