"""Sends requests to a hub with asyncio: over its Unix socket, TCP or TLS, with keep-alive.

Like the command line's own client, it uses no proxy and follows no redirects.
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
"""How long the hub may take to accept a connection, to read a request, and to send more of a response."""
LONGEST_IDLE = 5.0
"""A connection that was idle for longer is not used again. Hubs close theirs after 75 s."""
_MOST_UNREAD = 256 * 1024
_GZIP = 31  # zlib's number for "gzip, with its header"
_NOT_ASKED_FOR = "unexpected compression"


class RequestFailed(Exception):
    """There is no response, or a broken one. The cause says why."""


class HttpResponse(NamedTuple):
    """A complete response. The body is decompressed."""

    status: int
    body: bytes


class HttpClient:
    """Sends requests to one hub, any number at once. Entered with `async with`.

    `where` is a Unix socket or an address; `headers` are sent with each request. A request is sent once, except for a
    GET that meets a closing connection: if nothing of a response arrived, it is sent again on a new one.
    """

    def __init__(self, where: Path | str, headers: Mapping[str, str], *, deadline: float = DEADLINE) -> None:
        self._where = where
        self._headers = headers
        self._deadline = deadline
        self._connections: set[HttpConnection] = set()
        self._idle: list[HttpConnection] = []
        self._is_closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Closes every connection, including those in use."""
        self._is_closed = True
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
        """The complete response; raises RequestFailed."""
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
        """A response to read piece by piece, at most `silence` seconds apart; raises RequestFailed."""
        with _failures():
            response = await self._send("GET", self._head("GET", _target(path, query), None, {}))
            if _encoding(response.headers) != b"identity":
                response.close()
                raise BadResponse(_NOT_ASKED_FOR)
            response.silence = silence
            return response

    @cached_property
    def _address(self) -> HubAddress | None:
        """None for a Unix socket; raises ValueError."""
        return None if isinstance(self._where, Path) else read_address(self._where)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Trusts the system's certificates. Loading them takes 30 ms."""
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
        if self._is_closed:
            connection.abort()
            raise ConnectionAbortedError("the client was closed")
        return connection

    def _connection(self) -> "HttpConnection":
        return HttpConnection(self._connections)

    def _take_idle(self) -> "HttpConnection | None":
        """The connection that was used last. Closes those that can't be used again."""
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
    """A response with its status and headers. Iterates over the pieces of its body; `close` it when done."""

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
        """Waits for the head; raises OSError or BadResponse."""
        while self._parser.status is None:
            self._piece = await self._receive()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """Raises RequestFailed if the body is incomplete."""
        with _failures():
            while not self._piece:
                if self._parser.has_ended:
                    raise StopAsyncIteration
                self._piece = await self._receive()
        piece, self._piece = self._piece, b""
        return piece

    async def read(self) -> bytes:
        """The rest of the body."""
        return b"".join([piece async for piece in self])

    def close(self) -> None:
        self._connection.abort()

    def detach(self) -> "HttpConnection | None":
        """The connection, if it can carry another request; otherwise closes it."""
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
    """One connection. Adds itself to `connections` while it is open."""

    def __init__(self, connections: set["HttpConnection"]) -> None:
        self.lost = asyncio.Event()
        self.has_received = False
        """Whether anything arrived since the last request."""
        self.idle_since = 0.0
        self._connections = connections
        self._arrived = bytearray()
        self._changed = asyncio.Event()
        self._is_full = False
        """Whether part of the request is still to be sent."""
        self._is_paused = False
        """Whether too much is unread, so that the hub has to wait."""
        self._has_ended = False
        self._error: Exception | None = None

    @property
    def is_usable(self) -> bool:
        """Whether a request can be sent. Also looks at the socket: asyncio may not have seen yet that it was closed."""
        if self._is_full or self._arrived or self._has_ended or self._transport.is_closing():
            return False
        events = select.poll()
        events.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not events.poll(0)

    async def send(self, request: bytes, deadline: float) -> None:
        """Waits until it is sent, or until the hub responds or closes before that."""
        self.has_received = False
        if not self._has_ended:
            self._transport.write(request)
        async with asyncio.timeout(deadline):
            while self._is_full and not self._arrived and not self._has_ended:
                await self._change()

    async def receive(self, silence: float) -> bytes:
        """The bytes that arrived, or none at the end; raises OSError."""
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
        # So that `resume_writing` is called when everything is sent.
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
    """Turns everything that can go wrong into RequestFailed."""
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
