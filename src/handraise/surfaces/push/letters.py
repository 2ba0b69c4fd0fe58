"""The letter that a courier carries, and what can become of it."""

from typing import Literal, NamedTuple


class Letter(NamedTuple):
    """A message and how it travels. A later letter about the same topic takes the place of one that waits."""

    message: bytes
    topic: str | None
    seconds: int
    """How long it is worth delivering."""
    urgency: Literal["low", "normal", "high"] = "normal"


class Taken(NamedTuple):
    """The push service has it."""


class Gone(NamedTuple):
    """There is no such device any more."""


class NotNow(NamedTuple):
    """It may work later; `pause` is how long the push service wants to be left alone."""

    why: str
    pause: float | None = None


class Rejected(NamedTuple):
    """It will not work like this."""

    why: str


Outcome = Taken | Gone | NotNow | Rejected
