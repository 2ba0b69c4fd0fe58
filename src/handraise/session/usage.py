"""Reads the usage limits in `rate_limit_event` frames. Pure; odd values are left out."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from handraise.model.usage import UsageLimit

_MOST = 8
_LONGEST = 40
_REJECTED = "rejected"


def limits_after(report: dict[str, Any], before: Sequence[UsageLimit]) -> tuple[UsageLimit, ...]:
    """The limits that are known after this report. It may name all of them, or only the one that limits now."""
    known = {each.window: each for each in before}
    windows = report.get("unifiedWindows")
    for name, window in windows.items() if isinstance(windows, dict) else ():
        if isinstance(window, dict):
            known |= _limit(name, window)
    known |= _limit(report.get("rateLimitType"), report)
    return tuple(known.values())[:_MOST]


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
