"""The session's own record: what the store keeps of it, and what its followers are told. Pure."""

from datetime import datetime

from msgspec.structs import replace

from handraise.model.items import SessionChanged, SessionEnded
from handraise.model.sessions import Ended, Session
from handraise.session.memory import Memory
from handraise.store.changes import Change, PublishItems, SaveSession


def as_remembered(session: Session, memory: Memory, now: datetime) -> Session:
    """The record as the session machine has it."""
    return replace(
        session,
        claude_id=memory.claude_id or session.claude_id,
        title=memory.title or session.title,
        phase=memory.phase,
        mode=memory.mode,
        model=memory.model,
        cost_usd=memory.cost_usd,
        changed_at=now,
        ended=memory.ended,
        stuck_since=(session.stuck_since or now) if memory.stuck else None,
    )


def changed(session: Session, note: str = "") -> list[Change]:
    """Keeps the record as it is from here on."""
    told = SessionChanged(
        session.phase,
        session.mode,
        session.model,
        session.title,
        session.cost_usd,
        note,
        session.stuck_since,
    )
    return [SaveSession(session), PublishItems(session.id, session.changed_at, told)]


def ended(session: Session, how: Ended) -> list[Change]:
    """Ends a session that has no process."""
    over = replace(session, phase="ended", ended=how, changed_at=how.at)
    told = SessionEnded(how.how, how.reason, how.exit_code, how.by, how.alarm)
    return [PublishItems(session.id, how.at, told), *changed(over)]
