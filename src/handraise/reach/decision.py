"""Decides who is notified of an ask, when and where, and why not. Never awaits, never looks at a clock.

Every channel asks here: Web Push and Telegram, which deliver by themselves, and all others.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import assert_never

from msgspec import Struct

from handraise.model.tokens import Role, may
from handraise.reach.model import (
    ALL,
    DEFAULT_STEPS,
    EVERYTHING,
    PUSH,
    SCREENS,
    TELEGRAM,
    Chain,
    ChainStep,
    Mute,
    Reason,
    Target,
    ToChannel,
    ToChannels,
    ToDevices,
    ToPerson,
    ToScreens,
    ToTelegram,
)
from handraise.reach.quiet import QuietWindow
from handraise.reach.urgency import AskFacts, urgency_of, urgent_from

GRACE = timedelta(seconds=2)
"""An ask that is answered this quickly was seen on a screen. Others of its session that come meanwhile join it."""
LOOKING = timedelta(minutes=2)
"""Who has an ask on the screen for this long after they would have been notified isn't looking: then they are."""
TOGETHER = timedelta(seconds=5)
"""Asks of one session that are due within this time are one notification."""


class ChannelFacts(Struct, frozen=True):
    """A channel, and whose it is (ALL: shared)."""

    id: str
    owner: str
    name: str = ""


class ReachWorld(Struct, frozen=True):
    """Everything besides the ask that the decision depends on."""

    roles: Mapping[str, Role] = {}
    """People, by name. Who isn't here may not answer."""
    quiet: Mapping[str, QuietWindow] = {}
    mutes: tuple[Mute, ...] = ()
    looking: Mapping[str, Collection[str]] = {}
    """By person, the sessions that they look at (EVERYTHING: the inbox). Who isn't here is away."""
    channels: tuple[ChannelFacts, ...] = ()
    devices: Collection[str] = ()
    """The people who turned a device on."""
    has_telegram: bool = False
    chains: Mapping[str, Chain] = {}
    """By project; ALL is for those without one of their own."""
    grace: timedelta = GRACE


class Candidate(Struct, frozen=True):
    """One message that a step asks for. `person` is ALL if it isn't for one person."""

    step: int
    due: datetime
    channel: str
    person: str
    is_allowed: bool = True

    @property
    def key(self) -> tuple[int, str, str]:
        return self.step, self.channel, self.person


class SendNow(Struct, frozen=True):
    """Now."""


class HoldBack(Struct, frozen=True):
    """Not now: again at `until`, or when something changes."""

    reason: Reason
    until: datetime | None = None


class Skip(Struct, frozen=True):
    """Never, for this step."""

    reason: Reason


Verdict = SendNow | HoldBack | Skip


def steps_for(project: str | None, world: ReachWorld) -> tuple[ChainStep, ...]:
    """The project's own chain, else the one for all, else everything at once."""
    chain = world.chains.get(project) if project else None
    chain = chain or world.chains.get(ALL)
    return chain.steps if chain is not None else DEFAULT_STEPS


def candidates(ask: AskFacts, world: ReachWorld) -> list[Candidate]:
    """Every message that the chain asks for, each once, in order."""
    found: dict[tuple[int, str, str], Candidate] = {}
    for number, step in enumerate(steps_for(ask.project, world)):
        for target in step.targets:
            for channel, person in _receivers(target, world):
                # A chat shows it at once: people may be talking to Claude there.
                grace = timedelta(0) if channel == TELEGRAM else world.grace
                due = ask.opened_at + max(timedelta(seconds=step.after), grace)
                each = Candidate(number, due, channel, person, _may_be_told(channel, person, world))
                found.setdefault(each.key, each)
    return list(found.values())


def decide(
    ask: AskFacts, candidate: Candidate, world: ReachWorld, done: Collection[tuple[int, str, str]], now: datetime
) -> Verdict:
    """`done`: the keys of what was sent for this ask, or given up."""
    if not ask.is_open:
        return Skip("settled")
    if not candidate.is_allowed:
        return Skip("not_allowed")
    if candidate.key in done or _sent_earlier(candidate, done):
        return Skip("already_sent")
    if now < candidate.due:
        return HoldBack("not_due", candidate.due)
    return _hold(ask, candidate, world, now) or SendNow()


def next_for(
    ask: AskFacts, channel: str, person: str, world: ReachWorld, done: Collection[tuple[int, str, str]], now: datetime
) -> tuple[Candidate, Verdict] | None:
    """The first step that is for this channel and person, and what to do about it; None if no step is."""
    for each in candidates(ask, world):
        if each.channel == channel and each.person in (person, ALL):
            mine = Candidate(each.step, each.due, channel, person, each.is_allowed)
            return mine, decide(ask, mine, world, done, now)
    return None


def is_looking(person: str, session: str | None, world: ReachWorld) -> bool:
    """Whether this person has the ask's session, or every ask, on their screen. Unknown means away."""
    seen = world.looking.get(person, ())
    return EVERYTHING in seen or (session is not None and session in seen)


def message_id(asks: Collection[str], candidate: Candidate) -> str:
    """The same for the same step, channel and asks: whoever gets a message twice can tell."""
    about = "\n".join([*sorted(asks), str(candidate.step), candidate.channel, candidate.person])
    return sha256(about.encode()).hexdigest()[:32]


def _hold(ask: AskFacts, candidate: Candidate, world: ReachWorld, now: datetime) -> HoldBack | None:
    person = candidate.person
    muted = [each for each in world.mutes if each.covers(person, ask.session, ask.project, now)]
    if muted:
        ends = [each.until for each in muted if each.until is not None]
        return HoldBack("muted", max(ends) if len(ends) == len(muted) else None)
    if person == ALL:
        return None  # nobody in particular, who could be looking or asleep
    until = candidate.due + LOOKING
    if now < until and is_looking(person, ask.session, world):
        return HoldBack("looking", until)
    return _quiet(ask, world.quiet.get(person), now)


def _quiet(ask: AskFacts, window: QuietWindow | None, now: datetime) -> HoldBack | None:
    ends = window.ends_at(now) if window is not None else None
    if window is None or ends is None:
        return None
    if not window.urgent_gets_through:
        return HoldBack("quiet", ends)
    if urgency_of(ask, now) == "high":
        return None
    urgent = urgent_from(ask, now)
    return HoldBack("quiet", ends if urgent is None else min(ends, urgent))


def _sent_earlier(candidate: Candidate, done: Collection[tuple[int, str, str]]) -> bool:
    """A device or a chat shows an ask until it is settled. A channel may get a reminder from a later step."""
    is_shown = candidate.channel in (PUSH, TELEGRAM)
    return is_shown and any((channel, person) == candidate.key[1:] for _, channel, person in done)


def _receivers(target: Target, world: ReachWorld) -> Iterator[tuple[str, str]]:
    match target:
        case ToScreens():
            yield SCREENS, ALL
        case ToDevices(person=person):
            yield from ((PUSH, each) for each in sorted(world.devices) if person in (ALL, each))
        case ToTelegram():
            if world.has_telegram:
                yield TELEGRAM, ALL
        case ToChannels():
            yield from ((each.id, each.owner) for each in world.channels)
        case ToChannel(channel=channel):
            yield from ((each.id, each.owner) for each in world.channels if each.id == channel)
        case ToPerson(person=person):
            if person in world.devices:
                yield PUSH, person
            yield from ((each.id, each.owner) for each in world.channels if each.owner == person != ALL)
        case _:
            assert_never(target)


def _may_be_told(channel: str, person: str, world: ReachWorld) -> bool:
    """Viewers can turn on a device, which shows them asks without buttons. Everything else is for who can answer."""
    if channel == PUSH or person == ALL:
        return True
    role = world.roles.get(person)
    return role is not None and may(role, "approver")
