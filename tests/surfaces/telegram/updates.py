"""The updates that wait for a bot, as getUpdates delivers and confirms them."""

from collections.abc import Callable
from itertools import count
from typing import Any

from surfaces.telegram.chats import Changes
from surfaces.telegram.rules import RuleBroken

ON_REQUEST = {"chat_member", "message_reaction", "message_reaction_count"}
"""Kinds that only come if they are asked for."""
CONFLICT = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
WEBHOOK = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"

Update = dict[str, Any]


class UpdateQueue:
    """Updates stay until a call with a higher offset confirms them. A new call ends the one that still waits."""

    def __init__(self, changes: Changes, first: int = 700_000_001) -> None:
        self._changes = changes
        self._numbers = count(first)
        self._waiting: list[Update] = []
        self._again: list[Update] = []
        self._confirmed: list[Update] = []
        self._allowed: set[str] | None = None
        self._poll = 0
        self.polling = False
        """Whether a call waits right now."""
        self.delivered: list[int] = []
        """The number of every update, each time it was delivered."""

    @property
    def unconfirmed(self) -> list[Update]:
        return list(self._waiting)

    def allow(self, kinds: list[str] | None) -> None:
        """Holds until it is changed; an empty list is the default."""
        if kinds is not None:
            self._allowed = set(kinds) or None

    def put(self, kind: str, content: dict[str, Any]) -> None:
        wanted = kind in self._allowed if self._allowed else kind not in ON_REQUEST
        if wanted:
            self._waiting.append({"update_id": next(self._numbers), kind: content})
        self._changes.notify()

    def deliver_again(self, most: int = 100) -> int:
        """The next call also gets the last updates that were confirmed. Returns how many these are."""
        self._again = self._confirmed[-most:]
        self._changes.notify()
        return len(self._again)

    def confirm(self, offset: int) -> None:
        if offset < 0:
            dropped, self._waiting = self._waiting[:offset], self._waiting[offset:]
        else:
            dropped = [each for each in self._waiting if each["update_id"] < offset]
            self._waiting = self._waiting[len(dropped) :]
        self._confirmed += dropped

    def drop_all(self) -> None:
        self._waiting.clear()

    async def poll(self, limit: int, seconds: float, hung_up: Callable[[], bool]) -> list[Update]:
        """The next updates; none when the time is over. Raises a conflict if another call comes meanwhile."""
        self._poll += 1
        number = self._poll
        self.polling = True
        self._changes.notify()
        await self._changes.first(lambda: self._poll != number or hung_up() or self._again or self._waiting, seconds)
        if self._poll != number:
            raise RuleBroken(409, CONFLICT)
        self.polling = False
        if hung_up():
            return []
        batch = [*self._again, *self._waiting][:limit]
        self._again = []
        self.delivered += [each["update_id"] for each in batch]
        return batch
