"""Follows the feed for what devices are notified of: asks that open and settle, and sessions that end."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from handraise.desk.interface import CutOff, Desk, LostPlace
from handraise.model.asks import ask_from_json
from handraise.model.items import Item, Preview, SessionEnded
from handraise.surfaces.push.device_log import Ending
from handraise.surfaces.push.due import AskStates

# The type comes first in an item, so that other items needn't be decoded.
_OPENED = b'{"type":"ask.opened"'
_SETTLED = b'{"type":"ask.settled"'
_ENDED = b'{"type":"session.ended"'
_REMEMBERED = 1000

_AFTER_A_FAULT = 5.0

log = logging.getLogger("handraise.push")


class _Opened(Struct, frozen=True):
    ask: dict[str, Any]


class _Settled(Struct, frozen=True):
    ask: str


class AskWatcher:
    """`cursor` is how far it has read. `changed` is called whenever a device may need a message."""

    def __init__(
        self,
        desk: Desk,
        scene: AskStates,
        clock: Callable[[], datetime],
        changed: Callable[[], None],
        ended: Callable[[Ending, int], Awaitable[None]],
        cursor: int | None,
    ) -> None:
        self.cursor = cursor
        self._desk = desk
        self._scene = scene
        self._clock = clock
        self._changed = changed
        self._ended = ended

    async def follow(self) -> None:
        """Runs until the feed ends. If the cursor is gone or the feed was too fast, it starts again."""
        while True:
            try:
                await self._follow_once()
                return
            except LostPlace:
                self.cursor = None
            except CutOff as cut:
                self.cursor = cut.cursor
            except Exception:  # outer boundary: a failing store may recover
                log.exception("the feed could not be followed; it is tried again")
                await asyncio.sleep(_AFTER_A_FAULT)

    async def _follow_once(self) -> None:
        newest = await self._desk.newest()
        self._scene.open = {ask.id: ask for ask in await self._desk.asks(state="open")}
        self._scene.is_known = True
        self._changed()
        # From further back: a session may have ended while nobody was following. Asks are as found above.
        after = newest if self.cursor is None else min(self.cursor, newest)
        async with self._desk.follow(after) as follower:
            async for news in follower:
                if not isinstance(news, Preview):
                    await self._hear(news, newest)

    async def _hear(self, items: Sequence[Item], newest: int) -> None:
        for item in items:
            if item.content.startswith(_ENDED):
                await self._hear_end(item)
            elif item.cursor > newest and item.content.startswith((_OPENED, _SETTLED)):
                self._hear_ask(item.content)
                self._changed()
            self.cursor = item.cursor

    def _hear_ask(self, content: bytes) -> None:
        if content.startswith(_OPENED):
            ask = ask_from_json(msgspec.json.decode(content, type=_Opened).ask)
            if ask.settlement is None:
                self._scene.open[ask.id] = ask
            return
        name = msgspec.json.decode(content, type=_Settled).ask
        if self._scene.open.pop(name, None) is not None:
            self._scene.settled[name] = self._clock()
            while len(self._scene.settled) > _REMEMBERED:
                del self._scene.settled[next(iter(self._scene.settled))]

    async def _hear_end(self, item: Item) -> None:
        ended = item.read()
        if isinstance(ended, SessionEnded) and item.session is not None:
            ending = Ending(item.session, ended.how, ended.reason, item.at, ended.by, ended.alarm)
            await self._ended(ending, item.cursor)
