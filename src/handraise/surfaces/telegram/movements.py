"""Movements: when messages of a chat were pushed up or down under a person's thumb. Pure: the time is an argument."""

from datetime import datetime

_MOST = 50
"""How many of a chat's messages are remembered: only the last moments matter."""


class Movements:
    """A message that arrives or changes its height moves those above it, which are older; never those below."""

    def __init__(self) -> None:
        self._chats: dict[int, dict[int, datetime]] = {}

    def note(self, chat: int, message: int, at: datetime) -> None:
        """A message arrived, or changed."""
        moved = self._chats.setdefault(chat, {})
        moved.pop(message, None)
        moved[message] = at
        if len(moved) > _MOST:
            del moved[next(iter(moved))]

    def since(self, chat: int, message: int, now: datetime) -> datetime | None:
        """Since when a message hasn't moved; None if nothing is known. A time to come was noted before a clock jump."""
        moved = self._chats.get(chat, {})
        return max((at for each, at in moved.items() if each > message and at <= now), default=None)
