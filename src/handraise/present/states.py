"""The states of sessions and asks in words: how a session is or ended, and how long an ask has waited. Pure."""

from datetime import datetime
from typing import get_args

from handraise.model.asks import Ask
from handraise.model.sessions import PARKED, PHASES, Ending
from handraise.model.usage import UsageLimit
from handraise.texts import span, t

_ENDINGS: tuple[str, ...] = get_args(Ending)
_WINDOWS = ("five_hour", "seven_day", "seven_day_opus", "seven_day_sonnet", "overage")
_STATES = ("needs you", "not moving", *PHASES, *_ENDINGS)


def state_in_words(state: str) -> str:
    """One or two words for a state or a phase; an unknown one is shown as it is."""
    if state not in _STATES:
        return state
    return t(f"card.session.state.{'idle' if state in PARKED else state.replace(' ', '_')}")


def ending_in_words(how: str) -> str:
    """How a session ended, for the start of a line."""
    return t(f"card.session.ended.{how if how in _ENDINGS else 'unknown'}")


def usage_in_words(limit: UsageLimit, now: datetime) -> str:
    """A usage limit on one line; empty once it has started again, or if Claude doesn't say when it will."""
    if limit.resets_at is None or limit.resets_at <= now:
        return ""
    name = t(f"card.usage.window.{limit.window}") if limit.window in _WINDOWS else limit.window.replace("_", " ")
    resets = span(limit.resets_at - now)
    if limit.reached:
        return t("card.usage.reached", name=name, span=resets)
    if limit.used is None:
        return t("card.usage.resets", name=name, span=resets)
    return t("card.usage.used", name=name, percent=round(limit.used * 100), span=resets)


def waiting(ask: Ask, now: datetime) -> str:
    """How long an ask has waited, and how long it has left: "waiting 2 min, 3 min left"."""
    waited = t("card.waiting", span=span(now - ask.opened_at))
    return f"{waited}, {t('card.left', span=span(ask.expires_at - now))}" if ask.expires_at else waited


def overdue(expired_at: datetime, now: datetime) -> str:
    """How long ago it expired: "expired 2 min ago"."""
    return t("card.expired", span=span(now - expired_at))
