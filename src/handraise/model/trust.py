"""Trust in a directory: what its files would make Claude Code run or allow, and what a person decided about it."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

TrustLevel = Literal["without", "exactly", "never"]
"""Run without them; use them exactly as shown; run without them from now on, and never ask."""
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
    """One thing that a directory brings, complete."""

    kind: BroughtKind
    name: str
    text: str
    path: str
    """The file it is in: relative to the directory, or absolute if it is outside."""


class Trust(Struct, frozen=True):
    """A directory brings things that Claude Code would use without asking. `files` binds the ask to their content."""

    directory: str
    brought: tuple[Brought, ...]
    files: dict[str, str]
    """The SHA-256 of every file that was read, by its path."""
    unreadable: tuple[str, ...] = ()
    """Why the directory can't be trusted: what could not be shown completely, or would disable our own protection."""


class DirectoryTrust(Struct, frozen=True):
    """A person's decision about a directory. It holds until it is revoked or, except for `never`, its files change."""

    directory: str
    level: TrustLevel
    digest: str
    """Identifies what was shown."""
    made_by: str
    source: str
    made_at: datetime
    ask: str
    machine: str = ""
    """Where the directory is. Empty in databases of older versions: this machine."""

    def covers(self, digest: str) -> bool:
        """Whether this decision still applies."""
        return self.level == "never" or self.digest == digest
