"""The risk of an ask: how carefully to look, and why. Pure; decides nothing."""

from typing import Literal

from msgspec import Struct

from handraise.model.asks import Ask, Form, Permission, Question
from handraise.model.tools import names_of, tool_named
from handraise.model.trust import Trust
from handraise.texts import t

_READING = names_of("read", "find")


class Risk(Struct, frozen=True):
    """How risky, and why if it is high."""

    level: Literal["low", "medium", "high"]
    reason: str = ""


def risk(ask: Ask, *, hidden: bool) -> Risk:
    """High: hides something, reaches out, runs without asking or can only be allowed once. Low: only reads or asks."""
    if hidden:
        return Risk("high", t("card.risk.hidden"))
    match ask.body:
        case Trust():
            return Risk("high", t("card.risk.trust"))
        case Permission(blocked_path=str() as path) if path:
            return Risk("high", t("card.risk.outside"))
        case Permission(tool=tool, offers=()) if tool_named(tool).kind == "shell" and (ask.session or ask.project):
            return Risk("high", t("card.risk.once"))
        case Permission(tool=tool) if tool in _READING:
            return Risk("low")
        case Question() | Form():
            return Risk("low")
        case _:
            return Risk("medium")
