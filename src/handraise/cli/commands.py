"""The commands, and the overview of them. Imports almost nothing: `--help` should start as fast as Python itself."""

import os
import sys

# In the order of `--help`, by purpose: each command with its module in handraise.cli and the first sentence of its own
# help. The sentence is repeated here so that listing the commands doesn't import them all.
GROUPS = {
    "Work with Claude": {
        "run": ("interactive", "Start a session in this directory and follow it."),
        "attach": ("interactive", "Follow a session from its latest output."),
        "inbox": ("interactive", "Answer open requests from all sessions."),
        "ps": ("ps", "List sessions, those that need you first."),
        "show": ("show", "Show a session or a request."),
        "diff": ("diff", "Show what a session changed in its working tree since it started."),
        "search": ("search", "Search all sessions: messages, Claude's text, commands, files, output and requests."),
    },
    "Control sessions": {
        "say": ("steering", "Send a message to a session, during a turn too."),
        "answer": ("steering", "Answer one request."),
        "allow": ("steering", "Allow one retry of a call that Claude Code denied without asking."),
        "interrupt": ("steering", "Interrupt the current turn of a session."),
        "stop": ("steering", "Stop a session; you can resume it later."),
        "cancel": ("steering", "Take back what waits for a session whose machine is away."),
        "mode": ("steering", "Change the permission mode of a session."),
        "rm": ("removing", "Remove sessions that have ended."),
        "prune": ("removing", "Remove all sessions that ended a while ago."),
    },
    "Hub": {
        "serve": ("serve", "Run the hub: web page, API and sessions."),
        "demo": (
            "serve",
            "Try every kind of request: real Claude Code, scripted model, no account, no network.",
        ),
        "hub": ("hub", "Show, stop and restart this machine's hub, and read its log."),
        "service": ("service", "Run the hub as a service that starts by itself: systemd or launchd."),
        "doctor": ("doctor", "Check the setup: Claude Code, sign-in, port, permissions, disk and more."),
        "machines": ("machines", "List, rename and forget the machines that share this inbox."),
        "backup": ("backup", "Save everything the hub keeps in one file, while it runs."),
        "restore": ("backup", "Restore a backup while the hub is stopped; sessions keep running."),
        "store": ("store", "Copy the database, for example from SQLite to PostgreSQL."),
        "audit": ("audit", "Show the audit log: who did what, and when."),
        "replay": ("replay", "Rebuild a timeline from a journal: a file, a session's folder or a session ID."),
    },
    "Projects and access": {
        "project": ("projects", "Add, list, change, remove and sync projects."),
        "rules": (
            "rules",
            "List, add and revoke rules: the first rule that matches decides.",
        ),
        "trust": ("trust", "List and revoke which directories may use their own hooks, servers and permissions."),
        "token": ("tokens", "Create, list and revoke tokens, and sign in a browser."),
        "login": ("login", "Sign in to a hub on another machine."),
        "logout": ("login", "Sign out: forget the saved token."),
    },
    "Integrations": {
        "telegram": ("telegram", "Connect a Telegram bot, send a test message, and show its status."),
        "webhooks": ("webhooks", "List, add, test and remove webhooks, and show what was sent."),
        "notify": ("notify", "Set up notifications: channels, escalation, quiet hours, mutes, and what was sent."),
        "mcp": ("mcp", "Run an MCP server on stdio with ask_user and approval_prompt, for any agent."),
        "completion": ("completion", "Print the completion script for bash, zsh or fish (default: $SHELL)."),
    },
}
COMMANDS = {name: module for group in GROUPS.values() for name, (module, _) in group.items()}
SENTENCES = {name: sentence for group in GROUPS.values() for name, (_, sentence) in group.items()}
SUMMARY = "Claude Code raises its hand; you answer from anywhere."
EXAMPLES = """\
handraise demo                        try it without an account
handraise run "Fix the failing test"  start Claude in this directory
handraise inbox                       answer open requests from all sessions"""
EXIT_CODES = (
    "Exit codes: 0 done, 1 failed or left unfinished, 2 wrong usage, 3 no hub, 4 refused, 5 port in use, 130"
    " interrupted, 143 terminated."
)
_OPTIONS = {"-V, --version": "Show the version and exit.", "-h, --help": "Show this message and exit."}
_WIDEST, _NARROWEST = 80, 50


def overview() -> str:
    """What `handraise --help` prints: the same text that click makes, without importing it."""
    width = max(min(_columns(), _WIDEST) - 2, _NARROWEST)
    column = max(map(len, COMMANDS)) + 2
    lines = ["Usage: handraise [OPTIONS] COMMAND [ARGS]...", "", *_wrapped(SUMMARY, width - 2), ""]
    lines += [*EXAMPLES.splitlines(), ""]
    lines[2:] = [f"  {each}" if each else "" for each in lines[2:]]
    lines += ["Options:", *_listed(_OPTIONS, max(map(len, _OPTIONS)) + 2, width), ""]
    for title, group in GROUPS.items():
        lines += [f"{title}:", *_listed({name: each for name, (_, each) in group.items()}, column, width), ""]
    return "\n".join([*lines, *(f"  {each}" for each in _wrapped(EXIT_CODES, width - 2)), ""])


def _columns() -> int:
    """As `shutil.get_terminal_size`, which takes longer to import than all of this."""
    try:
        if (columns := int(os.environ.get("COLUMNS", "0"))) > 0:
            return columns
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _WIDEST if sys.__stdout__ else _WIDEST
    except (ValueError, OSError):
        return _WIDEST


def _listed(entries: dict[str, str], column: int, width: int) -> list[str]:
    rows = []
    for name, text in entries.items():
        first, *more = _wrapped(text, max(width - column - 2, 10))
        rows += [f"  {name:<{column}}{first}", *(f"{'':<{column + 2}}{each}" for each in more)]
    return rows


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most this width; a word can be divided after a hyphen."""
    lines, line = [], ""
    for word in text.split():
        space = " "
        for piece in word.replace("-", "-\0").split("\0"):
            if line and len(f"{line}{space}{piece}") > width:
                lines.append(line)
                line = piece
            else:
                line = f"{line}{space}{piece}" if line else piece
            space = ""
    return [*lines, line]
