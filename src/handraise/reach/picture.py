"""The picture of a chain: what would happen to an ask that is raised now and stays unanswered. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

from handraise.reach.decision import Candidate, HoldBack, ReachWorld, SendNow, Skip, candidates, decide, steps_for
from handraise.reach.model import ALL, SCREENS, ChainStep, Reason, Target, Urgency
from handraise.reach.urgency import AskFacts, urgency_of

Effect = Literal["shown", "sent", "later", "held", "not_sent"]
"""On screens; at the step's time; after it, at `at`; until something changes; never."""


class PictureRow(Struct, frozen=True):
    """What one step does for one channel and person."""

    channel: str
    label: str
    person: str
    effect: Effect
    at: datetime | None = None
    reason: Reason | None = None
    until: datetime | None = None


class PictureStep(Struct, frozen=True):
    """One step: when, for whom, and what comes of it."""

    after: int
    at: datetime
    urgency: Urgency
    targets: tuple[Target, ...]
    rows: tuple[PictureRow, ...]


def picture_of(ask: AskFacts, world: ReachWorld) -> list[PictureStep]:
    """Presence, mutes and settings stay as they are now; the time goes on."""
    done: set[tuple[int, str, str]] = set()
    names: Mapping[str, str] = {each.id: each.name for each in world.channels}
    every = candidates(ask, world)
    return [
        _step(step, [each for each in every if each.step == number], ask, world, done, names)
        for number, step in enumerate(steps_for(ask.project, world))
    ]


def _step(
    step: ChainStep,
    due: list[Candidate],
    ask: AskFacts,
    world: ReachWorld,
    done: set[tuple[int, str, str]],
    names: Mapping[str, str],
) -> PictureStep:
    at = due[0].due if due else ask.opened_at + timedelta(seconds=step.after)
    rows = [_row(each, ask, world, done, names) for each in due]
    if not rows:
        rows = [PictureRow("", "", ALL, "not_sent", reason="no_receiver")]
    return PictureStep(step.after, at, urgency_of(ask, at), step.targets, tuple(rows))


def _row(
    each: Candidate, ask: AskFacts, world: ReachWorld, done: set[tuple[int, str, str]], names: Mapping[str, str]
) -> PictureRow:
    label = names.get(each.channel, each.channel)
    if each.channel == SCREENS:
        return PictureRow(SCREENS, label, ALL, "shown", each.due)
    verdict = decide(ask, each, world, done, each.due)
    match verdict:
        case SendNow():
            done.add(each.key)
            return PictureRow(each.channel, label, each.person, "sent", each.due)
        case HoldBack(reason=reason, until=until):
            done.add(each.key)
            effect: Effect = "held" if until is None else "later"
            return PictureRow(each.channel, label, each.person, effect, until, reason, until)
        case Skip(reason=reason):
            return PictureRow(each.channel, label, each.person, "not_sent", None, reason)
