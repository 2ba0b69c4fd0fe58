"""Trust in a directory: what its files would make Claude Code run or allow, and what a person decided about it."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

TrustLevel = Literal["without", "exactly", "never"]
"""Run without them; use them exactly as they were shown; run without them whatever they become, and do not ask."""
BroughtKind = Literal[
    "hook",
    "server",
    "permission",
    "environment",
    "helper",
    "plugin",
    "agent",
    "command",
    "skill",
    "setting",
    "script",
]
_PLURAL: dict[BroughtKind, str] = {
    "hook": "hooks",
    "server": "MCP servers",
    "permission": "permission lists",
    "environment": "environment variables",
    "helper": "helper commands",
    "plugin": "plugin settings",
    "agent": "agents",
    "command": "commands",
    "skill": "skills",
    "setting": "other settings",
    "script": "scripts",
}
_SINGULAR: dict[BroughtKind, str] = {
    "server": "MCP server",
    "permission": "permission list",
    "environment": "environment variable",
    "helper": "helper command",
    "plugin": "plugin setting",
    "setting": "other setting",
}


class Brought(Struct, frozen=True):
    """One thing that a directory brings, whole."""

    kind: BroughtKind
    name: str
    text: str
    path: str
    """The file that it stands in: relative to the directory, or absolute where it is outside."""


class Trust(Struct, frozen=True):
    """A directory brings things that Claude Code would use unasked. `files` binds the ask to their every byte."""

    directory: str
    brought: tuple[Brought, ...]
    files: dict[str, str]
    """The SHA-256 of every file that was read, by its path."""
    unreadable: tuple[str, ...] = ()
    """Why the directory cannot be trusted: what could not be shown whole, or would take our own protection away."""


class DirectoryTrust(Struct, frozen=True):
    """What a person decided about a directory. It holds until it is revoked or, but for `never`, its files change."""

    directory: str
    level: TrustLevel
    digest: str
    """Names what was shown."""
    made_by: str
    source: str
    made_at: datetime
    ask: str

    def covers(self, digest: str) -> bool:
        """Whether this still says what to do."""
        return self.level == "never" or self.digest == digest


def in_words(brought: Sequence[Brought]) -> str:
    """What it is, counted: "3 hooks, 1 MCP server"."""
    counts = Counter(each.kind for each in brought)
    return ", ".join(f"{count} {_noun(kind, count)}" for kind, count in counts.items())


def kind_in_words(kind: BroughtKind) -> str:
    """One of them, at the beginning of a line."""
    word = _SINGULAR.get(kind, kind)
    return word[0].upper() + word[1:]


def _noun(kind: BroughtKind, count: int) -> str:
    return _SINGULAR.get(kind, kind) if count == 1 else _PLURAL[kind]
