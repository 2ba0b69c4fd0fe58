"""The live stream: server-sent events, one for each client, with the feed's own cursor. A slow client is cut off."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NamedTuple

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from handraise.api import schemas
from handraise.api.cards import AskCards
from handraise.api.chunks import ChunkWriter, chunk_of, writer_of
from handraise.api.long_requests import cut_off, end
from handraise.api.requests import TEXTS, ApiRequest, BadRequest, Parameter, Route
from handraise.auth import Principal
from handraise.desk.interface import CutOff, Desk, DeskError, LostPlace
from handraise.hub.desk import LocalFollower, News
from handraise.model.items import Item, Preview
from handraise.model.tokens import may

KEEP_ALIVE = 15.0
SLOW = 20.0
"""How long a client may leave unread what was sent."""
_LOOK = 3.0
"""How often streams without news look whether the hub has a problem, in seconds."""
_SHARED = 4096
_MOST_CHUNKS = 64
"""How many chunks are kept: those of the last few batches, each for the streams of one session or of all."""
_MOST_WATCHED = 50
ATTENDED = "handraise-attended"
"""The header of a client that shows the session on a terminal, to a person."""
# As an event, because proxies strip comments. Without an id, so that it doesn't move the client's cursor.
_PING = chunk_of(b"event: ping\ndata: {}\n\n")
# The id moves the client to its starting position: even if it is cut off before the first item, it misses nothing.
_PLACE = b'retry: 1000\nevent: place\nid: %d\ndata: {"cursor":%d}\n\n'
_NO_SUCH_PLACE = 2**63 - 1
_AFTER = Parameter("after", "Everything after this cursor. Default: only new changes", "integer")

log = logging.getLogger("handraise.api")


class View(NamedTuple):
    """What differs between the streams of one feed."""

    may_answer: bool
    cut: bool
    """With excerpts of the longest texts."""


class Streams:
    """All open streams. What they share is made once: an item's event, a batch as a chunk, the timer for pings."""

    def __init__(self, *, keep_alive: float = KEEP_ALIVE, slow: float = SLOW) -> None:
        self.closing = asyncio.Event()
        self.keep_alive = keep_alive
        self.slow = slow
        self._open: set[EventStream] = set()
        self._beat: asyncio.TimerHandle | None = None
        self._encoded: OrderedDict[tuple[int, bool], bytes] = OrderedDict()
        self._chunks: dict[tuple[int, View], tuple[News, bytes | None]] = {}
        self.also: Callable[[Item], bytes] = _nothing
        """More events for an item, for pages that are not ours and callers who may answer."""
        self.trouble: Callable[[], str] = str
        """Why the hub can't work as usual; empty if it can."""
        self.attached: Callable[[Principal, str], AbstractContextManager[None]] = _nobody
        """Entered while a person's terminal shows a session."""

    @property
    def open(self) -> int:
        """How many there are."""
        return len(self._open)

    @property
    def idle(self) -> int:
        """How many have sent everything that there is."""
        return sum(stream.is_idle for stream in self._open)

    @contextmanager
    def holding(self, stream: "EventStream") -> Iterator[None]:
        """The stream is open while this is entered."""
        self._open.add(stream)
        if self.closing.is_set():
            stream.end()
        elif self._beat is None:
            self._schedule()
        try:
            yield
        finally:
            self._open.discard(stream)
            if not self._open and self._beat is not None:
                self._beat.cancel()
                self._beat = None

    def close(self) -> None:
        """Ends every stream, also those that are about to open."""
        self.closing.set()
        for stream in self._open:
            stream.end()

    async def encode(self, news: News, view: View, cards: AskCards, desk: Desk) -> bytes:
        """As events; each item's are encoded once and shared by all streams."""
        if isinstance(news, Preview):
            return _preview_event(news)
        events = [
            self._encoded.get((item.cursor, view.cut))
            or self._keep(item, view.cut, await cards.item(item, desk, cut=view.cut))
            for item in news
        ]
        return self._joined(events, news, view)

    def chunk(self, news: News, view: View, cards: AskCards) -> bytes | None:
        """As a chunk that all streams with this view share; None if something has to be read for it first."""
        key = id(news), view
        known = self._chunks.get(key)
        if known is None or known[0] is not news:
            if len(self._chunks) >= _MOST_CHUNKS:
                self._chunks.clear()
            known = self._chunks[key] = news, self._chunk(news, view, cards)
        return known[1]

    def _chunk(self, news: News, view: View, cards: AskCards) -> bytes | None:
        if isinstance(news, Preview):
            return chunk_of(_preview_event(news))
        events: list[bytes] = []
        for item in news:
            event = self._encoded.get((item.cursor, view.cut))
            if event is None:
                shown = cards.item_now(item, cut=view.cut)
                if shown is None:
                    return None
                event = self._keep(item, view.cut, shown)
            events.append(event)
        return chunk_of(self._joined(events, news, view))

    def _joined(self, events: Sequence[bytes], items: Sequence[Item], view: View) -> bytes:
        if view.may_answer:
            events = [event + self.also(item) for event, item in zip(events, items, strict=True)]
        return b"".join(events)

    def _keep(self, item: Item, cut: bool, shown: bytes) -> bytes:
        event = self._encoded[item.cursor, cut] = b"id: %d\ndata: %s\n\n" % (item.cursor, shown)
        if len(self._encoded) > _SHARED:
            self._encoded.popitem(last=False)
        return event

    def _schedule(self) -> None:
        self._beat = asyncio.get_running_loop().call_later(self._period, self._look)

    @property
    def _period(self) -> float:
        return min(self.keep_alive, _LOOK)

    def _look(self) -> None:
        """One timer for all: pings streams that would be silent for too long, and tells them about a problem."""
        self._schedule()
        trouble = self.trouble()
        before = asyncio.get_running_loop().time() + self._period
        for stream in tuple(self._open):
            stream.look(trouble, before)

    async def follow(self, request: ApiRequest) -> Response:
        """The endpoint `/api/feed`."""
        view = View(may(request.principal.role, "approver"), request.wants_excerpts())
        return EventStream(self, request, view, await _place(request), request.text("session"), _watched(request))

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


def _nothing(_: Item) -> bytes:
    return b""


def _nobody(_: Principal, __: str) -> AbstractContextManager[None]:
    return nullcontext()


class EventStream(Response):
    """Ends when the client leaves or reads too slowly, and when the hub stops.

    Its task sends the history, and what a client that reads slowly has to wait for. In between it sleeps: the feed
    hands over what was committed, and that is written to the connection in the same moment.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        streams: Streams,
        request: ApiRequest,
        view: View,
        after: int,
        session: str | None,
        watch: Sequence[str],
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._streams = streams
        # Not the whole request: a stream may last for days, and there may be thousands.
        self._desk = request.desk
        self._cards = request.cards
        self._principal = request.principal
        self._is_attended = bool(request.http.headers.get(ATTENDED)) and session is not None
        self._view = view
        self._after = after
        self._session = session
        self._watch = watch
        self._is_read = True
        self._trouble = ""
        self._stay: asyncio.Timeout | None = None
        self._writer: ChunkWriter | None = None
        self._follower: LocalFollower | None = None
        self._due = 0.0
        """When it has been silent for too long, by the loop's clock."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 (`gone` tells us)
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        try:
            async with asyncio.timeout(None) as self._stay:
                self._writer = writer_of(scope, self.end)
                if self._writer is not None:
                    with self._streams.holding(self), self._attached():
                        await self._send_all(send)
        except TimeoutError:
            pass  # ours: there is no other that `_send_all` leaves
        finally:
            self._stay = None
        if self._is_read:
            await end(scope, send)
        else:
            cut_off(scope)

    def end(self) -> None:
        """The client is gone, or the hub stops."""
        if self._stay is not None and self._stay.when() is None:
            self._stay.reschedule(asyncio.get_running_loop().time())

    @property
    def is_idle(self) -> bool:
        """Whether it has sent everything that there is: what comes next is written at once."""
        return self._follower is not None and self._follower.is_idle

    def take(self, news: News) -> bool:
        """Writes what was just committed, if that is possible without waiting."""
        if self._writer is None:
            return False
        chunk = self._streams.chunk(news, self._view, self._cards)
        return chunk is not None and self._write(self._writer, chunk)

    def look(self, trouble: str, before: float) -> None:
        """Tells the client about a problem, or that we are there, if it gets nothing else before this time."""
        if self._writer is None or not self.is_idle:
            return
        if trouble != self._trouble and self._write(self._writer, chunk_of(_trouble_event(trouble))):
            self._trouble = trouble
        if self._due < before:
            self._write(self._writer, _PING)

    def _write(self, writer: ChunkWriter, chunk: bytes) -> bool:
        is_written = writer.write(chunk)
        if is_written:
            self._has_spoken()
        return is_written

    def _has_spoken(self) -> None:
        self._due = asyncio.get_running_loop().time() + self._streams.keep_alive

    def _attached(self) -> AbstractContextManager[None]:
        return self._streams.attached(self._principal, self._session or "") if self._is_attended else nullcontext()

    async def _send_all(self, send: Send) -> None:
        try:
            await self._follow(send)
        except CutOff:
            log.info("a client that fell behind was cut off")
        except _NotRead:
            # Cut it off. It blocks no one, and comes back with its cursor.
            self._is_read = False
            log.info("a client that did not read was cut off")
        except DeskError as error:
            log.warning("a stream ended: %s", error.code)
        except Exception:  # a stream's outer boundary: the client comes back with its cursor
            log.exception("a stream failed")

    async def _follow(self, send: Send) -> None:
        try:
            async with self._desk.follow(self._after, self._session, self._watch) as follower:
                await self._send(send, _PLACE % (self._after, self._after))
                await self._send_trouble(send)
                follower.hand_to(self.take)
                self._follower = follower
                async for news in follower:
                    await self._send(send, await self._streams.encode(news, self._view, self._cards, self._desk))
                    await self._send_trouble(send)
        except LostPlace as lost:
            reset = msgspec.json.encode(schemas.Reset(oldest=lost.oldest, newest=lost.newest))
            await self._send(send, b"event: reset\ndata: %s\n\n" % reset)

    async def _send_trouble(self, send: Send) -> None:
        trouble = self._streams.trouble()
        if trouble != self._trouble:
            self._trouble = trouble
            await self._send(send, _trouble_event(trouble))

    async def _send(self, send: Send, piece: bytes) -> None:
        try:
            async with asyncio.timeout(self._streams.slow):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except TimeoutError:
            raise _NotRead from None
        self._has_spoken()


class _NotRead(Exception):
    """The client has left what was sent unread for too long."""


def _preview_event(partial: Preview) -> bytes:
    return b"event: preview\ndata: %s\n\n" % msgspec.json.encode(partial)


def _trouble_event(trouble: str) -> bytes:
    return b"event: trouble\ndata: %s\n\n" % msgspec.json.encode({"trouble": trouble})


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
