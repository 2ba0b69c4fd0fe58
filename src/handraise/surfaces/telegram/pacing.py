"""The pace: when a chat may get its next message or edit. Pure: the time is an argument, in seconds of any clock.

Each chat has its own pace, so a busy one never holds up another. Less important messages leave room: a card doesn't
wait because progress has just used up what the chat may get.
"""

from collections import deque
from typing import Literal

from msgspec import Struct

Priority = Literal["card", "reply", "progress"]
PRIORITIES: tuple[Priority, ...] = ("card", "reply", "progress")
"""The most important first."""


class Rate(Struct, frozen=True):
    """At most `burst` at once, and one more every `every` seconds; at most `most` in any `within` seconds."""

    burst: int
    every: float
    most: int
    within: float


class PaceLimits(Struct, frozen=True):
    """What Telegram lets a bot send: about one message a second in a private chat, 20 a minute in a group, 30 a second.

    Over all it is less, and evenly spread: calls overlap, and those of two seconds may arrive in one.
    """

    private: Rate = Rate(burst=3, every=1.0, most=60, within=60.0)
    group: Rate = Rate(burst=5, every=3.0, most=20, within=60.0)
    total: Rate = Rate(burst=4, every=1 / 22, most=25, within=1.0)


_ROOM: dict[Priority, tuple[int, int]] = {"card": (0, 0), "reply": (1, 2), "progress": (2, 5)}
"""How much of the burst, and of the most, is left for what is more important."""
_MARGIN = 0.2
"""Telegram gives whole seconds."""


class Pace:
    """Remembers what was sent, by chat. Groups have negative numbers."""

    def __init__(self, limits: PaceLimits | None = None) -> None:
        limits = limits or PaceLimits()
        self._limits = limits
        self._total = _Meter(limits.total)
        self._chats: dict[int, _Meter] = {}

    def ready_at(self, chat: int, priority: Priority) -> float:
        """The earliest time for the next message with this priority."""
        return max(self._meter(chat).ready_at(priority), self._total.ready_at(priority))

    def start(self, chat: int, now: float) -> None:
        """A message is sent now."""
        self._meter(chat).add(now)
        self._total.add(now)

    def finish(self, chat: int, now: float) -> None:
        """Its answer is here: it arrived at any time until now, so what comes next counts from now."""
        self._meter(chat).delay(now)

    def hold(self, chat: int, seconds: float, now: float) -> None:
        """Telegram wants a pause in this chat. After it, messages go one by one."""
        self._meter(chat).close(now + seconds + _MARGIN)

    def _meter(self, chat: int) -> "_Meter":
        if chat not in self._chats:
            self._chats[chat] = _Meter(self._limits.private if chat > 0 else self._limits.group)
        return self._chats[chat]


class _Meter:
    """One limit: a bucket that fills steadily, and a window that moves."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._full_at = float("-inf")
        """When the bucket is full again."""
        self._recent: deque[float] = deque(maxlen=rate.most)

    def ready_at(self, priority: Priority) -> float:
        rate, (burst_room, window_room) = self._rate, _ROOM[priority]
        usable = max(rate.burst - burst_room, 1)
        ready = self._full_at - (usable - 1) * rate.every
        most = max(rate.most - window_room, 1)
        if len(self._recent) >= most:
            ready = max(ready, self._recent[-most] + rate.within)
        return ready

    def add(self, now: float) -> None:
        self._full_at = max(self._full_at, now) + self._rate.every
        self._recent.append(now)

    def delay(self, now: float) -> None:
        if self._recent and now > self._recent[-1]:
            self._full_at += now - self._recent[-1]
            self._recent[-1] = now

    def close(self, until: float) -> None:
        self._full_at = max(self._full_at, until + (self._rate.burst - 1) * self._rate.every)
