"""The button: what a press on it means, bound to its ask, place, person and state. Pure.

Telegram only ever sees a random id, so nothing about a press can be forged or reused for something else.
"""

from msgspec import Struct

from handraise.surfaces.telegram.outgoing import ChatPlace


class BoundButton(Struct, frozen=True):
    """What an id stands for. `member` is the only person it is for; None in a group, where each press is checked."""

    ask: str
    digest: str
    place: ChatPlace
    member: int | None
    revision: int
    """Of the card's state: a button of an earlier one no longer counts."""
    act: str
    argument: str = ""
