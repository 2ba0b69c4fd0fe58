"""Requests to a hub from asyncio: over its Unix socket, TCP or TLS, on connections that stay open between them.

It goes straight to the hub, as the command line does: it uses no proxy and follows no redirect.
"""

import asyncio
import select
import ssl
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import NamedTuple, Self, cast
from urllib.parse import urlencode

from handraise.client.address import HubAddress, read_address
from handraise.client.http import BadResponse, ResponseParser, request_head

DEADLINE = 60.0
"""How long the hub may take to let us in, to read a request, and to send the next piece of a response."""
LONGEST_IDLE = 5.0
"""A connection that nobody used for longer is closed: the hub may close it, too, just when a request is sent."""
_MOST_UNREAD = 256 * 1024
_GZIP = 31  # zlib's number for "gzip, with its header"
_NOT_ASKED_FOR = "the body is compressed in a way that nobody asked for"


class RequestFailed(Exception):
    """No hub answered, or not with a response that can be read. The cause says why."""


class HttpResponse(NamedTuple):
    """A whole response. The body isn't compressed, even if it was on its way."""

    status: int
    body: bytes


class HttpClient:
    """Sends requests to one hub, as many at once as are wished. Entered with `async with`.

    `where` is a Unix socket or an address; `headers` go with each request. A request is sent once. The exception is a
    GET on a connection that the hub closed before it sent anything: it is sent again, on a new connection.
    """

    def __init__(self, where: Path | str, headers: Mapping[str, str], *, deadline: float = DEADLINE) -> None:
        self._where = where
        self._headers = headers
        self._deadline = deadline
        self._connections: set[HttpConnection] = set()
        self._idle: list[HttpConnection] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Closes every connection, also those on which a response still arrives."""
        connections = list(self._connections)
        for connection in connections:
            connection.abort()
        for connection in connections:
            await connection.lost.wait()

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> HttpResponse:
        """The whole response; raises RequestFailed."""
        with _failures():
            compression = {} if self._address is None else {"Accept-Encoding": "gzip"}
            head = self._head(method, _target(path, query), content, {**compression, **(headers or {})})
            response = await self._send(method, head + (content or b""))
            try:
                body = _decompress(response.headers, await response.read())
            except BaseException:
                response.close()
                raise
            self._release(response)
            return HttpResponse(response.status, body)

    async def stream(self, path: str, *, query: Mapping[str, object] | None = None, silence: float) -> "ResponseStream":
        """A response that arrives in pieces, with at most `silence` seconds between them; raises RequestFailed."""
        with _failures():
            response = await self._send("GET", self._head("GET", _target(path, query), None, {}))
            if _encoding(response.headers) != b"identity":
                response.close()
                raise BadResponse(_NOT_ASKED_FOR)
            response.silence = silence
            return response

    @cached_property
    def _address(self) -> HubAddress | None:
        """None on a Unix socket; raises ValueError."""
        return None if isinstance(self._where, Path) else read_address(self._where)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Trusts what this machine trusts. Reading its certificates takes 30 ms."""
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context

    def _head(self, method: str, target: str, content: bytes | None, headers: Mapping[str, str]) -> bytes:
        length = {} if method == "GET" else {"Content-Length": str(len(content or b""))}
        host, base = ("localhost", "") if self._address is None else (self._address.authority, self._address.path)
        return request_head(method, base + target, {"Host": host, **self._headers, **headers, **length})

    async def _send(self, method: str, request: bytes) -> "ResponseStream":
        connection = self._take_idle()
        if connection is not None:
            try:
                return await self._exchange(connection, request)
            except (ConnectionError, BadResponse):
                if method != "GET" or connection.has_received:
                    raise
        return await self._exchange(await self._open(), request)

    async def _exchange(self, connection: "HttpConnection", request: bytes) -> "ResponseStream":
        response = ResponseStream(connection, self._deadline)
        try:
            await connection.send(request, self._deadline)
            await response.begin()
        except BaseException:
            connection.abort()
            raise
        return response

    async def _open(self) -> "HttpConnection":
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._deadline):
            if self._address is None:
                _, connection = await loop.create_unix_connection(self._connection, str(self._where))
            else:
                tls = self._tls if self._address.is_secure else None
                address = (self._address.host, self._address.port)
                _, connection = await loop.create_connection(self._connection, *address, ssl=tls)
        return connection

    def _connection(self) -> "HttpConnection":
        return HttpConnection(self._connections)

    def _take_idle(self) -> "HttpConnection | None":
        """The one that was used last; those that can't be used any more are closed."""
        oldest = monotonic() - LONGEST_IDLE
        while self._idle and self._idle[0].idle_since < oldest:
            self._idle.pop(0).abort()
        while self._idle:
            connection = self._idle.pop()
            if connection.is_usable:
                return connection
            connection.abort()
        return None

    def _release(self, response: "ResponseStream") -> None:
        connection = response.detach()
        if connection is not None:
            connection.idle_since = monotonic()
            self._idle.append(connection)


class ResponseStream:
    """A response whose head is there. Iterates over its body's pieces, and is closed by whoever opened it."""

    def __init__(self, connection: "HttpConnection", silence: float) -> None:
        self.silence = silence
        self._connection = connection
        self._parser = ResponseParser()
        self._piece = b""

    @property
    def status(self) -> int:
        return self._parser.status or 0

    @property
    def headers(self) -> Mapping[bytes, bytes]:
        return self._parser.headers

    async def begin(self) -> None:
        """Waits for the head; raises OSError and BadResponse."""
        while self._parser.status is None:
            self._piece = await self._receive()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """Raises RequestFailed where the body breaks off."""
        with _failures():
            while not self._piece:
                if self._parser.has_ended:
                    raise StopAsyncIteration
                self._piece = await self._receive()
        piece, self._piece = self._piece, b""
        return piece

    async def read(self) -> bytes:
        """All that is left of the body."""
        return b"".join([piece async for piece in self])

    def close(self) -> None:
        self._connection.abort()

    def detach(self) -> "HttpConnection | None":
        """The connection, if it can carry another request; otherwise it is closed."""
        if self._parser.can_continue and self._connection.is_usable:
            return self._connection
        self.close()
        return None

    async def _receive(self) -> bytes:
        piece = await self._connection.receive(self.silence)
        if piece:
            return self._parser.receive(piece)
        self._parser.close()
        return b""


class HttpConnection(asyncio.Protocol):
    """One connection: its bytes, and whether it can carry another request. Enters itself among `connections`."""

    def __init__(self, connections: set["HttpConnection"]) -> None:
        self.lost = asyncio.Event()
        self.has_received = False
        """Whether anything arrived since the last request was sent."""
        self.idle_since = 0.0
        self._connections = connections
        self._arrived = bytearray()
        self._changed = asyncio.Event()
        self._is_full = False
        """Whether some of the request isn't sent yet."""
        self._is_paused = False
        """Whether the hub has to wait, because nobody reads here."""
        self._has_ended = False
        self._error: Exception | None = None

    @property
    def is_usable(self) -> bool:
        """Whether the hub has read everything, sent nothing more, and not closed it: also what asyncio hasn't seen."""
        if self._is_full or self._arrived or self._has_ended or self._transport.is_closing():
            return False
        events = select.poll()
        events.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not events.poll(0)

    async def send(self, request: bytes, deadline: float) -> None:
        """Waits until it is sent, or the hub responds without having read it all."""
        self.has_received = False
        if not self._has_ended:
            self._transport.write(request)
        async with asyncio.timeout(deadline):
            while self._is_full and not self._arrived and not self._has_ended:
                await self._change()

    async def receive(self, silence: float) -> bytes:
        """What has arrived; nothing at the end. Raises OSError."""
        async with asyncio.timeout(silence):
            while not self._arrived and not self._has_ended:
                await self._change()
        if not self._arrived and self._error is not None:
            raise ConnectionResetError("the connection broke") from self._error
        piece = bytes(self._arrived)
        self._arrived.clear()
        if self._is_paused and not self._transport.is_closing():
            self._is_paused = False
            self._transport.resume_reading()
        return piece

    def abort(self) -> None:
        self._transport.abort()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        # So that `resume_writing` comes when all is sent.
        self._transport.set_write_buffer_limits(0)
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        self.has_received = True
        self._arrived += data
        if len(self._arrived) > _MOST_UNREAD and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._changed.set()

    def eof_received(self) -> None:
        self._has_ended = True
        self._changed.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._has_ended, self._error = True, exc
        self._connections.discard(self)
        self._changed.set()
        self.lost.set()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._changed.set()


@contextmanager
def _failures() -> Iterator[None]:
    """Whatever goes wrong between us and the hub is one error."""
    try:
        yield
    except (OSError, BadResponse, ValueError, zlib.error) as error:
        raise RequestFailed(str(error)) from error


def _target(path: str, query: Mapping[str, object] | None) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _decompress(headers: Mapping[bytes, bytes], body: bytes) -> bytes:
    match _encoding(headers):
        case b"gzip":
            return zlib.decompress(body, _GZIP)
        case b"identity":
            return body
        case _:
            raise BadResponse(_NOT_ASKED_FOR)


def _encoding(headers: Mapping[bytes, bytes]) -> bytes:
    return headers.get(b"content-encoding", b"identity").lower()
