"""Every way to answer every kind of ask: what is shown, what a person does, and exactly the answer it stands for."""

from typing import Any

from msgspec import Struct, field

from handraise.model.answers import (
    Allow,
    Answer,
    Approve,
    Choice,
    Choices,
    Deny,
    Filled,
    Outline,
    Revise,
    Trusting,
)
from handraise.model.asks import Body, Dialog, Form, Offer, Option, Permission, Plan, Prompt, Question, Terms
from handraise.model.rules import Rule
from handraise.model.trust import Brought, Trust

DATABASE = Prompt("Which database?", "Store", (Option("SQLite", "one file"), Option("Postgres", "a server")))
CHECKS = Prompt("Which checks?", "Checks", (Option("Uptime"), Option("Disk"), Option("Memory")), multi_select=True)
NPM_RULE = Rule("", "allow", tool="Bash", command="npm test *")
NPM = Permission(
    "Bash",
    {"command": "npm test", "description": "Run the tests"},
    suggestions=(
        {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "npm test:*"}],
            "behavior": "allow",
            "destination": "session",
        },
    ),
    offers=(Offer("session", "", (NPM_RULE,)), Offer("always", "", (NPM_RULE,))),
)
DIFF = Permission(
    "Write",
    {"file_path": "/work/app/health.py", "content": "OK = True\n"},
    diff="@@ -1 +1 @@\n-OK = False\n+OK = True\n",
)
PLAN = Plan("# Move to Postgres\n\n1. Make a dump\n2. Load it\n")
ADDRESS = Form(
    "Where does it go?",
    "forms",
    {
        "properties": {
            "street": {"type": "string", "title": "Street", "description": "and number"},
            "floor": {"type": "integer", "title": "Floor", "minimum": 0, "maximum": 9},
            "lift": {"type": "boolean", "title": "Lift"},
            "door": {"type": "string", "title": "Door", "enum": ["left", "right"]},
        },
        "required": ["street", "floor", "lift", "door"],
    },
)
LINK = Form("Please sign in", "links", {}, "https://login.example.com/oauth?x=1")
TRUST = Trust(
    "/work/app",
    (Brought("hook", "PreToolUse (Bash)", "./check --all", ".claude/settings.json"),),
    {".claude/settings.json": "1"},
)
SQLITE, POSTGRES = (Choices((Choice((label,)),)) for label in ("SQLite", "Postgres"))
FILLED = {"street": "Odeon 4", "floor": 3, "lift": True, "door": "right"}


class Gesture(Struct, frozen=True):
    """What a person does with a card: an act of the table of keys, with whatever goes with it."""

    act: str
    text: str = ""
    """A reason, or the new text of what is edited."""
    picks: tuple[Choice, ...] = ()
    """What is chosen for each prompt of a question."""
    fields: dict[str, Any] = field(default_factory=dict)
    """The values of a form. Each field is seen with its title before it is filled in."""


class AnswerCase(Struct, frozen=True):
    """One way to answer one ask. `shows`: what it is decided by; `claims`: what Claude says of it."""

    name: str
    body: Body
    gesture: Gesture
    answer: Answer
    headline: str
    shows: tuple[str, ...]
    claims: tuple[str, ...] = ()


def _picking(name: str, prompts: tuple[Prompt, ...], *picks: Choice) -> AnswerCase:
    """A question; of several prompts, the first is shown first."""
    act = "option" if any(each.labels for each in picks) else "free text"
    first = prompts[0]
    shows = tuple(word for option in first.options for word in (option.label, option.description) if word)
    gesture = Gesture(act, picks=picks)
    return AnswerCase(name, Question(prompts), gesture, Choices(picks), first.question, shows, (first.header,))


def _cases(name: str, body: Body, shown: tuple[str, ...], *ways: tuple[Gesture, Answer]) -> list[AnswerCase]:
    headline, *shows = shown
    made = []
    for gesture, answer in ways:
        how = gesture.act + {("deny", True): ", with a text", ("revise", False): ", without a text"}.get(
            (gesture.act, bool(gesture.text)), ""
        )
        claims = (body.input["description"],) if body is NPM else ()
        made.append(AnswerCase(f"{name}: {how}", body, gesture, answer, headline, tuple(shows), claims))
    return made


DIALOG = Question(
    (Prompt("Retry with another model?", "Claude Code", (Option("Retry"), Option("Dismiss")), closed=True),),
    terms=Terms(person=True),
    dialog=Dialog("refusal_fallback_prompt", ("retry_fallback", "cancelled")),
)
CASES = (
    _picking("question: option", (DATABASE,), Choice(("Postgres",))),
    _picking("question: own text", (DATABASE,), Choice(text="DuckDB")),
    _picking("several choices", (CHECKS,), Choice(("Uptime", "Memory"))),
    _picking("several choices and own text", (CHECKS,), Choice(("Disk",), "load")),
    _picking("several questions", (DATABASE, CHECKS), Choice(("SQLite",)), Choice(("Uptime", "Disk"))),
    _picking("open question", (Prompt("What is it called?", "Name"),), Choice(text="Shop")),
    AnswerCase(
        "dialog of Claude Code",
        DIALOG,
        Gesture("option", picks=(Choice(("Retry",)),)),
        Choices((Choice(("Retry",)),)),
        "Retry with another model?",
        ("Retry", "Dismiss"),
    ),
    *_cases(
        "permission",
        NPM,
        ("Run npm test?", "npm test"),
        (Gesture("once"), Allow()),
        (Gesture("session"), Allow("session")),
        (Gesture("always"), Allow("always")),
        (Gesture("edit", "npm run lint"), Allow(input={**NPM.input, "command": "npm run lint"})),
        (Gesture("deny"), Deny()),
        (Gesture("deny", "Lint first."), Deny("Lint first.")),
        (Gesture("stop"), Deny(interrupt=True)),
        (Gesture("suggestion"), Allow(suggestions=(0,))),
    ),
    *_cases(
        "change",
        DIFF,
        ("Write 1 line to health.py?", "OK = False", "OK = True"),
        (Gesture("once"), Allow()),
        (Gesture("deny"), Deny()),
    ),
    *_cases(
        "plan",
        PLAN,
        ("Claude has a plan: Move to Postgres", "Move to Postgres", "Make a dump", "Load it"),
        (Gesture("approve"), Approve()),
        (Gesture("free"), Approve("acceptEdits")),
        (Gesture("edit", "# Stay with SQLite"), Approve(plan="# Stay with SQLite")),
        (Gesture("revise", "Dump twice."), Revise("Dump twice.")),
        (Gesture("revise"), Revise()),
        (Gesture("outline"), Outline()),
    ),
    *_cases(
        "form",
        ADDRESS,
        ("Where does it go?", "forms"),
        (Gesture("fill", fields=FILLED), Filled("accept", FILLED)),
        (Gesture("decline"), Filled("decline")),
        (Gesture("cancel"), Filled("cancel")),
    ),
    *_cases(
        "link",
        LINK,
        ("Please sign in", "links", "https://login.example.com/oauth?x=1"),
        (Gesture("done"), Filled("accept")),
        (Gesture("decline"), Filled("decline")),
        (Gesture("cancel"), Filled("cancel")),
    ),
    *_cases(
        "trust",
        TRUST,
        ("Trust the Claude Code settings in /work/app?", "1 hook", "PreToolUse (Bash)", "./check --all"),
        (Gesture("exactly"), Trusting("exactly")),
        (Gesture("without"), Trusting("without")),
        (Gesture("never"), Trusting("never")),
    ),
)
