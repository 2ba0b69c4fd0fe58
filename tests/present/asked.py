"""Asks of every kind, and a check for our own plain English in a text."""

import re
from datetime import UTC, datetime
from typing import Any

from handraise.model.asks import (
    Ask,
    Body,
    Dialog,
    Form,
    Offer,
    Option,
    Origin,
    Permission,
    Plan,
    Prompt,
    Question,
    Terms,
)
from handraise.model.rules import Rule
from handraise.model.trust import Brought, Trust

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
HERE = "/work/app"
NEW = "@@ -0,0 +1,2 @@\n+1\n+2\n"
CHANGE = "@@ -1 +1 @@\n-1\n+2\n"

NPM = Permission(
    "Bash",
    {"command": "7 7", "run_in_background": True},
    offers=(
        Offer("session", "", (Rule("", "allow", tool="Bash", command="7 *"),)),
        Offer("always", "", (Rule("", "allow", tool="Bash", command="7 7"),)),
    ),
    suggestions=(
        {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "7:*"}],
            "behavior": "allow",
            "destination": "localSettings",
        },
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    ),
)
WRITE = Permission("Write", {"file_path": "/work/app/7", "content": "1\n2\n"}, diff=NEW)
WHICH = Question((Prompt("7?", "7", (Option("8", "88", preview="888"), Option("9"))),))
TWO = Question((Prompt("7?", "", (Option("8"),)), Prompt("9?")))
PLAN = Plan("# 7\n\n1. 8")
FORM = Form("7?", "9", {"properties": {"8": {"title": "88", "description": "888"}}})
LINK = Form("7?", "9", {}, "https://7.x/9")
DIALOG = Question(
    (Prompt("7?", "7", (Option("8"), Option("9")), closed=True),),
    terms=Terms(person=True),
    dialog=Dialog("7", ("8", "cancelled")),
)
TRUST = Trust("/7", (Brought("hook", "8", "888", "9"), Brought("server", "1", "11", "9")), {"9": "0"})
BODIES: tuple[Body, ...] = (NPM, WRITE, WHICH, TWO, PLAN, FORM, LINK, DIALOG, TRUST)

_WORD = re.compile(r"[A-Za-z]{2,}")
_QUOTE = re.compile(r"`[^`]*`|⟨[^⟩]*⟩|https?://\S*")


def ask_of(body: Body, session: str | None = "s_1", **more: Any) -> Ask:
    more.setdefault("opened_at", NOON)
    tool = body.tool if isinstance(body, Permission) else "AskUserQuestion"
    return Ask("a_1", session, None, body, tool, Origin("r_1"), asker="session" if session else "agent", **more)


def bash(command: str, **more: Any) -> Permission:
    return Permission("Bash", {"command": command, **more})


def english_in(text: str) -> list[str]:
    """Every plain word outside quotes."""
    return _WORD.findall(_QUOTE.sub(" ", text))
