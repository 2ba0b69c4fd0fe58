"""The store changes that follow from a session's decisions, and its own record. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import assert_never

from msgspec.structs import replace

from handraise.model.actors import TheHub
from handraise.model.answers import Filled
from handraise.model.asks import Answered, Ask, Withdrawn
from handraise.model.audit import Entry
from handraise.model.items import SessionChanged, SessionEnded
from handraise.model.sessions import Ended, Session
from handraise.session import commands, phases
from handraise.session.commands import Command
from handraise.session.memory import Memory
from handraise.session.phases import Event
from handraise.store.changes import (
    Change,
    DeliverAsk,
    OpenAsk,
    PublishItems,
    QueueSay,
    Record,
    ReturnSay,
    SaveSession,
    SettleAsk,
    TakeSay,
)
from handraise.store.entries import FROM_HUB

FROM_WEBSITE = "website"
"""Where a link was answered that was completed by itself."""


def changes(session: str, wanted: Sequence[Command], raised: Iterable[Ask], now: datetime) -> list[Change]:
    """In order; `raised` are the asks as they will be stored, one for each `Raise`."""
    considered = iter(raised)
    changes: list[Change] = []
    for command in wanted:
        match command:  # the most frequent first
            case commands.Publish(content):
                changes.append(PublishItems(session, now, content))
            case (
                commands.Changed()
                | commands.Consult()
                | commands.Write()
                | commands.WakeMe()
                | commands.AnswerAgain()
                | commands.Terminate()
                | commands.Learn()
            ):
                pass
            case commands.Raise():
                changes.append(OpenAsk(next(considered)))
            case commands.Withdraw(ask, reason):
                changes.append(SettleAsk(ask, Withdrawn(reason, now)))
            case commands.Complete(ask):
                changes.append(SettleAsk(ask, Answered(Filled("accept"), TheHub(), FROM_WEBSITE, now)))
            case commands.Deliver(ask):
                changes.append(DeliverAsk(ask, now))
            case commands.AllowRetry(say, entry):
                changes += [QueueSay(say), Record(entry)]
            case commands.Take(say):
                changes.append(TakeSay(say, now))
            case commands.Return(say):
                changes.append(ReturnSay(say, now))
            case commands.Alarm(reason):
                changes.append(
                    Record(Entry(now, "alarm", TheHub(), FROM_HUB, session=session, detail={"reason": reason}))
                )
            case _:
                assert_never(command)
    return changes


def as_remembered(session: Session, memory: Memory, now: datetime) -> Session:
    """The record according to the session machine."""
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
        usage=memory.usage,
    )


def changed(session: Session, note: str = "") -> list[Change]:
    """Saves the record in its new state."""
    item = SessionChanged(
        session.phase,
        session.mode,
        session.model,
        session.title,
        session.cost_usd,
        note,
        session.stuck_since,
        session.usage,
        session.dialog,
    )
    return [SaveSession(session), PublishItems(session.id, session.changed_at, item)]


def moved(session: Session, event: Event, now: datetime) -> list[Change]:
    """Changes the phase of a session without a process."""
    return changed(replace(session, phase=phases.after(session.phase, event), changed_at=now))


def ended(session: Session, event: Event, how: Ended) -> list[Change]:
    """Ends a session without a process."""
    over = replace(session, phase=phases.after(session.phase, event), ended=how, changed_at=how.at)
    item = SessionEnded(how.how, how.reason, how.exit_code, how.by, how.alarm)
    return [PublishItems(session.id, how.at, item), *changed(over)]
