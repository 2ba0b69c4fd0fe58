"""Asks and devices for the tests of Web Push."""

from datetime import UTC, datetime
from typing import Any

from handraise.model.asks import Ask, Body, Dialog, Form, Option, Origin, Permission, Plan, Prompt, Question, Terms
from handraise.model.devices import NOTICE_KINDS, Device

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
WHICH = Question((Prompt("Which database?", "Store", (Option("SQLite", "one file"), Option("Postgres", "a server"))),))
PLAN = Plan("# Move to Postgres\n\n1. Make a dump\n2. Load it")
LINK = Form("Please sign in", "links", {}, "https://login.example.com/oauth")
DIALOG = Question(
    (Prompt("Retry with another model?", "Claude Code", (Option("Retry"), Option("Dismiss")), closed=True),),
    terms=Terms(person=True),
    dialog=Dialog("refusal_fallback_prompt", ("retry_fallback", "cancelled")),
)
FORM = Form("Where does the lamp go?", "forms", {"properties": {}})


def bash(command: str, **more: Any) -> Permission:
    return Permission("Bash", {"command": command, **more})


def ask_of(body: Body, name: str = "a_1", session: str | None = "s_1", **more: Any) -> Ask:
    more.setdefault("opened_at", NOW)
    tool = body.tool if isinstance(body, Permission) else "AskUserQuestion"
    return Ask(name, session, None, body, tool, Origin(name), asker="session" if session else "agent", **more)


def device_of(name: str = "d_1", **more: Any) -> Device:
    more.setdefault("created_at", NOW)
    more.setdefault("kinds", NOTICE_KINDS)
    return Device(
        id=name,
        person="ana",
        token="t_1",
        label="A phone",
        endpoint="https://push.example/1",
        key="",
        secret="",
        **more,
    )
