"""Listens to what other hubs announce. Never relied on: notifications can be lost without a word."""

import asyncio
import logging
from collections.abc import Callable
from typing import Literal

from handraise.store.interface import StoreError
from handraise.store.postgres.connecting import Connecting, Connection, watched
from handraise.store.postgres.database import SQL
from handraise.store.postgres.errors import is_lost

Hearing = Literal["unknown", "yes", "no"]
"""`no`: connections work, but notifications don't reach us."""

log = logging.getLogger("handraise.store")

_CHECK_EVERY = 5.0
_PROBE_SECONDS = 3.0
_DEAF_PAUSE = 60.0
"""When to try again to listen where it didn't work."""
_SHORTEST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0


class HintListener:
    """Calls back with each announcement, and with an empty one when some may have been missed.

    Behind a pooler that gives each transaction another connection, LISTEN succeeds and nothing is ever heard. So behind
    any pooler a probe has to arrive first.
    """

    def __init__(
        self, connecting: Connecting, name: str, channels: tuple[str, ...], heard: Callable[[str], None]
    ) -> None:
        self.hearing: Hearing = "unknown"
        self._connecting = connecting
        self._name = name
        self._channels = channels
        self._heard = heard
        self._lost = asyncio.Event()
        self._probe = asyncio.Event()

    async def run(self) -> None:
        """Until it is cancelled."""
        pause = _SHORTEST_PAUSE
        while True:
            try:
                connection = await self._connecting.connect(self._name)
            except StoreError:
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
                continue
            try:
                deaf = await self._listen(connection)
                pause = _SHORTEST_PAUSE
            except Exception as error:
                if not is_lost(error) and not connection.is_closed():
                    raise
                deaf = False
            finally:
                connection.terminate()
            await asyncio.sleep(_DEAF_PAUSE if deaf else pause)

    async def _listen(self, connection: Connection) -> bool:
        """Returns when it no longer listens: whether it is no use."""
        self._lost = asyncio.Event()
        connection.add_termination_listener(lambda _connection: self._lost.set())
        for channel in self._channels:
            with watched(connection, self._connecting.hang_seconds):
                await connection.add_listener(channel, self._receive)
        if self._connecting.pooled and not await self._probe_arrives(connection):
            if self.hearing != "no":
                log.warning("A connection pooler keeps notifications from this hub, so it asks the database for news.")
            self.hearing = "no"
            return True
        self.hearing = "yes"
        self._heard("")
        while True:
            try:
                async with asyncio.timeout(_CHECK_EVERY):
                    await self._lost.wait()
                return False
            except TimeoutError:
                pass
            with watched(connection, self._connecting.hang_seconds):
                listening = {row[0] for row in await connection.fetch(SQL["channels"].text)}
            if not listening.issuperset(self._channels):
                return False

    async def _probe_arrives(self, connection: Connection) -> bool:
        """Sent by another connection: on this one even a pooler may pass it on."""
        self._probe = asyncio.Event()
        notify = SQL["notify"]
        other = await self._connecting.connect(f"{self._name} probe")
        try:
            with watched(other, _PROBE_SECONDS):
                probe = {"channels": [self._channels[-1]], "payloads": ["probe"]}
                await other.execute(notify.text, *notify.arguments(probe))
            async with asyncio.timeout(_PROBE_SECONDS):
                await self._probe.wait()
        except TimeoutError:
            return False
        finally:
            other.terminate()
        return not connection.is_closed()

    def _receive(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        if payload == "probe":
            self._probe.set()
        else:
            self._heard(str(payload))
