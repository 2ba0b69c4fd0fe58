"""The live stream: server-sent events, one for each client, with the feed's own cursor. A slow client is cut off."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from handraise.api import schemas
from handraise.api.long_requests import cut_off, end
from handraise.api.requests import TEXTS, ApiRequest, BadRequest, Parameter, Route
from handraise.auth import Principal
from handraise.desk.interface import CutOff, DeskError, Follower, LostPlace
from handraise.model.items import Item, Preview
from handraise.model.tokens import may

KEEP_ALIVE = 15.0
SLOW = 20.0
"""How long a client may leave unread what was sent."""
_LOOK = 3.0
"""How often a stream without news looks whether the hub has a problem, in seconds."""
_SHARED = 4096
_MOST_WATCHED = 50
ATTENDED = "handraise-attended"
"""The header of a client that shows the session on a terminal, to a person."""
# As an event, because proxies strip comments. Without an id, so that it doesn't move the client's cursor.
_PING = b"event: ping\ndata: {}\n\n"
# The id moves the client to its starting position: even if it is cut off before the first item, it misses nothing.
_PLACE = b'retry: 1000\nevent: place\nid: %d\ndata: {"cursor":%d}\n\n'
_NO_SUCH_PLACE = 2**63 - 1
_AFTER = Parameter("after", "Everything after this cursor. Default: only new changes", "integer")

log = logging.getLogger("handraise.api")


class Streams:
    """All open streams. Each item is encoded once, for everyone."""

    def __init__(self, *, keep_alive: float = KEEP_ALIVE, slow: float = SLOW) -> None:
        self.closing = asyncio.Event()
        self.open = 0
        self.keep_alive = keep_alive
        self.slow = slow
        self._encoded: OrderedDict[tuple[int, bool], bytes] = OrderedDict()
        self._previewed: tuple[Preview | None, bytes] = (None, b"")
        self.also: Callable[[Item], bytes] = _nothing
        """More events for an item, for pages that are not ours and callers who may answer."""
        self.trouble: Callable[[], str] = str
        """Why the hub can't work as usual; empty if it can."""
        self.attached: Callable[[Principal, str], AbstractContextManager[None]] = _nobody
        """Entered while a person's terminal shows a session."""

    async def encode(self, items: Sequence[Item], request: ApiRequest) -> bytes:
        """As events; each item's are encoded once and shared by all streams."""
        also = self.also if may(request.principal.role, "approver") else _nothing
        cut = request.wants_excerpts()
        encoded = [self._encoded.get((item.cursor, cut)) or await self._encode(item, request, cut) for item in items]
        return b"".join([event + also(item) for event, item in zip(encoded, items, strict=True)])

    def encode_preview(self, partial: Preview) -> bytes:
        """As an event. All streams get the same one at the same time, so the last one is cached."""
        last, encoded = self._previewed
        if partial != last:
            encoded = b"event: preview\ndata: %s\n\n" % msgspec.json.encode(partial)
            self._previewed = partial, encoded
        return encoded

    async def follow(self, request: ApiRequest) -> Response:
        """The endpoint `/api/feed`."""
        request.wants_excerpts()  # Refused here, not in the middle of the stream.
        return EventStream(self, request, await _place(request), request.text("session"), _watched(request))

    def routes(self) -> tuple[Route, ...]:
        return (
            Route(
                "GET",
                "/api/feed",
                "viewer",
                self.follow,
                "Follow every change. `Last-Event-ID` resumes",
                parameters=(
                    _AFTER,
                    Parameter("session", "Only this session"),
                    Parameter("watch", "Sessions on a screen, separated by commas: partial text from other machines"),
                    TEXTS,
                ),
                media="text/event-stream",
                long_lived=True,
            ),
        )

    async def _encode(self, item: Item, request: ApiRequest, cut: bool) -> bytes:
        encoded = b"id: %d\ndata: %s\n\n" % (item.cursor, await request.cards.item(item, request.desk, cut=cut))
        self._encoded[item.cursor, cut] = encoded
        if len(self._encoded) > _SHARED:
            self._encoded.popitem(last=False)
        return encoded


def _nothing(_: Item) -> bytes:
    return b""


def _nobody(_: Principal, __: str) -> AbstractContextManager[None]:
    return nullcontext()


class EventStream(Response):
    """Ends when the client leaves or reads too slowly, and when the hub stops."""

    media_type = "text/event-stream"

    def __init__(
        self, streams: Streams, request: ApiRequest, after: int, session: str | None, watch: Sequence[str]
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._streams = streams
        self._request = request
        self._after = after
        self._session = session
        self._watch = watch
        self._is_read = True
        self._trouble = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        self._streams.open += 1
        try:
            with self._attached():
                await _until_first(self._send_all(send), _gone(receive), self._streams.closing.wait())
        finally:
            self._streams.open -= 1
        if self._is_read:
            await end(scope, send)
        else:
            cut_off(scope)

    def _attached(self) -> AbstractContextManager[None]:
        is_attended = bool(self._request.http.headers.get(ATTENDED)) and self._session is not None
        return self._streams.attached(self._request.principal, self._session or "") if is_attended else nullcontext()

    async def _send_all(self, send: Send) -> None:
        try:
            async with self._request.desk.follow(self._after, self._session, self._watch) as follower:
                await self._send(send, _PLACE % (self._after, self._after))
                await self._send_trouble(send)
                now, keep_alive = asyncio.get_running_loop().time, self._streams.keep_alive
                due = now() + keep_alive
                async for news in _Pinged(follower, min(keep_alive, _LOOK)):
                    if news is not None or now() >= due:
                        await self._send(send, await self._encode(news))
                        due = now() + keep_alive
                    await self._send_trouble(send)
        except LostPlace as lost:
            reset = msgspec.json.encode(schemas.Reset(oldest=lost.oldest, newest=lost.newest))
            await self._send(send, b"event: reset\ndata: %s\n\n" % reset)
        except CutOff:
            log.info("a client that fell behind was cut off")
        except TimeoutError:
            # It doesn't read: cut it off. It blocks no one, and comes back with its cursor.
            self._is_read = False
            log.info("a client that did not read was cut off")
        except DeskError as error:
            log.warning("a stream ended: %s", error.code)

    async def _send_trouble(self, send: Send) -> None:
        trouble = self._streams.trouble()
        if trouble != self._trouble:
            self._trouble = trouble
            encoded = msgspec.json.encode({"trouble": trouble})
            await self._send(send, b"event: trouble\ndata: %s\n\n" % encoded)

    async def _send(self, send: Send, piece: bytes) -> None:
        async with asyncio.timeout(self._streams.slow):
            await send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _encode(self, news: Sequence[Item] | Preview | None) -> bytes:
        if news is None:
            return _PING
        if isinstance(news, Preview):
            return self._streams.encode_preview(news)
        return await self._streams.encode(news, self._request)


class _Pinged:
    """What a follower yields, and None whenever it had nothing for a while."""

    def __init__(self, follower: Follower, seconds: float) -> None:
        self._follower = follower
        self._seconds = seconds

    def __aiter__(self) -> "_Pinged":
        return self

    async def __anext__(self) -> Sequence[Item] | Preview | None:
        try:
            async with asyncio.timeout(self._seconds):
                return await anext(self._follower)
        except TimeoutError:
            return None


async def _place(request: ApiRequest) -> int:
    """`Last-Event-ID` is where a browser was; it is newer than the URL's cursor. Without either, the end."""
    last = request.http.headers.get("last-event-id")
    if last:
        # A browser gives up on anything but a stream, so an invalid ID gets a `reset` too.
        return (
            int(last) if last.isascii() and last.isdigit() and len(last) < len(str(_NO_SUCH_PLACE)) else _NO_SUCH_PLACE
        )
    after = request.number(_AFTER)
    return await request.desk.newest() if after is None else after


def _watched(request: ApiRequest) -> list[str]:
    watched = (request.text("watch") or "").split(",")
    if len(watched) > _MOST_WATCHED:
        raise BadRequest(f"'watch' can have at most {_MOST_WATCHED} sessions.", 422, "invalid")
    return [each for each in watched if each]


async def _until_first(*waits: Coroutine[Any, Any, object]) -> None:
    """Waits until one of them has ended; cancels the others."""
    tasks = [asyncio.ensure_future(each) for each in waits]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        if not task.cancelled() and task.exception() is not None:
            log.error("a stream failed", exc_info=task.exception())


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
