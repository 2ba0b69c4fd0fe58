"""A push message and its possible outcomes. Imports no HTTP client: every hub with push loads this."""

from typing import Literal, NamedTuple


class PushMessage(NamedTuple):
    """A message and how to deliver it. A later message with the same topic replaces a queued one."""

    message: bytes
    topic: str | None
    seconds: int
    """How long it is worth delivering."""
    urgency: Literal["low", "normal", "high"] = "normal"


class Accepted(NamedTuple):
    """The push service accepted it."""


class EndpointGone(NamedTuple):
    """The device no longer exists."""


class RetryLater(NamedTuple):
    """It may work later; `pause` is how long the push service wants us to wait."""

    why: str
    pause: float | None = None


class Rejected(NamedTuple):
    """It will never work like this."""

    why: str


Outcome = Accepted | EndpointGone | RetryLater | Rejected
