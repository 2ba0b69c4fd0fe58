"""Decides what to send next for all open asks, as one notification for what belongs together. Pure."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from handraise.reach.decision import (
    TOGETHER,
    Candidate,
    HoldBack,
    ReachWorld,
    SendNow,
    Skip,
    candidates,
    decide,
    message_id,
)
from handraise.reach.model import PUSH, SCREENS, TELEGRAM, AskLog, EntryState, NoticeEntry, Reason, Urgency
from handraise.reach.urgency import AskFacts, urgency_of

TRIES = 5
FIRST_PAUSE = 5.0
LONGEST_PAUSE = 120.0
_THEIR_OWN = (PUSH, TELEGRAM, SCREENS)
"""These deliver by themselves, or need nothing."""


class Bundle(Struct, frozen=True):
    """One message about one or several asks of a session. `is_repeated`: an earlier attempt may have arrived."""

    step: int
    channel: str
    person: str
    asks: tuple[str, ...]
    message: str
    urgency: Urgency
    is_repeated: bool = False


class SendAttempts(Struct):
    """How often sending a message failed, and when it may be retried."""

    count: int = 0
    not_before: datetime | None = None


class Round(Struct, frozen=True):
    """What to send now, what to note about what isn't sent, and when to look again."""

    sends: tuple[Bundle, ...]
    notes: tuple[tuple[str, NoticeEntry], ...]
    wake: datetime | None


class _Due(Struct, frozen=True):
    ask: AskFacts
    candidate: Candidate
    is_due: bool


def next_round(
    asks: Sequence[AskFacts],
    logs: Mapping[str, AskLog],
    world: ReachWorld,
    attempts: Mapping[str, SendAttempts],
    busy: Collection[str],
    now: datetime,
) -> Round:
    """`busy`: the messages that are on their way."""
    ready: list[_Due] = []
    repeats: dict[str, Bundle] = {}
    notes: list[tuple[str, NoticeEntry]] = []
    wakes: list[datetime] = []
    for ask in asks:
        log = logs.get(ask.id) or AskLog(ask.id, ask.opened_at)
        for each in candidates(ask, world):
            last = log.last(each.key)
            if each.channel in _THEIR_OWN:
                continue
            verdict = decide(ask, each, world, log.done, now)
            if isinstance(verdict, HoldBack) and verdict.until is not None:
                wakes.append(verdict.until)
            if last is not None and last.state == "sending" and not isinstance(verdict, Skip):
                # It may have arrived. If not, it still has to be allowed: quiet hours may have begun since.
                if isinstance(verdict, SendNow):
                    _repeat(repeats, ask, each, last, now)
                continue
            match verdict:
                case SendNow():
                    ready.append(_Due(ask, each, is_due=True))
                case HoldBack(reason="not_due"):
                    ready.append(_Due(ask, each, is_due=False))
                case HoldBack(reason=reason, until=until):
                    notes.append((ask.id, _note(each, "held", now, reason, until)))
                case Skip(reason="already_sent"):
                    pass
                case Skip(reason=reason):
                    notes.append((ask.id, _note(each, "skipped", now, reason, None)))
                case _:
                    assert_never(verdict)
    bundles = [*repeats.values(), *_bundles(ready, world, logs, now)]
    sends, later = _allowed(bundles, attempts, busy, now)
    fresh = [(ask, note) for ask, note in notes if _is_news(logs.get(ask), note)]
    return Round(tuple(sends), tuple(fresh), min([*wakes, *later], default=None))


def pause_after(count: int) -> float:
    """How long to wait after so many failures, in seconds."""
    return min(FIRST_PAUSE * 3.0 ** min(count - 1, 8), LONGEST_PAUSE)


def _repeat(repeats: dict[str, Bundle], ask: AskFacts, each: Candidate, last: NoticeEntry, now: datetime) -> None:
    known = repeats.get(last.message)
    if known is None:
        alone = Bundle(
            each.step, each.channel, each.person, (ask.id,), last.message, urgency_of(ask, now), is_repeated=True
        )
        repeats[last.message] = alone
    else:
        repeats[last.message] = replace(known, asks=(*known.asks, ask.id))


def _bundles(ready: Sequence[_Due], world: ReachWorld, logs: Mapping[str, AskLog], now: datetime) -> list[Bundle]:
    """Asks of one session that are due together; those that are due in a moment come along."""
    groups: dict[tuple[object, ...], list[_Due]] = {}
    for each in ready:
        about = each.ask.session or each.ask.id
        groups.setdefault((*each.candidate.key, about), []).append(each)
    bundles = []
    for group in groups.values():
        if not any(each.is_due for each in group):
            continue
        joining = [each for each in group if each.is_due or _may_join(each, world, logs, now)]
        names = tuple(each.ask.id for each in joining)
        urgencies = {urgency_of(each.ask, now) for each in joining}
        first = joining[0].candidate
        urgency: Urgency = "high" if "high" in urgencies else "normal" if "normal" in urgencies else "low"
        bundles.append(Bundle(first.step, first.channel, first.person, names, message_id(names, first), urgency))
    return bundles


def _may_join(each: _Due, world: ReachWorld, logs: Mapping[str, AskLog], now: datetime) -> bool:
    log = logs.get(each.ask.id)
    done = log.done if log is not None else ()
    is_soon = each.candidate.due <= now + TOGETHER
    at_once = replace(each.candidate, due=now)
    return is_soon and isinstance(decide(each.ask, at_once, world, done, now), SendNow)


def _allowed(
    bundles: Sequence[Bundle], attempts: Mapping[str, SendAttempts], busy: Collection[str], now: datetime
) -> tuple[list[Bundle], list[datetime]]:
    sends, later = [], []
    for each in bundles:
        failed = attempts.get(each.message)
        if each.message in busy:
            continue
        if failed is not None and failed.not_before is not None and failed.not_before > now:
            later.append(failed.not_before)
        else:
            sends.append(each)
    return sends, later


def _note(each: Candidate, state: EntryState, now: datetime, reason: Reason, until: datetime | None) -> NoticeEntry:
    return NoticeEntry(each.step, each.channel, each.person, state, now, reason, until)


def _is_news(log: AskLog | None, note: NoticeEntry) -> bool:
    last = log.last(note.key) if log is not None else None
    return last is None or (last.state, last.reason, last.until) != (note.state, note.reason, note.until)
