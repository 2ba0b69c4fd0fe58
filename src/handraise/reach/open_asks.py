"""Follows the feed for asks that open and settle."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from handraise.desk.interface import CutOff, Desk, LostPlace
from handraise.model.asks import Ask, ask_from_json
from handraise.model.items import Item, Preview

# The type comes first in an item, so that other items needn't be decoded.
_OPENED = b'{"type":"ask.opened"'
_SETTLED = b'{"type":"ask.settled"'
_AFTER_A_FAULT = 5.0

log = logging.getLogger("handraise.reach")


class _AskInItem(Struct, frozen=True):
    ask: dict[str, Any]


class _SettledInItem(Struct, frozen=True):
    ask: str


class OpenAsks:
    """`known` is set once it knows all of them. `changed` is called for each that opens or settles."""

    def __init__(self, desk: Desk, changed: Callable[[], None]) -> None:
        self._desk = desk
        self._changed = changed
        self.asks: dict[str, Ask] = {}
        self.known = asyncio.Event()

    async def follow(self) -> None:
        """Runs until the feed ends. If its position is gone, or the feed was too fast, it starts again."""
        while True:
            try:
                await self._follow_once()
                return
            except (LostPlace, CutOff):
                continue
            except Exception:  # outer boundary: a failing store may recover
                log.exception("the feed could not be followed; trying again")
                await asyncio.sleep(_AFTER_A_FAULT)

    async def read(self) -> int:
        """Reads what is open now; returns the position to follow from."""
        newest = await self._desk.newest()
        self.asks = {ask.id: ask for ask in await self._desk.asks(state="open")}
        self.known.set()
        self._changed()
        return newest

    async def _follow_once(self) -> None:
        newest = await self.read()
        async with self._desk.follow(newest) as follower:
            async for news in follower:
                if not isinstance(news, Preview):
                    self._hear(news)

    def _hear(self, items: Sequence[Item]) -> None:
        for item in items:
            if item.content.startswith(_OPENED):
                ask = ask_from_json(msgspec.json.decode(item.content, type=_AskInItem).ask)
                if ask.settlement is None:
                    self.asks[ask.id] = ask
                    self._changed()
            elif item.content.startswith(_SETTLED):
                settled = msgspec.json.decode(item.content, type=_SettledInItem).ask
                if self.asks.pop(settled, None) is not None:
                    self._changed()
