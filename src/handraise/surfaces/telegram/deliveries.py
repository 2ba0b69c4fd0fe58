"""An ask's card in one place: what was sent, and what is still missing or wrong there. Pure.

What should be shown is compared with what is shown, each time. So a restart, a lost connection, a failed edit or a
deleted message need no code of their own: the difference is sent.
"""

from datetime import datetime
from hashlib import sha256

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.surfaces.telegram.conversation import CardState
from handraise.surfaces.telegram.outgoing import ChatPlace

FIRST_PAUSE = 2.0
LONGEST_PAUSE = 600.0
MOST_COPIES = 5


class CardCopy(Struct, frozen=True):
    """A message with a card's buttons. `shown` identifies what it shows, `since` when that came."""

    message: int
    shown: str
    since: datetime


class Delivery(Struct, frozen=True):
    """One ask's card in one place.

    It is saved, with its buttons, before anything is sent, and again after each message that arrived. If the hub dies
    in between, or the connection breaks, nobody knows whether the last message arrived: it is sent again. Both copies
    then have the same buttons, and both work. The first press on a copy that we didn't know of makes it known.
    """

    ask: str
    place: ChatPlace
    parts: tuple[int, ...] = ()
    """The messages before the one with buttons, as far as they arrived."""
    copies: tuple[CardCopy, ...] = ()
    """The message with buttons; more than one if it was sent again."""
    state: str = ""
    """How far a person got in answering, as JSON; empty at first."""
    step_since: int = 0
    """The revision at which the state came to its current step."""
    ticks: dict[str, int] = {}
    """The revision at which each row of this step was ticked or unticked last."""
    heard: int = 0
    """The newest reply that was used. One that comes again after a crash must not fill in the next field, too."""
    is_closed: bool = False
    is_retired: bool = False
    """It was closed because the settings no longer send its ask there. How the ask ends isn't shown there, either."""
    again: bool = False
    """Someone wants to see it once more, at the end of the chat."""
    lacks_files: bool = False
    """The place refused its files. What it shows isn't everything, so nothing can be granted there."""


class CardLook(Struct, frozen=True):
    """What a card should show: how many messages come before the one with buttons, and what that one shows."""

    parts: int
    shown: str
    is_open: bool


class SendPart(Struct, frozen=True):
    """The next message before the one with buttons is missing."""

    index: int


class SendCopy(Struct, frozen=True):
    """The message with buttons is missing."""


class EditCopy(Struct, frozen=True):
    """A message shows something else."""

    copy: CardCopy


class CloseDelivery(Struct, frozen=True):
    """Everything shows how the ask was settled; nothing is left to do."""


CardAction = SendPart | SendCopy | EditCopy | CloseDelivery


def next_action(delivery: Delivery, look: CardLook) -> CardAction | None:
    """What to do next so that the place shows this; None if it does."""
    for copy in delivery.copies:
        if copy.shown != look.shown:
            return EditCopy(copy)
    if not look.is_open:
        return None if delivery.is_closed else CloseDelivery()
    if delivery.copies and not delivery.again:
        return None
    return SendPart(len(delivery.parts)) if len(delivery.parts) < look.parts else SendCopy()


def advance(delivery: Delivery, before: CardState, after: CardState) -> Delivery:
    """A person got further in answering."""
    state = msgspec.json.encode(after).decode()
    if _place_in(before) != _place_in(after):
        return replace(delivery, state=state, step_since=after.revision, ticks={})
    changed = dict.fromkeys(set(before.ticked) ^ set(after.ticked), after.revision)
    return replace(delivery, state=state, ticks={**delivery.ticks, **changed})


def still_counts(delivery: Delivery, revision: int, now: int, act: str, row: str) -> bool:
    """Whether a button of this revision still means what it said when the state is at revision `now`.

    People tick several rows faster than a message can be edited. A tick counts if its row is as the button showed it.
    """
    if revision == now:
        return True
    return (
        act == "row" and bool(delivery.ticks) and max(delivery.step_since, delivery.ticks.get(row, 0)) <= revision < now
    )


def _place_in(state: CardState) -> tuple[object, ...]:
    return state.step, state.confirming, state.wants_text, state.page


def part_arrived(delivery: Delivery, message: int) -> Delivery:
    return replace(delivery, parts=(*delivery.parts, message))


def copy_arrived(delivery: Delivery, message: int, shown: str, at: datetime) -> Delivery:
    """Older copies are still closed with it, if there aren't too many. The buttons of all work."""
    others = (each for each in delivery.copies if each.message != message)
    copies = (*others, CardCopy(message, shown, at))
    return replace(delivery, copies=copies[-MOST_COPIES:], again=False)


def show_again(delivery: Delivery) -> Delivery:
    return replace(delivery, parts=(), again=True)


def copy_edited(delivery: Delivery, message: int, shown: str, at: datetime) -> Delivery:
    copies = (CardCopy(message, shown, at) if each.message == message else each for each in delivery.copies)
    return replace(delivery, copies=tuple(copies))


def copy_gone(delivery: Delivery, message: int) -> Delivery:
    """Someone deleted it. Without any copy, the whole card is sent again while its ask is open."""
    copies = tuple(each for each in delivery.copies if each.message != message)
    return replace(delivery, copies=copies, parts=delivery.parts if copies else ())


def copy_used(delivery: Delivery, message: int, shown: str, at: datetime) -> Delivery:
    """Someone pressed a button of a message, which proves what it shows; `shown` is empty if it proves nothing.

    If that isn't known here, it has arrived or changed at some time until now: what is pressed counts from now. So it
    does if its time is yet to come, since a clock was set back.
    """
    if message not in known_messages(delivery):
        return replace(delivery, copies=(*delivery.copies, CardCopy(message, shown, at)), is_closed=False)
    copies = tuple(
        _used(each, shown or each.shown, at) if each.message == message else each for each in delivery.copies
    )
    return replace(delivery, copies=copies)


def _used(copy: CardCopy, shown: str, at: datetime) -> CardCopy:
    return copy if copy.shown == shown and copy.since <= at else CardCopy(copy.message, shown, at)


def known_messages(delivery: Delivery) -> tuple[int, ...]:
    """Every message of the card: a reply to any of them is a reply to the card."""
    return (*delivery.parts, *(each.message for each in delivery.copies))


def shown_since(delivery: Delivery, message: int) -> datetime | None:
    """Since when this message shows what it shows."""
    return next((each.since for each in delivery.copies if each.message == message), None)


def fingerprint(*content: object) -> str:
    """The same for what looks the same."""
    return sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()[:16]


def pause_after(failures: int) -> float:
    """How many seconds to wait after this many failures in a row."""
    return min(FIRST_PAUSE * 2.0 ** min(failures - 1, 16), LONGEST_PAUSE)
