"""What a session machine's commands change in the store. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import assert_never

from handraise.model.actors import TheHub
from handraise.model.asks import Ask, Withdrawn
from handraise.model.audit import Entry
from handraise.session import commands
from handraise.session.commands import Command
from handraise.store.changes import Change, DeliverAsk, OpenAsk, PublishItems, Record, ReturnSay, SettleAsk, TakeSay
from handraise.store.entries import FROM_HUB


def changes(session: str, wanted: Sequence[Command], raised: Iterable[Ask], now: datetime) -> list[Change]:
    """In their order; `raised` are the asks as they go into the store, one for each that is to be raised."""
    considered = iter(raised)
    kept: list[Change] = []
    for command in wanted:
        match command:
            case commands.Raise():
                kept.append(OpenAsk(next(considered)))
            case commands.Withdraw(ask, reason):
                kept.append(SettleAsk(ask, Withdrawn(reason, now)))
            case commands.Deliver(ask):
                kept.append(DeliverAsk(ask, now))
            case commands.Take(say):
                kept.append(TakeSay(say, now))
            case commands.Return(say):
                kept.append(ReturnSay(say, now))
            case commands.Publish(content):
                kept.append(PublishItems(session, now, content))
            case commands.Alarm(reason):
                kept.append(Record(Entry(now, "alarm", TheHub(), FROM_HUB, session=session, detail={"reason": reason})))
            case (
                commands.Changed()
                | commands.Consult()
                | commands.Write()
                | commands.WakeMe()
                | commands.AnswerAgain()
                | commands.Terminate()
            ):
                pass
            case _:
                assert_never(command)
    return kept
