"""Fetches what people do from Telegram, and saves it before Telegram forgets it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import msgspec

from handraise.surfaces.telegram.bot_types import Update
from handraise.surfaces.telegram.client import BotClient, BotRefused, BotUnreached
from handraise.surfaces.telegram.ledger import Ledger
from handraise.texts import t

LONG_POLL = 50
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0
CONFLICT_PAUSE = 3.0
PATIENT_CONFLICTS = 40
"""After a restart Telegram answers 409 for up to a minute: the hub's own last poll is still open."""
MOST_REMEMBERED = 4000
_BAD_TOKEN = (401, 404)
_CONFLICT, _TOO_MANY = 409, 429

log = logging.getLogger("handraise.telegram")


class UpdatePoller:
    """`trouble` is a sentence while updates can't be fetched. Each update is handed on once."""

    def __init__(
        self,
        client: BotClient,
        ledger: Ledger,
        offset: int,
        recent: frozenset[int],
        handle: Callable[[Update], Awaitable[None]],
        second: float = 1.0,
    ) -> None:
        self.trouble = ""
        self._client = client
        self._ledger = ledger
        self._offset = offset
        self._recent = dict.fromkeys(sorted(recent))
        self._handle = handle
        self._second = second
        self._failures = 0
        self._conflicts = 0

    async def run(self) -> None:
        """For ever: even a wrong token may be a proxy that answers for a server that is starting."""
        while True:
            try:
                await self._poll()
            except BotRefused as error:
                await self._sleep(self._pause_after(error))
            except BotUnreached as error:
                await self._sleep(self._pause(t("telegram.error.unreached"), error.reason))
            except Exception:  # outer boundary: going deaf would be worse
                log.exception("updates could not be fetched; trying again")
                await self._sleep(self._pause(t("telegram.error.failed"), ""))

    async def _poll(self) -> None:
        updates = await self._client.updates(self._offset or None, LONG_POLL)
        if self._failures or self._conflicts:
            log.info("Telegram answers again")
        self.trouble, self._failures, self._conflicts = "", 0, 0
        fresh = [each for each in updates if each.update_id not in self._recent]
        if not updates:
            return
        offset = max(each.update_id for each in updates) + 1
        saving = asyncio.ensure_future(
            self._ledger.receive([(each.update_id, msgspec.json.encode(each)) for each in fresh], offset)
        )
        # A press is handled at once: handling it twice after a crash does no harm. Everything else is saved first.
        for each in fresh:
            if each.callback_query is not None:
                await self._handle(each)
                self._remember([each])
        await saving
        for each in fresh:
            if each.callback_query is None:
                await self._handle(each)
        self._remember(fresh)
        self._offset = offset

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._second)

    def _remember(self, updates: list[Update]) -> None:
        self._recent.update(dict.fromkeys(each.update_id for each in updates))
        while len(self._recent) > MOST_REMEMBERED:
            del self._recent[next(iter(self._recent))]

    def _pause_after(self, error: BotRefused) -> float:
        if error.code == _CONFLICT:
            return self._pause_after_conflict(error)
        if error.code == _TOO_MANY:
            return error.retry_after or FIRST_PAUSE
        if error.code in _BAD_TOKEN and error.description:
            return self._pause_after_bad_token()
        return self._pause(t("telegram.error.unreached"), f"status {error.code}")

    def _pause_after_conflict(self, error: BotRefused) -> float:
        self._conflicts += 1
        if "webhook" in error.description:
            self.trouble = t("telegram.error.webhook")
            return LONGEST_PAUSE
        if self._conflicts == 1:
            log.info("another poll of this bot is still open; waiting for its end")
        if self._conflicts >= PATIENT_CONFLICTS:
            self.trouble = t("telegram.error.conflict")
        return CONFLICT_PAUSE

    def _pause_after_bad_token(self) -> float:
        sentence = t("telegram.error.token")
        if self.trouble != sentence:
            log.error("Telegram doesn't accept the bot's token")
        self.trouble = sentence
        self._failures += 1
        return LONGEST_PAUSE

    def _pause(self, trouble: str, reason: str) -> float:
        self._failures += 1
        if self._failures == 1:
            log.warning("Telegram can't be reached: %s", reason)
        self.trouble = trouble
        return min(FIRST_PAUSE * 2.0 ** min(self._failures - 1, 10), LONGEST_PAUSE)
