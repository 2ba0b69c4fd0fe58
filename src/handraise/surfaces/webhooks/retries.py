"""Decides what an attempt means and when the next one follows. Never awaits, never looks at a clock."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec.structs import replace

from handraise.model.webhooks import DeliveryAttempt, WebhookDelivery, WebhookHealth
from handraise.texts import t

PAUSES = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 300, 1800, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
)
"""How long to wait after the first failure, after the second, and so on. After the last one, nothing follows."""
JITTER = 0.2
"""A pause is up to this much longer or shorter, so that many deliveries don't come at the same moment."""
LONGEST_WISH = timedelta(hours=24)
"""The longest pause that a receiver can ask for (`Retry-After`)."""
MOST_QUEUED = 1000
"""Events that wait for one webhook. If there are more, the oldest fail."""
MOST_SETTLED = 50
"""Sent and failed ones that are kept for people, to look at and to send again."""
_ATTEMPTS = 12
_GONE = 410


def is_accepted(attempt: DeliveryAttempt) -> bool:
    return attempt.status is not None and 200 <= attempt.status < 300


def is_gone(attempt: DeliveryAttempt) -> bool:
    """Whether the receiver wants nothing more, ever."""
    return attempt.status == _GONE


def pause_after(tries: int, chance: float, wish: timedelta | None = None) -> timedelta | None:
    """How long to wait after this many failures; None if it isn't tried again. `chance` is from 0 to 1."""
    if tries > len(PAUSES):
        return None
    own = PAUSES[max(tries, 1) - 1] * (1 + JITTER * (2 * chance - 1))
    return max(own, min(wish, LONGEST_WISH)) if wish is not None else own


def after_attempt(
    delivery: WebhookDelivery, attempt: DeliveryAttempt, chance: float, wish: timedelta | None = None
) -> WebhookDelivery:
    """The delivery after it was sent by itself."""
    tried = replace(_with(delivery, attempt), tries=delivery.tries + 1)
    if is_accepted(attempt):
        return replace(tried, state="sent", next_at=None)
    pause = None if is_gone(attempt) else pause_after(tried.tries, chance, wish)
    if pause is None:
        return replace(tried, state="failed", next_at=None)
    return replace(tried, state="queued", next_at=attempt.at + pause)


def after_resend(delivery: WebhookDelivery, attempt: DeliveryAttempt) -> WebhookDelivery:
    """The delivery after a person sent it again. A failure leaves it as it was."""
    tried = _with(delivery, attempt)
    return replace(tried, state="sent", next_at=None) if is_accepted(attempt) else tried


def given_up(delivery: WebhookDelivery, now: datetime) -> WebhookDelivery:
    """It fails without an attempt: too many newer ones are queued."""
    attempt = DeliveryAttempt(now, problem=t("webhooks.error.queue_full", most=MOST_QUEUED))
    return replace(_with(delivery, attempt), state="failed", next_at=None)


def health_after(health: WebhookHealth, attempt: DeliveryAttempt) -> WebhookHealth:
    """How the webhook is after this attempt."""
    if is_accepted(attempt):
        return WebhookHealth(last_sent_at=attempt.at)
    return replace(health, failing_since=health.failing_since or attempt.at, trouble=attempt.problem)


def queued(deliveries: Iterable[WebhookDelivery]) -> list[WebhookDelivery]:
    """Those that are still sent by themselves, oldest first."""
    return sorted((each for each in deliveries if each.state == "queued"), key=_age)


def next_due(deliveries: Iterable[WebhookDelivery], now: datetime) -> WebhookDelivery | datetime | None:
    """What to send now, or when there is something; None if nothing is queued."""
    waiting = queued(deliveries)
    due = next((each for each in waiting if each.next_at is None or each.next_at <= now), None)
    return due or min((each.next_at for each in waiting if each.next_at is not None), default=None)


def surplus(deliveries: Iterable[WebhookDelivery]) -> list[WebhookDelivery]:
    """Settled ones that are no longer kept, oldest first."""
    settled = sorted((each for each in deliveries if each.state != "queued"), key=_age)
    return settled[: max(len(settled) - MOST_SETTLED, 0)]


def newest_first(deliveries: Iterable[WebhookDelivery]) -> list[WebhookDelivery]:
    return sorted(deliveries, key=_age, reverse=True)


def _with(delivery: WebhookDelivery, attempt: DeliveryAttempt) -> WebhookDelivery:
    return replace(delivery, attempts=(*delivery.attempts, attempt)[-_ATTEMPTS:])


def _age(delivery: WebhookDelivery) -> tuple[datetime, str]:
    return delivery.at, delivery.id
