"""The webhook: an address that gets events of the feed, signed; and what was sent to it."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

EventName = Literal[
    "ask.opened",
    "ask.settled",
    "ask.expired",
    "ask.delivered",
    "session.started",
    "session.ended",
    "turn.ended",
    "notification.failed",
]
EVENTS: tuple[EventName, ...] = (
    "ask.opened",
    "ask.settled",
    "ask.expired",
    "ask.delivered",
    "session.started",
    "session.ended",
    "turn.ended",
    "notification.failed",
)
TEST = "webhook.test"
"""The event that *Test* sends, whatever the filters are."""
DeliveryState = Literal["queued", "sent", "failed"]
WebhookState = Literal["on", "failing", "off", "gone"]


class WebhookSecret(Struct, frozen=True):
    """A secret that signs. One that was replaced still signs for a while: `until`."""

    secret: str
    until: datetime | None = None

    def __repr__(self) -> str:
        return f"WebhookSecret(until={self.until!r})"


class Webhook(Struct, frozen=True):
    """An address, what it gets, and what signs it."""

    id: str
    name: str
    url: str
    """Its path may contain a secret of the receiver."""
    secrets: tuple[WebhookSecret, ...]
    """The current one first."""
    since: int
    """The cursor after which events are sent."""
    created_at: datetime
    created_by: str
    events: tuple[EventName, ...] = ()
    """Empty: all."""
    projects: tuple[str, ...] = ()
    """The IDs of projects. Empty: all, and what belongs to none."""
    content: bool = False
    """Whether events contain what Claude and people wrote."""
    enabled: bool = True
    gone_at: datetime | None = None
    """When its receiver said that it is gone (410), which turned it off."""

    def __repr__(self) -> str:
        """Without its URL and secrets, which must not appear in a log."""
        return f"Webhook(id={self.id!r})"


class DeliveryAttempt(Struct, frozen=True):
    """One request, and what came back."""

    at: datetime
    ms: int = 0
    """How long it took."""
    status: int | None = None
    """The status of the response; None if there was none."""
    problem: str = ""
    """Why it failed, as a sentence; empty if it was accepted."""
    answer: str = ""
    """The first characters of a response that is not a success. Foreign text."""


class WebhookDelivery(Struct, frozen=True):
    """An event for one webhook. Its ID is sent as `webhook-id`, the same with every attempt."""

    id: str
    event: str
    at: datetime
    """When it happened."""
    body: str
    """What is sent, as JSON."""
    next_at: datetime | None
    """When it is sent, or sent again; None if it isn't by itself."""
    state: DeliveryState = "queued"
    tries: int = 0
    """How often it was sent by itself."""
    attempts: tuple[DeliveryAttempt, ...] = ()
    """The last ones, oldest first."""
    about: str = ""
    """The ID of the ask or the session that it is about."""


class WebhookHealth(Struct, frozen=True):
    """How the last attempts went."""

    failing_since: datetime | None = None
    trouble: str = ""
    last_sent_at: datetime | None = None


class WebhookSummary(Struct, frozen=True):
    """A webhook, how it is, and how many events are queued for it."""

    webhook: Webhook
    health: WebhookHealth
    queued: int

    @property
    def state(self) -> WebhookState:
        if self.webhook.gone_at is not None and not self.webhook.enabled:
            return "gone"
        if not self.webhook.enabled:
            return "off"
        return "failing" if self.health.failing_since is not None else "on"


class NewWebhook(Struct, frozen=True):
    """What a person sets of a webhook."""

    name: str
    url: str
    events: tuple[EventName, ...] = ()
    projects: tuple[str, ...] = ()
    content: bool = False
    enabled: bool = True

    def __repr__(self) -> str:
        return f"NewWebhook(name={self.name!r})"
