"""Whether a project can have these options. What is stored is never checked again: an older hub may have kept it."""

import re

from msgspec.structs import asdict

from handraise.model.projects import SANDBOXES, Options
from handraise.model.rules import ProjectRule
from handraise.model.tools import ASK_USER_LEAST, ASK_USER_MOST

MODES = ("default", "manual", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions")
"""The permission modes that Claude Code knows."""
_TOOL = re.compile(r"[A-Za-z_][\w.*:-]*(\(.+\))?", re.DOTALL)
_YEAR = 365 * 24 * 3600
_MOST_PARALLEL = 1000


class BadOption(Exception):
    """A value that a project cannot have. The text names the key and says what it must be."""


def check(options: Options) -> None:
    """Raises BadOption unless every value makes sense."""
    if options.mode is not None and options.mode not in MODES:
        raise BadOption(f"mode must be one of {', '.join(MODES)}.")
    if options.sandbox is not None and options.sandbox not in SANDBOXES:
        raise BadOption(f"sandbox must be one of {', '.join(SANDBOXES)}.")
    seconds = options.ask_user_timeout
    if seconds is not None and not ASK_USER_LEAST <= seconds <= ASK_USER_MOST:
        raise BadOption(f"ask_user_timeout must be from {ASK_USER_LEAST} to {ASK_USER_MOST} seconds, not {seconds}.")
    for key in ("model", "append_system_prompt"):
        value = getattr(options, key)
        if value is not None and not value.strip():
            raise BadOption(f"{key} must not be empty; leave it out instead.")
    for key in ("allowed_tools", "add_dirs"):
        if not all(each.strip() for each in getattr(options, key)):
            raise BadOption(f"{key} must not hold an empty text.")
    for tool in options.allowed_tools:
        if not _TOOL.fullmatch(tool):
            raise BadOption(f"allowed_tools: {tool!r} is not a tool as Claude Code spells it, such as Bash(git log:*).")
    for directory in options.add_dirs:
        if not directory.startswith("/"):
            raise BadOption(f"add_dirs must hold absolute paths, not {directory!r}.")
    for kind, patience in asdict(options.patience).items():
        if patience is not None and not 0 < patience <= _YEAR:
            raise BadOption(f"patience.{kind} must be from 1 second to a year; leave it out to wait for ever.")
    if options.parallel is not None and not 1 <= options.parallel <= _MOST_PARALLEL:
        raise BadOption(f"parallel must be from 1 to {_MOST_PARALLEL}.")
    if options.cost_limit_usd is not None and options.cost_limit_usd <= 0:
        raise BadOption("cost_limit_usd must be more than 0.")
    for number, rule in enumerate(options.rules, 1):
        _check_rule(rule, f"rules: number {number}")


def _check_rule(rule: ProjectRule, which: str) -> None:
    named = {key: getattr(rule, key) for key in ("tool", "command", "path", "server")}
    for key, value in named.items():
        if value is not None and not value.strip():
            raise BadOption(f"{which} has an empty {key}; leave it out instead.")
    if rule.decision == "allow" and not any(named.values()):
        raise BadOption(f"{which} would allow everything; name a tool, command, path or server.")
    if rule.mode is not None and rule.mode not in MODES:
        raise BadOption(f"{which} has a mode that Claude Code does not know; it must be one of {', '.join(MODES)}.")
