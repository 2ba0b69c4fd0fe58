"""Keeps what a session changes, for as long as the store takes. Whoever wants Claude to end is not held up by that."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

from handraise.session.machine import WishRefused
from handraise.store.changes import Change
from handraise.store.interface import Store, StoreClosed, StoreConflict, StoreError

_AGAIN = 1.0

log = logging.getLogger("handraise.session")


class NotStored(WishRefused):
    """Claude is ended, but the store could not keep it. The session tells so when it can."""

    def __init__(self, why: StoreError) -> None:
        super().__init__(f"Claude is being ended, but this cannot be kept yet: {why}")


class DurableWriter:
    """Claude waits as long as the store cannot keep what it said."""

    def __init__(self, session: str, store: Store, end_claude: Callable[[], None]) -> None:
        self._session = session
        self._store = store
        self._end_claude = end_claude
        self._stops: list[asyncio.Future[None]] = []
        self._hurry = asyncio.Event()

    def stop(self, done: asyncio.Future[None]) -> None:
        """Somebody wants Claude to end, and waits for `done`."""
        self._stops.append(done)
        self._hurry.set()

    async def keep(self, changes: Sequence[Change]) -> None:
        """Returns when they are kept."""
        while True:
            try:
                await self._store.apply(changes)
            except (StoreClosed, StoreConflict):
                raise
            except StoreError as error:
                log.warning("session %s is held up: %s", self._session, error)
                await self._wait(error)
            else:
                return

    async def _wait(self, why: StoreError) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_AGAIN):
                await self._hurry.wait()
        self._hurry.clear()
        stops = [done for done in self._stops if not done.done()]
        self._stops.clear()
        if stops:
            self._end_claude()
        for done in stops:
            done.set_exception(NotStored(why))
