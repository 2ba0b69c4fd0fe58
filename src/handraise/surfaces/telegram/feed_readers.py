"""Follow the feed: one reader for asks, one for the session side, so that neither waits for the other."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from handraise.desk.interface import CutOff, Desk, LostPlace
from handraise.model.asks import ask_from_json
from handraise.model.items import AskOpened, Item, Preview
from handraise.surfaces.telegram.card_board import CardBoard
from handraise.surfaces.telegram.ledger import Ledger
from handraise.surfaces.telegram.session_side import SessionSide

# The type comes first in an item, so that other items needn't be decoded.
_OPENED = b'{"type":"ask.opened"'
_SETTLED = b'{"type":"ask.settled"'
_AFTER_A_FAULT = 5.0
SAVE_EVERY = 2.0
"""Seconds between two saved cursors: what comes again after a crash is ignored by the session side."""

log = logging.getLogger("handraise.telegram")


class BotFeedReader(ABC):
    """Runs until the feed ends. If its place is gone or the feed was too fast, it starts again."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def run(self) -> None:
        while True:
            try:
                await self._follow()
                return
            except LostPlace:
                await self._lose_place()
            except CutOff as cut:
                self._continue(cut.cursor)
            except Exception:  # outer boundary: a failing store may recover
                log.exception("the feed could not be followed; trying again")
                await asyncio.sleep(_AFTER_A_FAULT)

    @abstractmethod
    async def _follow(self) -> None: ...

    @abstractmethod
    async def _lose_place(self) -> None:
        """Some items are gone."""

    @abstractmethod
    def _continue(self, cursor: int) -> None:
        """It fell behind."""


class AskReader(BotFeedReader):
    """Tells the board which asks are open. Each start compares everything."""

    def __init__(self, desk: Desk, board: CardBoard) -> None:
        super().__init__(desk)
        self._board = board

    async def _follow(self) -> None:
        newest = await self._desk.newest()
        await self._board.reconcile(await self._desk.asks(state="open"))
        async with self._desk.follow(newest) as follower:
            async for news in follower:
                if not isinstance(news, Preview):
                    await self._read(news)

    async def _lose_place(self) -> None:
        pass

    def _continue(self, cursor: int) -> None:
        pass

    async def _read(self, items: Sequence[Item]) -> None:
        for item in items:
            if item.content.startswith(_OPENED):
                opened = item.read()
                ask = ask_from_json(opened.ask) if isinstance(opened, AskOpened) else None
                if ask is not None and ask.settlement is None:
                    await self._board.open(ask)
            elif item.content.startswith(_SETTLED):
                await self._board.settle(msgspec.json.decode(item.content, type=_SettledAsk).ask)


class SessionReader(BotFeedReader):
    """Hands every item and preview to the session side, from where it was before a restart."""

    def __init__(
        self, desk: Desk, side: SessionSide, ledger: Ledger, cursor: int | None, *, watches: bool = False
    ) -> None:
        """`watches`: sessions may run on other machines, so it says which are shown."""
        super().__init__(desk)
        self._side = side
        self._ledger = ledger
        self._cursor = cursor
        self._watches = watches
        self._saved_at = float("-inf")
        self._saved = cursor

    async def save(self) -> None:
        if self._cursor is not None and self._cursor != self._saved:
            self._saved = self._cursor
            await self._ledger.save_cursor(self._cursor)

    async def _follow(self) -> None:
        newest = await self._desk.newest()
        self._cursor = newest if self._cursor is None else min(self._cursor, newest)
        while await self._follow_for(self._side.shown() if self._watches else frozenset()):
            pass

    async def _follow_for(self, shown: frozenset[str]) -> bool:
        """While these sessions are shown: False at the end of the feed."""
        async with self._desk.follow(self._cursor, watch=shown) as follower:
            async for news in follower:
                if isinstance(news, Preview):
                    await self._show(self._side.preview(news), news.session)
                    continue
                await self._read(news)
                if self._watches and self._side.shown() != shown:
                    return True
        return False

    async def _read(self, items: Sequence[Item]) -> None:
        for item in items:
            await self._show(self._side.item(item), item.session)
            self._cursor = item.cursor
        now = asyncio.get_running_loop().time()
        if now - self._saved_at >= SAVE_EVERY:
            self._saved_at = now
            await self.save()

    async def _show(self, showing: Coroutine[Any, Any, None], session: str | None) -> None:
        try:
            await showing
        except Exception:  # outer boundary: one item must not hide the others
            log.exception("an item could not be shown", extra={"session": session})

    async def _lose_place(self) -> None:
        # Before the side reads everything: what comes while it reads is followed afterwards.
        self._cursor = await self._desk.newest()
        await self._side.missed()

    def _continue(self, cursor: int) -> None:
        self._cursor = cursor


class _SettledAsk(Struct, frozen=True):
    ask: str
