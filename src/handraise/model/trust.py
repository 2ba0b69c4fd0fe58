"""Trust in a directory: what its files would make Claude Code run or allow, and what a person decided about it."""

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
