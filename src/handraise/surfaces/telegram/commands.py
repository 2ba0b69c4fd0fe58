"""The bot's commands: what there is, who may use it, and how one is read. Pure."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from msgspec import Struct

from handraise.model.projects import MODES, Project
from handraise.model.tokens import Role
from handraise.texts import t

NEVER_ASKS = "bypassPermissions"
OFFERED_MODES = ("default", "acceptEdits", "plan")
"""As buttons, in this order. Claude refuses to stop asking while it runs, so that mode is never offered."""
_COMMAND = re.compile(r"/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]+))?(?=\s|$)")
_OFF = frozenset({"off", "no", "stop", "end"})
_ROLES: dict[str, Role] = {
    "new": "admin",
    "sessions": "viewer",
    "inbox": "viewer",
    "mode": "admin",
    "interrupt": "approver",
    "stop": "admin",
    "resume": "admin",
    "mute": "approver",
    "help": "viewer",
}
"""Every command, in the order of the menu, with the role that the same act needs in the API."""
COMMANDS = tuple(_ROLES)
_ALIASES = {"start": "help"}
"""Telegram sends `/start` when a person opens a bot."""


class CommandLine(Struct, frozen=True):
    """A command, without its slash and in lower case, and the text after it."""

    name: str
    rest: str = ""


class NewRequest(Struct, frozen=True):
    """What `/new` asks for. `project` is None if the text names none."""

    project: Project | None
    text: str


def parse(text: str, bot: str = "") -> CommandLine | None:
    """The command that a message starts with; None if it has none, or one for another bot."""
    found = _COMMAND.match(text)
    if found is None or (found[2] and bot and found[2].lower() != bot.lower()):
        return None
    return CommandLine(found[1].lower(), text[found.end() :].strip())


def known(name: str) -> str | None:
    """The command that a name stands for; None if there is no such command."""
    name = _ALIASES.get(name, name)
    return name if name in _ROLES else None


def role_for(command: str) -> Role:
    """The role that a command needs."""
    return _ROLES[command]


def menu() -> tuple[tuple[str, str], ...]:
    """Every command with its description, for `setMyCommands`."""
    return tuple((name, t(f"telegram.command.about.{name}")) for name in COMMANDS)


def unknown(name: str) -> str:
    """The sentence for a command that doesn't exist."""
    similar = get_close_matches(name, COMMANDS, 1)
    if similar:
        return t("telegram.command.similar", name=name, similar=similar[0])
    return t("telegram.command.unknown", name=name, commands=" ".join(f"/{each}" for each in COMMANDS))


def help_text() -> str:
    """What the bot can do, a line per command."""
    lines = (t("telegram.command.line", name=name, about=about) for name, about in menu())
    return "\n".join((t("telegram.command.intro"), "", *lines, "", t("telegram.command.hint")))


def new_request(rest: str, projects: Iterable[Project]) -> NewRequest:
    """A project at the start of the text, by its name, ID or directory; the longest one that fits."""
    named = [
        (len(name), project)
        for project in projects
        for name in (project.name, project.id, project.path)
        if name and _starts_with(rest, name)
    ]
    if not named:
        return NewRequest(None, rest)
    length, project = max(named, key=lambda each: each[0])
    return NewRequest(project, rest[length:].lstrip(": \t\n"))


def mode_named(name: str) -> str | None:
    """A permission mode by its name, in any case; None if there is no such mode, or it can't be chosen here."""
    wanted = name.strip().lower()
    return next((mode for mode in MODES if mode.lower() == wanted and mode != NEVER_ASKS), None)


def wants_mute(rest: str, *, muted: bool) -> bool:
    """`/mute` alone switches; `/mute on` and `/mute off` say which."""
    word = rest.strip().lower()
    if word in _OFF:
        return False
    return True if word else not muted


def _starts_with(text: str, name: str) -> bool:
    head, after = text[: len(name)], text[len(name) : len(name) + 1]
    return head.lower() == name.lower() and (not after or after.isspace() or after == ":")
