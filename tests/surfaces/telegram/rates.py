"""How much a bot may send: per private chat, per group, and over all. Pure: the time is an argument."""

import math
from collections import defaultdict, deque
from dataclasses import dataclass

from surfaces.telegram.rules import RuleBroken


@dataclass(frozen=True)
class RateLimits:
    """What Telegram allows, in its seconds."""

    private_burst: int = 3
    private_per_second: float = 1.0
    group_messages: int = 20
    group_seconds: float = 60.0
    total_messages: int = 30
    total_seconds: float = 1.0
    tolerance: float = 0.25
    """A call that comes this much too early still counts as on time: networks are uneven."""
    callback_seconds: float = 60.0
    """How long a press can be answered. This and the next one are the clock's seconds: a faster pace is for limits,
    and gives no machine less time to answer."""
    draft_seconds: float = 30.0


class RateMeter:
    """Counts sends and edits, and refuses what is too much. A chat that was refused stays closed for its time."""

    def __init__(self, limits: RateLimits) -> None:
        self._limits = limits
        self._chats: dict[int, deque[float]] = defaultdict(deque)
        self._total: deque[float] = deque()
        self._levels: dict[int, tuple[float, float]] = {}
        self._closed: dict[int, float] = {}
        self.refused = 0
        """How many calls were answered 429."""

    def count(self, chat: int, private: bool, now: float) -> None:
        """One more message or edit. Raises 429 with the time to wait."""
        limits = self._limits
        wait = self._closed.get(chat, now) - now
        wait = max(wait, _full(self._total, limits.total_messages, limits.total_seconds, now))
        if private:
            wait = max(wait, (1 - self._level(chat, now)) / limits.private_per_second)
        else:
            wait = max(wait, _full(self._chats[chat], limits.group_messages, limits.group_seconds, now))
        if wait > limits.tolerance:
            self._refuse(chat, wait, now)
        self._total.append(now)
        self._chats[chat].append(now)
        self._levels[chat] = (self._level(chat, now) - 1, now)

    def _refuse(self, chat: int, wait: float, now: float) -> None:
        seconds = max(1, math.ceil(wait))
        self._closed[chat] = max(self._closed.get(chat, 0.0), now + seconds)
        self.refused += 1
        raise RuleBroken(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)

    def _level(self, chat: int, now: float) -> float:
        """How many messages a private chat takes right now."""
        burst = float(self._limits.private_burst)
        level, at = self._levels.get(chat, (burst, now))
        return min(burst, level + (now - at) * self._limits.private_per_second)


def _full(times: deque[float], most: int, seconds: float, now: float) -> float:
    """How long until one more fits into the window."""
    while times and times[0] <= now - seconds:
        times.popleft()
    return times[len(times) - most] + seconds - now if len(times) >= most else 0.0
