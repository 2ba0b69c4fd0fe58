"""The live stream: server-sent events, one for each client, with the feed's own cursor. A slow client is cut off."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from handraise.desk.interface import Follower, LostPlace, Partial
from handraise.model.items import Item
from handraise.surfaces.web import shapes
from handraise.surfaces.web.visit import BadRequest, Parameter, Visit, Way

KEEP_ALIVE = 15.0
_SLOW = 20.0
"""How long a client may leave unread what was sent."""
_SHARED = 4096
# As an event, not as a comment: proxies strip comments. Without an id, so that it moves nobody's place.
_PING = b"event: ping\ndata: {}\n\n"
_FIRST = b"retry: 1000\n\n"


class Streams:
    """All open streams. Each item is encoded once, for everybody."""

    def __init__(self) -> None:
        self.closing = asyncio.Event()
        self.open = 0
        self._encoded: OrderedDict[int, bytes] = OrderedDict()

    def encode(self, item: Item) -> bytes:
        found = self._encoded.get(item.cursor)
        if found is None:
            found = self._encoded[item.cursor] = b"id: %d\ndata: %s\n\n" % (item.cursor, item.as_json())
            if len(self._encoded) > _SHARED:
                self._encoded.popitem(last=False)
        return found

    async def follow(self, visit: Visit) -> Response:
        """The act behind `/api/feed`."""
        return EventStream(self, visit, _after(visit), visit.text("session"))

    def ways(self) -> tuple[Way, ...]:
        return (
            Way(
                "GET",
                "/api/feed",
                "viewer",
                self.follow,
                "Every change, live; `Last-Event-ID` resumes",
                parameters=(
                    Parameter("after", "everything after this cursor; without it, from here on", "integer"),
                    Parameter("session", "only this session's"),
                ),
                media="text/event-stream",
            ),
        )


class EventStream(Response):
    """Ends when the client goes or reads too slowly, when it may no longer be here, and when the hub stops."""

    media_type = "text/event-stream"

    def __init__(self, streams: Streams, visit: Visit, after: int | None, session: str | None) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._streams = streams
        self._visit = visit
        self._after = after
        self._session = session

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        self._streams.open += 1
        left = self._visit.visitor.left
        tasks = [
            asyncio.create_task(self._send_all(send)),
            asyncio.create_task(_gone(receive)),
            asyncio.create_task(_set(self._streams.closing)),
            *([asyncio.create_task(_set(left))] if left is not None else []),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._streams.open -= 1
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        if not isinstance(ended[0], TimeoutError):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_all(self, send: Send) -> None:
        async for piece in self._pieces():
            # A client that does not read for long holds nobody else up, and comes back with its cursor.
            async with asyncio.timeout(_SLOW):
                await send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _pieces(self) -> AsyncIterator[bytes]:
        yield _FIRST
        try:
            async with self._visit.desk.follow(self._after, self._session) as follower:
                async for piece in self._news(follower):
                    yield piece
        except LostPlace as lost:
            told = msgspec.json.encode(shapes.Reset(oldest=lost.oldest, newest=lost.newest))
            yield b"event: reset\ndata: %s\n\n" % told

    async def _news(self, follower: Follower) -> AsyncIterator[bytes]:
        while True:
            try:
                async with asyncio.timeout(KEEP_ALIVE):
                    news = await anext(follower)
            except TimeoutError:
                yield _PING
            except StopAsyncIteration:
                return
            else:
                if isinstance(news, Partial):
                    yield b"event: preview\ndata: %s\n\n" % msgspec.json.encode(news)
                else:
                    yield b"".join(self._streams.encode(item) for item in news)


def _after(visit: Visit) -> int | None:
    """`Last-Event-ID` is where a browser was; it is newer than what its address says."""
    last = visit.request.headers.get("last-event-id")
    if last:
        if not last.isascii() or not last.isdigit() or len(last) > 19:
            raise BadRequest("'Last-Event-ID' must be a cursor.", 422, "invalid")
        return int(last)
    return visit.number("after")


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _set(event: asyncio.Event) -> None:
    await event.wait()
