"""A few connections for reading, made when they are needed. Never waits long for a database that is away."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import MsgspecError

from handraise.store.interface import StoreAway, StoreBusy, StoreError
from handraise.store.postgres.connecting import Connecting, Connection, watched
from handraise.store.postgres.errors import damaged, explain, is_lost
from handraise.store.postgres.reader import TextMissing
from handraise.texts import t

T = TypeVar("T")
Work = Callable[[Connection], Awaitable[T]]

_SIZE = 4
_PAUSE = 0.1
_BUSY_SECONDS = 30.0
_UNREADABLE = (MsgspecError, ValueError, TypeError, LookupError, ArithmeticError, zlib.error)
"""What our decoders raise for a row that is damaged."""


class ConnectionPool:
    """Gives each piece of work a connection of its own. A lost one is replaced, and the work is tried once more."""

    def __init__(self, connecting: Connecting, name: str) -> None:
        self._connecting = connecting
        self._name = name
        self._idle: list[Connection] = []
        self._slots = asyncio.Semaphore(_SIZE)
        self._tasks: set[asyncio.Task[object]] = set()

    async def use(self, work: Work[T]) -> T:
        """Raises a StoreError. A caller that is cancelled leaves the work to itself: its connection stays usable."""
        task = asyncio.ensure_future(self._use(work))
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Waits for nobody."""
        for connection in self._idle:
            connection.terminate()
        self._idle.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _forget(self, task: "asyncio.Task[object]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever was cancelled doesn't ask for it

    async def _use(self, work: Work[T]) -> T:
        where = self._connecting.address.shown
        try:
            async with asyncio.timeout(_BUSY_SECONDS):
                await self._slots.acquire()
        except TimeoutError:
            raise StoreBusy(t("error.postgres.busy", where=where), t("error.postgres.again")) from None
        try:
            return await self._tried(work)
        except TextMissing:
            return await self._tried(work)  # it was pruned meanwhile, and its row is gone, too
        finally:
            self._slots.release()

    async def _tried(self, work: Work[T]) -> T:
        where = self._connecting.address.shown
        try:
            while self._idle:
                try:
                    return await self._on(self._idle.pop(), work)
                except Exception as error:
                    if not is_lost(error):
                        raise
            return await self._on(await self._connect(), work)
        except TextMissing:
            raise
        except _UNREADABLE as error:
            raise damaged(error, where) from error
        except Exception as error:
            explained = explain(error, where)
            if explained is error:
                raise
            raise explained from error

    async def _connect(self) -> Connection:
        """A server that is just restarting gets a little time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._connecting.patience
        while True:
            try:
                return await self._connecting.connect(self._name, seconds=self._connecting.patience)
            except StoreError as error:
                if loop.time() + _PAUSE > deadline:
                    raise StoreAway(error.problem, error.advice) from error
            await asyncio.sleep(_PAUSE)

    async def _on(self, connection: Connection, work: Work[T]) -> T:
        try:
            with watched(connection, self._connecting.hang_seconds):
                result = await work(connection)
        except BaseException as error:
            if connection.is_closed() or is_lost(error) or isinstance(error, asyncio.CancelledError):
                connection.terminate()
            else:
                self._idle.append(connection)
            raise
        self._idle.append(connection)
        return result
