"""The session: one conversation with Claude. It outlives processes."""

from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import Struct

from handraise.model.actors import Actor
from handraise.model.usage import UsageLimit

Phase = Literal["queued", "starting", "idle", "working", "parking", "parked", "stopping", "ended"]
PHASES: tuple[Phase, ...] = ("queued", "starting", "idle", "working", "parking", "parked", "stopping", "ended")
PARKED: tuple[Phase, ...] = ("parking", "parked")
"""It was idle, and its Claude is making or has made room for another session; the next message brings it back."""
Ending = Literal["stopped", "finished", "failed", "lost"]


class Ended(Struct, frozen=True):
    """How a session's last process ended; a resume clears this."""

    how: Ending
    reason: str
    at: datetime
    exit_code: int | None = None
    by: str | None = None
    """Who stopped it, if a person did."""
    alarm: bool = False
    """We stopped it because something bypassed Handraise."""


class Session(Struct, frozen=True):
    """What the store keeps of a session besides its timeline."""

    id: str
    project: str | None
    directory: str
    claude_id: str
    """Claude's own session ID: we choose it, a resume keeps it, a fork gets a new one."""
    title: str
    created_at: datetime
    changed_at: datetime
    phase: Phase = "queued"
    mode: str = "default"
    model: str | None = None
    cost_usd: float = 0.0
    run: int = 0
    """The number of its process: 1 for the first, 0 before that."""
    ended: Ended | None = None
    stuck_since: datetime | None = None
    """Since when Claude hasn't responded to an answer."""
    forked_from: str | None = None
    usage: tuple[UsageLimit, ...] = ()
    """The usage limits of the account, as its Claude reported them last. Empty with an API key."""
    terminal: str = ""
    """The machine where a person runs it in a terminal; empty if the hub runs it."""
    dialog: str = ""
    """What waits in that terminal and can be answered only there, on one line; empty if nothing does."""
    machine: str = ""
    """The machine that has its journal. Empty in databases of older versions: this one."""


class Checkpoint(Struct, frozen=True):
    """How far a session's journal has been read, and the state of the session machine there."""

    session: str
    run: int
    offset: int
    memory: bytes


def session_as_json(session: Session, open_asks: int) -> dict[str, Any]:
    """A session as the API shows it; `state` is for people."""
    built: dict[str, Any] = msgspec.to_builtins(session, builtin_types=(datetime,))
    return {**built, "state": state_of(session, open_asks), "open_asks": open_asks}


def state_of(session: Session, open_asks: int) -> str:
    """The state in words, most important first."""
    if session.ended is not None:
        return session.ended.how
    if open_asks or session.dialog:
        return "needs you"
    if session.stuck_since is not None:
        return "not moving"
    return "idle" if session.phase in PARKED else session.phase


class Say(Struct, frozen=True):
    """Text, or blocks of the Messages API. The ID is sent along, so that it is received only once."""

    id: str
    session: str
    content: str | tuple[dict[str, Any], ...]
    by: Actor
    source: str
    at: datetime
    taken_at: datetime | None = None
