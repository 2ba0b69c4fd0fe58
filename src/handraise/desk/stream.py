"""Follows a hub's feed over server-sent events, and reconnects by itself."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import httpx2
import msgspec

from handraise.client.events import EventParser, ServerEvent
from handraise.desk.decode import decode, error_in, item_in
from handraise.desk.interface import LostPlace, Unreached
from handraise.model.items import Item, Preview

_DEADLINE = 60.0
_SILENCE = 50.0
"""A hub sends something every 15 s, if only a ping."""
_FIRST_WAIT = 0.1
_LONGEST_WAIT = 5.0


class RemoteFollower:
    """See `Follower`."""

    def __init__(self, http: httpx2.AsyncClient, after: int | None, session: str | None, patience: float) -> None:
        self._http = http
        self._cursor = after
        self._session = session
        self._patience = patience
        self._waiting: list[Sequence[Item] | Preview] = []
        self._connection = AsyncExitStack()

    def __aiter__(self) -> "RemoteFollower":
        return self

    async def __anext__(self) -> Sequence[Item] | Preview:
        while not self._waiting:
            try:
                self._take(self._events.receive(await anext(self._pieces)))
            except (httpx2.HTTPError, StopAsyncIteration) as error:
                await self._reconnect(error)
        return self._waiting.pop(0)

    async def begin(self) -> None:
        """Connects, and waits until the hub has found the cursor; raises LostPlace."""
        query = {"after": self._cursor, "session": self._session}
        present = {key: value for key, value in query.items() if value is not None}
        stream = self._http.stream("GET", "/api/feed", params=present, timeout=httpx2.Timeout(_DEADLINE, read=_SILENCE))
        try:
            response = await self._connection.enter_async_context(stream)
            if response.status_code >= 400:
                raise error_in(await response.aread())
            self._events = EventParser()
            self._pieces = response.aiter_raw()
            while True:
                first, *rest = self._events.receive(await anext(self._pieces)) or (None,)
                if first is not None:
                    self._take((first, *rest))
                    return
        except (httpx2.HTTPError, StopAsyncIteration) as error:
            raise Unreached from error

    async def close(self) -> None:
        await self._connection.aclose()

    async def _reconnect(self, lost: BaseException) -> None:
        """From our cursor: what didn't reach us is sent again."""
        wait, waited = _FIRST_WAIT, 0.0
        await self.close()
        while waited < self._patience:
            await asyncio.sleep(wait)
            waited += wait
            wait = min(2 * wait, _LONGEST_WAIT)
            try:
                await self.begin()
            except Unreached:
                await self.close()
            else:
                return
        raise Unreached("Lost the connection to the hub.") from lost

    def _take(self, events: Sequence[ServerEvent]) -> None:
        """Items that arrived together are returned together."""
        items: list[Item] = []
        for event in events:
            match event.kind:
                case "message":
                    items.append(item_in(decode(event.data)))
                    self._cursor = items[-1].cursor
                case "place" if event.id is not None:
                    self._cursor = int(event.id)
                case "preview":
                    self._hand_out(items)
                    items = []
                    self._waiting.append(msgspec.convert(decode(event.data), Preview))
                case "reset":
                    reset = decode(event.data)
                    raise LostPlace(reset["oldest"], reset["newest"])
                case _:
                    pass
        self._hand_out(items)

    def _hand_out(self, items: list[Item]) -> None:
        if items:
            self._waiting.append(items)
