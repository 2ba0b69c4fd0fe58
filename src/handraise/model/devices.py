"""The device: a browser that gets notifications when no page is open. Its endpoint is never shown."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from handraise.model.tokens import Role

NoticeKind = Literal["question", "permission", "plan", "form", "trust", "ended"]
NOTICE_KINDS: tuple[NoticeKind, ...] = ("question", "permission", "plan", "form", "trust", "ended")


class Unusable(Exception):
    """Notifications can't be sent to this device. The text is a sentence."""


class Device(Struct, frozen=True):
    """A person's browser, as its push service and the hub know it."""

    id: str
    person: str
    token: str | None
    """The token it signed in with; the device ends with it. None if a proxy signs people in."""
    label: str
    kinds: tuple[NoticeKind, ...]
    endpoint: str
    """The URL of its push service. With its keys, anyone who knows it could send messages."""
    key: str
    """Its public key, for encrypting messages (`p256dh`)."""
    secret: str
    """The secret it shares with us (`auth`)."""
    created_at: datetime
    origin: str | None = None
    """The origin of its page."""
    last_sent_at: datetime | None = None
    trouble: str | None = None
    """Why the last message failed."""
    role: Role | None = None
    """Without a token: the role that its hub's proxy gave. Another hub that sends to it may have no proxy."""

    def __repr__(self) -> str:
        """Without its endpoint and keys, which must not appear in a log."""
        return f"Device(id={self.id!r})"


class Subscription(Struct, frozen=True):
    """What a browser sends when a person turns notifications on."""

    endpoint: str
    key: str
    secret: str
    label: str
    kinds: tuple[NoticeKind, ...] | None = None
    """None: as before, or everything."""
    made_for: str | None = None
    """The hub's public key, as the browser had it."""
    replaces: str | None = None
    """The endpoint it had before."""
    origin: str | None = None

    def __repr__(self) -> str:
        return f"Subscription(label={self.label!r})"
