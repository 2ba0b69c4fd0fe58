"""How well people are reached: how long asks waited, what notifications led to an answer, what wasn't needed. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from handraise.model.actors import ByRule, Person
from handraise.model.asks import Answered, Ask, Expired, Withdrawn
from handraise.reach.model import AskLog, NoticeEntry

ALREADY_THERE = timedelta(seconds=5)
"""Who answers so quickly after a notification didn't need it."""


class Spread(Struct, frozen=True):
    """Of some times, in seconds. Zero if there are none."""

    count: int = 0
    median: float = 0.0
    slowest: float = 0.0
    """90 % are at most this long."""


class ChannelStatistics(Struct, frozen=True):
    """What one channel did, in one step of the chains or (`step` is None) in all."""

    channel: str
    label: str
    step: int | None
    sent: int
    failed: int
    held: int
    unneeded: int
    """What rang and was not needed: the ask was withdrawn, answered by someone else, or being answered already."""
    noticed: Spread
    """From the notification until someone looked."""
    answered: Spread
    """From the notification until the answer, where it was the last one before the answer."""


class AskRow(Struct, frozen=True):
    """One ask, as a line of the export."""

    ask: str
    kind: str
    project: str
    opened_at: datetime
    settled_at: datetime | None
    state: str
    answered_by: str
    answered_from: str
    noticed_at: datetime | None
    seconds_to_notice: float | None
    seconds_to_answer: float | None
    seconds_waited: float
    notifications: int
    unneeded: int
    last_channel: str
    last_step: int | None


class ReachStatistics(Struct, frozen=True):
    """Everything about the asks of a period. What rules answered isn't counted."""

    asks: int
    answered: int
    expired: int
    withdrawn: int
    open: int
    minutes_waited: float
    """The minutes that agents waited for people, in all."""
    noticed: Spread
    to_answer: Spread
    notifications: int
    unneeded: int
    channels: tuple[ChannelStatistics, ...]


def rows_of(asks: Iterable[Ask], logs: Mapping[str, AskLog], now: datetime) -> list[AskRow]:
    """One for each ask that a rule didn't answer."""
    return [_row(ask, logs.get(ask.id), now) for ask in asks if not is_by_rule(ask)]


def statistics_of(asks: Sequence[Ask], logs: Mapping[str, AskLog], now: datetime) -> ReachStatistics:
    """Of these asks."""
    meant = [ask for ask in asks if not is_by_rule(ask)]
    rows = [_row(ask, logs.get(ask.id), now) for ask in meant]
    states = [row.state for row in rows]
    return ReachStatistics(
        asks=len(rows),
        answered=states.count("answered"),
        expired=states.count("expired"),
        withdrawn=states.count("withdrawn"),
        open=states.count("open"),
        minutes_waited=round(sum(row.seconds_waited for row in rows) / 60, 1),
        noticed=spread([row.seconds_to_notice for row in rows if row.seconds_to_notice is not None]),
        to_answer=spread([row.seconds_to_answer for row in rows if row.seconds_to_answer is not None]),
        notifications=sum(row.notifications for row in rows),
        unneeded=sum(row.unneeded for row in rows),
        channels=tuple(_channels(meant, logs)),
    )


def spread(seconds: Sequence[float]) -> Spread:
    """The median, and the time that 90 % are within."""
    if not seconds:
        return Spread()
    ordered = sorted(seconds)
    return Spread(len(ordered), _at(ordered, 0.5), _at(ordered, 0.9))


def _at(ordered: Sequence[float], share: float) -> float:
    return round(ordered[min(int(len(ordered) * share), len(ordered) - 1)], 1)


def is_by_rule(ask: Ask) -> bool:
    """Whether nobody had to be notified."""
    return isinstance(ask.settlement, Answered) and isinstance(ask.settlement.by, ByRule)


def _answered(ask: Ask) -> Answered | None:
    match ask.settlement:
        case Answered() as answered:
            return answered
        case Expired(late=late):
            return late
        case _:
            return None


def _row(ask: Ask, log: AskLog | None, now: datetime) -> AskRow:
    answered, settled = _answered(ask), ask.settlement.at if ask.settlement is not None else None
    sent = rang(log)
    noticed = _noticed(ask, log)
    last = _last_before(sent, answered.at) if answered is not None else None
    return AskRow(
        ask=ask.id,
        kind=ask.kind,
        project=ask.project or "",
        opened_at=ask.opened_at,
        settled_at=settled,
        state=ask.state,
        answered_by=answered.by.name if answered is not None else "",
        answered_from=answered.source if answered is not None else "",
        noticed_at=noticed,
        seconds_to_notice=_seconds(ask.opened_at, noticed),
        seconds_to_answer=_seconds(ask.opened_at, answered.at if answered is not None else None),
        seconds_waited=_seconds(ask.opened_at, settled or now) or 0.0,
        notifications=len(sent),
        unneeded=sum(was_unneeded(ask, each) for each in sent),
        last_channel=(last.label or last.channel) if last is not None else "",
        last_step=last.step if last is not None else None,
    )


def _channels(asks: Sequence[Ask], logs: Mapping[str, AskLog]) -> list[ChannelStatistics]:
    found: dict[tuple[str, int | None], list[tuple[Ask, NoticeEntry]]] = {}
    for ask in asks:
        log = logs.get(ask.id)
        for entry in log.entries if log is not None else ():
            found.setdefault((entry.channel, None), []).append((ask, entry))
            found.setdefault((entry.channel, entry.step), []).append((ask, entry))
    ordered = sorted(found, key=lambda key: (key[0], -1 if key[1] is None else key[1]))
    return [_channel(key[0], key[1], found[key], logs) for key in ordered]


def _channel(
    channel: str, step: int | None, entries: Sequence[tuple[Ask, NoticeEntry]], logs: Mapping[str, AskLog]
) -> ChannelStatistics:
    states = [entry.state for _, entry in entries]
    sent = [(ask, entry) for ask, entry in entries if entry.state in ("sent", "retracted")]
    noticed, answered = [], []
    for ask, entry in sent:
        sent_at = entry.sent_at or entry.at
        looked = _seconds(sent_at, _noticed(ask, logs.get(ask.id)))
        if looked is not None and looked > 0:
            noticed.append(looked)
        answer = _answered(ask)
        if answer is not None and _last_before(rang(logs.get(ask.id)), answer.at) == entry:
            answered.append(max(0.0, (answer.at - sent_at).total_seconds()))
    return ChannelStatistics(
        channel,
        next((entry.label for _, entry in reversed(entries) if entry.label), channel),
        step,
        len(sent),
        states.count("failed"),
        states.count("held"),
        sum(was_unneeded(ask, entry) for ask, entry in sent),
        spread(noticed),
        spread(answered),
    )


def rang(log: AskLog | None) -> list[NoticeEntry]:
    """What was sent, whether or not it was taken back."""
    return [each for each in log.entries if each.state in ("sent", "retracted")] if log is not None else []


def _noticed(ask: Ask, log: AskLog | None) -> datetime | None:
    """When someone first looked; at the latest, when a person answered."""
    answered = _answered(ask)
    by_answer = answered.at if answered is not None and isinstance(answered.by, Person) else None
    looked = log.noticed_at if log is not None else None
    return min((each for each in (looked, by_answer) if each is not None), default=None)


def _last_before(sent: Sequence[NoticeEntry], at: datetime) -> NoticeEntry | None:
    before = [each for each in sent if (each.sent_at or each.at) <= at]
    return max(before, key=lambda each: each.sent_at or each.at, default=None)


def was_unneeded(ask: Ask, entry: NoticeEntry) -> bool:
    """Whether it rang for nothing: see `ChannelStatistics.unneeded`."""
    if isinstance(ask.settlement, Withdrawn):
        return True
    answered = _answered(ask)
    if answered is None:
        return False
    is_by_another = bool(entry.person) and answered.by.name != entry.person
    return is_by_another or answered.at - (entry.sent_at or entry.at) < ALREADY_THERE


def _seconds(start: datetime, end: datetime | None) -> float | None:
    return None if end is None else round(max(0.0, (end - start).total_seconds()), 1)
