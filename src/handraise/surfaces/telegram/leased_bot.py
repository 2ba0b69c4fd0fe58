"""The bot of several hubs that share a database: one of them runs it, the others wait.

Telegram answers only one program for each bot. Two that poll would take each other's updates away.
"""

import asyncio
import logging
from collections.abc import Callable
from types import TracebackType
from typing import Self

from handraise.desk.shared import LeaseKeeper
from handraise.surfaces.telegram.bot import TelegramBot, TelegramStatus

MARGIN = 10.0
"""The bot is stopped this many seconds before the lease runs out, so that the next one finds nobody."""
_AFTER_A_FAULT = 5.0

log = logging.getLogger("handraise.telegram")


def lease_name(token: str) -> str:
    """The lease of a bot: its number, which is no secret. Hubs with different bots don't wait for each other."""
    return f"telegram {token.partition(':')[0]}"


class LeasedBot:
    """Entered with `async with`. `make` makes the bot anew for each time that it is this hub's turn."""

    def __init__(self, make: Callable[[], TelegramBot], lease: LeaseKeeper) -> None:
        self._make = make
        self._lease = lease
        self._bot: TelegramBot | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._lease.__aenter__()
        self._task = asyncio.create_task(self._take_turns())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._lease.__aexit__(kind, error, trace)

    def status(self) -> TelegramStatus:
        return TelegramStatus("", is_elsewhere=True) if self._bot is None else self._bot.status()

    async def _take_turns(self) -> None:
        while True:
            await self._lease.held(MARGIN)
            try:
                async with self._make() as bot:
                    self._bot = bot
                    log.info("this hub runs the Telegram bot")
                    await self._lease.lost(MARGIN)
                    log.info("another hub may run the Telegram bot now")
            except Exception:  # outer boundary: the hub goes on without it
                log.exception("the Telegram bot failed; trying again")
                await asyncio.sleep(_AFTER_A_FAULT)
            finally:
                self._bot = None
