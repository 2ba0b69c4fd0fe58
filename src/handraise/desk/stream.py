"""Follows a hub's feed over server-sent events, and reconnects by itself."""

import asyncio
from collections.abc import Collection, Sequence

import msgspec

from handraise.client.connection import HttpClient, RequestFailed, ResponseStream
from handraise.client.events import EventParser, ServerEvent
from handraise.desk.decode import decode, error_in, item_in
from handraise.desk.interface import LostPlace, Unreached
from handraise.model.items import Item, Preview

_SILENCE = 50.0
"""A hub sends something every 15 s, if only a ping."""
_FIRST_WAIT = 0.1
_LONGEST_WAIT = 5.0


class RemoteFollower:
    """See `Follower`."""

    def __init__(
        self, http: HttpClient, after: int | None, session: str | None, patience: float, watch: Collection[str] = ()
    ) -> None:
        self._http = http
        self._cursor = after
        self._session = session
        self._patience = patience
        self._watch = ",".join(watch) or None
        self._waiting: list[Sequence[Item] | Preview] = []
        self._response: ResponseStream | None = None

    def __aiter__(self) -> "RemoteFollower":
        return self

    async def __anext__(self) -> Sequence[Item] | Preview:
        while not self._waiting:
            try:
                self._take(await self._receive())
            except (RequestFailed, StopAsyncIteration) as error:
                await self._reconnect(error)
        return self._waiting.pop(0)

    async def begin(self) -> None:
        """Connects, and waits until the hub has found the cursor; raises LostPlace."""
        query = {"after": self._cursor, "session": self._session, "watch": self._watch}
        present = {key: value for key, value in query.items() if value is not None}
        try:
            self._response = await self._http.stream("/api/feed", query=present, silence=_SILENCE)
            if self._response.status >= 400:
                raise error_in(await self._response.read())
            self._events = EventParser()
            while not (events := await self._receive()):
                pass
            self._take(events)
        except (RequestFailed, StopAsyncIteration) as error:
            raise Unreached from error

    def close(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None

    async def _receive(self) -> list[ServerEvent]:
        """The events of the next piece; raises RequestFailed, and StopAsyncIteration at the end."""
        if self._response is None:
            raise StopAsyncIteration
        return self._events.receive(await anext(self._response))

    async def _reconnect(self, lost: BaseException) -> None:
        """From our cursor: what didn't reach us is sent again."""
        wait, waited = _FIRST_WAIT, 0.0
        self.close()
        while waited < self._patience:
            await asyncio.sleep(wait)
            waited += wait
            wait = min(2 * wait, _LONGEST_WAIT)
            try:
                await self.begin()
            except Unreached:
                self.close()
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
