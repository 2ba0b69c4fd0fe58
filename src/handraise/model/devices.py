"""The device: a browser that is told of asks when no page of ours is open. Where it is reached is never shown."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

NoticeKind = Literal["question", "permission", "plan", "form", "trust", "ended"]
NOTICE_KINDS: tuple[NoticeKind, ...] = ("question", "permission", "plan", "form", "trust", "ended")


class Unusable(Exception):
    """Nothing can be sent to a device like this. The text is a sentence."""


class Device(Struct, frozen=True):
    """A browser of somebody's, as its push service and we know it."""

    id: str
    person: str
    token: str | None
    """By which it was let in, and no longer than that is good; None where a proxy lets people in."""
    label: str
    kinds: tuple[NoticeKind, ...]
    endpoint: str
    """Where its push service takes messages for it. Whoever knows it and its keys could speak to it."""
    key: str
    """Its public key, for which messages are sealed (`p256dh`)."""
    secret: str
    """What it shares with us (`auth`)."""
    created_at: datetime
    origin: str | None = None
    """Where its page came from."""
    last_sent_at: datetime | None = None
    trouble: str | None = None
    """Why the last message could not be sent."""

    def __repr__(self) -> str:
        """Without what makes it reachable, which has no place in a log."""
        return f"Device(id={self.id!r})"


class Subscription(Struct, frozen=True):
    """What a browser says of itself when somebody switches it on."""

    endpoint: str
    key: str
    secret: str
    label: str
    kinds: tuple[NoticeKind, ...] | None = None
    """None: as before, or everything."""
    made_for: str | None = None
    """The hub's public key, as the browser had it."""
    replaces: str | None = None
    """The endpoint that it had before."""
    origin: str | None = None

    def __repr__(self) -> str:
        return f"Subscription(label={self.label!r})"
