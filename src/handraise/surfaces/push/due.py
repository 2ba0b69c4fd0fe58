"""Decides what to send a device next, and when. Never awaits, never looks at a clock."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import assert_never

from msgspec import Struct

from handraise.model.asks import Ask
from handraise.surfaces.push.device_log import DeviceState, Ending

GRACE = timedelta(seconds=2)
"""An ask answered this quickly was seen on a screen: no notification is needed."""
COURTESY = timedelta(seconds=1)
"""A device that was just used to answer already shows that."""
TRIES = 12
FIRST_PAUSE = 2.0
LONGEST_PAUSE = 600.0
OLDEST_ENDING = timedelta(hours=1)
LONGEST_LIFE = 28 * 24 * 3600
"""How long push services keep a message; used for asks without a timeout."""


class Show(Struct, frozen=True):
    """An ask is open, and the device doesn't show it."""

    ask: Ask


class TakeBack(Struct, frozen=True):
    """The device shows an ask that is no longer open."""

    ask: str


class Announce(Struct, frozen=True):
    """A session has ended."""

    ending: Ending


class WaitUntil(Struct, frozen=True):
    """Nothing before then."""

    until: datetime


PushAction = Show | TakeBack | Announce


class Failures(Struct):
    """How often a push action failed, and when it may be retried."""

    count: int = 0
    not_before: datetime | None = None


class AskStates(Struct):
    """The known asks: open ones, oldest first, and when others were settled, as far as we saw it."""

    open: dict[str, Ask] = {}
    settled: dict[str, datetime] = {}
    is_known: bool = False
    """Until then, no ask may be assumed to be settled."""
    grace: timedelta = GRACE


def next_action(
    page: DeviceState,
    scene: AskStates,
    failures: Mapping[str, Failures],
    now: datetime,
    opens_at: Callable[[Ask], datetime | None] | None = None,
) -> PushAction | WaitUntil | None:
    """What to do for this device; None if there is nothing. `opens_at`: when an ask may be shown, None for never.

    Removing settled asks comes first: nobody should answer them again.
    """
    if not scene.is_known:
        return None
    waits: list[datetime] = []
    for action, earliest in _wanted(page, scene):
        ready = earliest
        if isinstance(action, Show) and opens_at is not None:
            opens = opens_at(action.ask)
            if opens is None:
                continue
            ready = max(earliest, opens)
        failed = failures.get(name_of(action))
        if failed is not None and failed.count >= TRIES:
            continue
        at = max(ready, failed.not_before) if failed is not None and failed.not_before else ready
        if at <= now:
            return action
        waits.append(at)
    return WaitUntil(min(waits)) if waits else None


def name_of(action: PushAction) -> str:
    """The key for counting its failures; for an ask, that is the ask's id."""
    match action:
        case Show(ask=ask):
            return ask.id
        case TakeBack(ask=ask_id):
            return f"back {ask_id}"
        case Announce(ending=ending):
            return f"ended {ending.session}"
        case _:
            assert_never(action)


def pause_after(count: int, wished: float | None) -> float:
    """How long to pause after this many failures, unless the push service said so itself."""
    own = min(FIRST_PAUSE * 2 ** min(count - 1, 16), LONGEST_PAUSE)
    return own if wished is None else max(wished, FIRST_PAUSE)


def life_of(ask: Ask, now: datetime) -> int:
    """For how many seconds it is worth delivering."""
    if ask.expires_at is None:
        return LONGEST_LIFE
    return min(max(int((ask.expires_at - now).total_seconds()), 0), LONGEST_LIFE)


def _wanted(page: DeviceState, scene: AskStates) -> list[tuple[PushAction, datetime]]:
    """Every pending push action, with the time from which it makes sense."""
    device = page.device
    back: list[tuple[PushAction, datetime]] = [
        (TakeBack(ask), scene.settled[ask] + COURTESY if ask in scene.settled else at)
        for ask, at in {**page.doubtful, **page.shown}.items()
        if ask not in scene.open
    ]
    show: list[tuple[PushAction, datetime]] = [
        (Show(ask), ask.opened_at + scene.grace)
        for ask in scene.open.values()
        # Asks from before the device was turned on are on its screen.
        if ask.id not in page.shown
        and ask.id not in page.put_away
        and ask.kind in device.kinds
        and ask.opened_at >= device.created_at
    ]
    return [*back, *show, *((Announce(ending), ending.at) for ending in page.endings)]
