"""Which chats the bot can't write to at the moment, and who waits for them."""

import asyncio
import logging
from contextlib import suppress

from handraise.surfaces.telegram.refusals import without_quotes

RETRY = 3600.0
"""Seconds. A bot that was let in again isn't always told."""

log = logging.getLogger("handraise.telegram")


class Reach:
    """A chat is out of reach after Telegram said so, and in reach again when anything comes from it."""

    def __init__(self) -> None:
        self.lost: dict[int, str] = {}
        """By chat, the reason in Telegram's words."""
        self._back: dict[int, asyncio.Event] = {}

    def lose(self, chat: int, reason: str) -> None:
        if chat not in self.lost:
            log.warning("the bot can't write to a chat: %s", without_quotes(reason), extra={"chat": chat})
        self.lost[chat] = reason

    def regain(self, chat: int) -> None:
        if self.lost.pop(chat, None) is not None:
            log.info("the bot can write to a chat again", extra={"chat": chat})
        event = self._back.pop(chat, None)
        if event is not None:
            event.set()

    async def until_back(self, chat: int) -> None:
        """Returns when it is worth another try."""
        event = self._back.setdefault(chat, asyncio.Event())
        with suppress(TimeoutError):
            async with asyncio.timeout(RETRY):
                await event.wait()
