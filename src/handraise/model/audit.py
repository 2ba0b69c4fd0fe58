"""The audit entry: who did what, when, from where, and what they were shown. Kept when history is pruned."""

from datetime import datetime
from typing import Any, Literal, TypedDict

from msgspec import Struct

from handraise.model.actors import Actor

What = Literal[
    "answered",
    "late answer",
    "expired",
    "withdrawn",
    "refused",
    "token made",
    "token revoked",
    "rule made",
    "rule revoked",
    "project added",
    "project changed",
    "project removed",
    "session started",
    "session stopped",
    "session resumed",
    "session removed",
    "login",
    "device added",
    "device removed",
    "trust revoked",
    "denied call allowed",
    "alarm",
    "machine renamed",
    "machine forgotten",
    "file reverted",
    "webhook added",
    "webhook changed",
    "webhook removed",
    "webhook secret rotated",
    "channel added",
    "channel changed",
    "channel removed",
    "chain changed",
]


class Entry(Struct, frozen=True):
    """One thing that a person did, or was refused."""

    at: datetime
    what: What
    by: Actor
    source: str
    ask: str | None = None
    session: str | None = None
    digest: str | None = None
    """Identifies what was shown."""
    rule: str | None = None
    detail: dict[str, Any] = {}
    number: int = 0
    """Assigned by the store, in order."""


class AuditFilter(TypedDict, total=False):
    """Which entries, in order: numbers between `after` and `before`, times from `since` up to `until`."""

    after: int
    before: int | None
    since: datetime | None
    until: datetime | None
    session: str | None
    ask: str | None
    by: str | None
    """The actor's name."""
    what: What | None
    limit: int
    newest_first: bool


FIRST = 500
"""The default limit."""
