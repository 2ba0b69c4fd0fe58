"""How urgent an ask is: its kind, its dangers, how long it has waited and what it blocks. Pure."""

from datetime import datetime, timedelta

from msgspec import Struct

from handraise.model.asks import Ask, Kind, dangers_of
from handraise.reach.model import Urgency

LONG = timedelta(minutes=15)
VERY_LONG = timedelta(hours=1)
EXPIRES_SOON = timedelta(minutes=10)
MANY = 3
"""So many open asks of one session: most of its work stands still."""
_KINDS: dict[Kind, int] = {"form": 0, "question": 1, "plan": 1, "permission": 1, "trust": 2}
"""Nothing of a session starts before its directory is trusted."""
_HIGH = 3


class AskFacts(Struct, frozen=True):
    """What matters of an ask for notifications. `waiting`: how many asks of its session are open."""

    id: str
    kind: Kind
    opened_at: datetime
    session: str | None = None
    project: str | None = None
    expires_at: datetime | None = None
    is_open: bool = True
    is_dangerous: bool = False
    waiting: int = 1


def facts_of(ask: Ask, waiting: int = 1) -> AskFacts:
    """The facts of a real ask. Its dangers are what the policy found in the call."""
    return AskFacts(
        ask.id,
        ask.kind,
        ask.opened_at,
        ask.session,
        ask.project,
        ask.expires_at,
        ask.settlement is None,
        bool(dangers_of(ask.body)),
        waiting,
    )


def urgency_of(ask: AskFacts, now: datetime) -> Urgency:
    """Points: the kind 0 to 2, a danger 2, waiting for 15 min 1 or an hour 2, expiring in 10 min 2, blocking much 1."""
    waited = now - ask.opened_at
    points = _KINDS[ask.kind]
    points += 2 if ask.is_dangerous else 0
    points += 2 if waited >= VERY_LONG else 1 if waited >= LONG else 0
    points += 2 if ask.expires_at is not None and ask.expires_at - now <= EXPIRES_SOON else 0
    points += 1 if ask.waiting >= MANY else 0
    if points >= _HIGH:
        return "high"
    return "normal" if points else "low"


def urgent_from(ask: AskFacts, now: datetime) -> datetime | None:
    """When it becomes urgent by waiting; None if it never does, or already is."""
    moments = [ask.opened_at + LONG, ask.opened_at + VERY_LONG]
    if ask.expires_at is not None:
        moments.append(ask.expires_at - EXPIRES_SOON)
    if urgency_of(ask, now) == "high":
        return None
    return min((each for each in moments if each > now and urgency_of(ask, each) == "high"), default=None)
