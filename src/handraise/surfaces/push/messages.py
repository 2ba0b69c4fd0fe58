"""A push message, and what can become of it. Imports no HTTP client: every hub with push has these."""

from typing import Literal, NamedTuple


class PushMessage(NamedTuple):
    """A message and how it travels. A later message about the same topic takes the place of one that waits."""

    message: bytes
    topic: str | None
    seconds: int
    """How long it is worth delivering."""
    urgency: Literal["low", "normal", "high"] = "normal"


class Accepted(NamedTuple):
    """The push service has it."""


class EndpointGone(NamedTuple):
    """There is no such device any more."""


class RetryLater(NamedTuple):
    """It may work later; `pause` is how long the push service wants to be left alone."""

    why: str
    pause: float | None = None


class Rejected(NamedTuple):
    """It will not work like this."""

    why: str


Outcome = Accepted | EndpointGone | RetryLater | Rejected
