"""How long an ask has waited, has left, or is overdue. Pure; the clock is an argument."""

from datetime import datetime

from handraise.model.asks import Ask
from handraise.texts import span, t


def waiting(ask: Ask, now: datetime) -> str:
    """How long an ask has waited, and how long it has left: "waiting 2 min, 3 min left"."""
    waited = t("card.waiting", span=span(now - ask.opened_at))
    return f"{waited}, {t('card.left', span=span(ask.expires_at - now))}" if ask.expires_at else waited


def overdue(expired_at: datetime, now: datetime) -> str:
    """How long ago it expired: "expired 2 min ago"."""
    return t("card.expired", span=span(now - expired_at))
