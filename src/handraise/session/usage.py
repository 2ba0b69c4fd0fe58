"""Reads usage from frames: limits of the account, tokens of a conversation. Pure; odd values are left out."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from handraise.model.usage import UsageLimit

_MOST = 8
_LONGEST = 40
_REJECTED = "rejected"
_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_MANY = 10**12


def limits_after(report: dict[str, Any], before: Sequence[UsageLimit]) -> tuple[UsageLimit, ...]:
    """The limits that are known after this report. It may name all of them, or only the one that limits now."""
    known = {each.window: each for each in before}
    windows = report.get("unifiedWindows")
    for name, window in windows.items() if isinstance(windows, dict) else ():
        if isinstance(window, dict):
            known |= _limit(name, window)
    known |= _limit(report.get("rateLimitType"), report)
    return tuple(known.values())[:_MOST]


def tokens_in(usage: dict[str, Any] | None) -> int:
    """How many tokens one request had, with its reply: that is how full the context is. 0 if it doesn't say."""
    return sum(_count((usage or {}).get(each)) for each in _TOKENS)


def context_limit(by_model: dict[str, Any] | None, model: str | None) -> int:
    """How many tokens fit into the context of this model; 0 if Claude doesn't say.

    Sub-agents may use other models: of an unknown one, the largest counts.
    """
    known = {
        name: _count(each.get("contextWindow")) for name, each in (by_model or {}).items() if isinstance(each, dict)
    }
    return known.get(model or "") or max(known.values(), default=0)


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MANY else 0


def _limit(name: object, fields: dict[str, Any]) -> dict[str, UsageLimit]:
    used, resets_at = _fraction(fields.get("utilization")), _moment(fields.get("resetsAt"))
    if not isinstance(name, str) or not name or len(name) > _LONGEST or (used is None and resets_at is None):
        return {}
    return {name: UsageLimit(name, used, resets_at, fields.get("status") == _REJECTED)}


def _fraction(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    # Claude reports more often than anyone reads it: each percent counts once.
    return min(round(float(value), 2), 10.0) if value >= 0 else None


def _moment(value: object) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
