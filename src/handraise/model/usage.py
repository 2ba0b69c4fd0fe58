"""The usage limits of an account, as Claude reports them."""

from datetime import datetime

from msgspec import Struct


class UsageLimit(Struct, frozen=True):
    """One limit: how much of it is used, and when it starts again."""

    window: str
    """Claude's name for it: `five_hour`, `seven_day`, …"""
    used: float | None = None
    """The part that is used, from 0 to 1; more if the limit was passed. None if Claude doesn't say."""
    resets_at: datetime | None = None
    reached: bool = False
    """Claude refuses requests until then."""
