"""Listens on TCP for browsers and scripts, and on a Unix socket for this machine's owner."""

import asyncio
import contextlib
import errno
import os
import select
import socket
import ssl
import struct
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from handraise.api import chunks, origins
from handraise.api.limits import ConnectionLimit
from handraise.api.requests import failed

LARGEST_HEAD = 64 * 1024
"""How many bytes a request may have before its body."""
SLOW_HEAD = 30.0
"""How long a client may take to send them."""
SLOW_READER = 20.0
"""How long a client may take to read some of what was sent."""
_LITTLE = 16 * 1024
_SOCKET_PATH = 103
_CREDENTIALS = struct.Struct("3i")
_LOCAL_PEERPID = 2
_SO_PEERPIDFD = 77


def _anybody(_: int) -> bool:
    """The default: every process counts as an agent."""
    return True


class HeadTooLarge(Exception):
    """The address and headers of a request are larger than we read."""


class CannotListen(Exception):
    """The address can't be used. The text says why."""


class PortTaken(CannotListen):
    """Another program listens there."""


class Peer(NamedTuple):
    """The process at the other end of a Unix socket."""

    process: int
    is_agent: bool


class Listener:
    """One server on one socket. `serve` returns soon after `stop`.

    `most` is the limit of clients; `is_agent` says whether a process is one of our agents.
    """

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        *,
        tls: ssl.SSLContext | None = None,
        most: int = 1000,
        is_agent: Callable[[int], bool] = _anybody,
    ) -> None:
        self._listener = listener
        config = uvicorn.Config(
            app,
            http=cast(type[asyncio.Protocol], partial(_Connection, room=ConnectionLimit(most), is_agent=is_agent)),
            ws="none",
            lifespan="off",
            loop="none",
            access_log=False,
            log_config=None,
            # Set by the server, so that responses that never reach the application have them too.
            headers=list(origins.HEADERS.items()),
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
            timeout_keep_alive=75,
        )
        config.load()
        config.ssl = tls
        self._server = _Server(config)

    async def serve(self) -> None:
        await self._server.serve(sockets=[self._listener])

    def stop(self) -> None:
        self._server.stop()


def listen_on_socket(path: Path) -> socket.socket:
    """A Unix socket that only we can open; replaces an old one that nobody listens on."""
    if len(os.fsencode(path)) > _SOCKET_PATH:
        raise CannotListen(f"The path {path} is too long for a socket. Choose a shorter one with --state.")
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    listener.listen(128)
    listener.setblocking(False)
    return listener


def listen_on_port(host: str, port: int) -> socket.socket:
    """A TCP socket; raises CannotListen, for example if the port is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=512)
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "no such address"
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise PortTaken(f"Port {port} is in use. Use --port to choose another.") from error
        raise CannotListen(f"Can't listen on {host}:{port}: {why}. Choose another with --host and --port.") from error
    listener.setblocking(False)
    return listener


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        self.should_exit = True
        self._stopping.set()

    async def main_loop(self) -> None:
        """Sleeps until it is stopped; uvicorn's own looks ten times a second."""
        await self.on_tick(0)
        await self._stopping.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to the program, not to one of its sockets."""
        yield


class _Connection(HttpToolsProtocol):
    """Limits what a client may send ahead, and adds the process at the other end of a Unix socket to each request."""

    # There may be thousands. With more than 30 attributes, each would have its own dictionary for them.
    __slots__ = (
        "_answering",
        "_head",
        "_is_agent",
        "_known",
        "_peer",
        "_reads",
        "_room",
        "_unread",
        "_waits",
        "_writer",
    )

    def __init__(self, *arguments: Any, room: ConnectionLimit, is_agent: Callable[[int], bool], **named: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments, **named)
        self._room = room
        self._is_agent = is_agent
        self._known: dict[str, Any] = {}
        """What we found out about the other end of this connection."""
        self._peer: Peer | None = None
        self._head = 0
        self._waits: asyncio.TimerHandle | None = None
        self._unread = 0
        self._reads: asyncio.TimerHandle | None = None
        self._answering: RequestResponseCycle | None = None
        self._writer: chunks.ChunkWriter | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._room.enter(self)
        end = transport.get_extra_info("socket")
        if end.family == socket.AF_UNIX:
            # Now, while it certainly exists: another process may have its pid when the first request comes.
            self._peer = _peer(end, self._is_agent)
        else:
            # Head and body are two writes: without this the second waits for the client's ACK, usually 40 ms.
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_there()
        self._all_is_read()
        self._room.leave(self)
        super().connection_lost(exc)
        if self._writer is not None:
            self._writer.gone()
        self._writer = self._answering = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._waits is not None:
            self._head += len(data)
        if self._head > LARGEST_HEAD and not self.transport.is_closing():
            self._refuse_head()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._all_is_read()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._head_is_there()
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > LARGEST_HEAD:
            self._head = size
            raise HeadTooLarge
        extensions: dict[str, Any] = {
            "handraise.cut_off": self.cut_off,
            "handraise.let_in": self._let_in,
            "handraise.heard": self._heard,
            "handraise.known": self._known,
            chunks.EXTENSION: self._write_chunks,
        }
        if self._peer is not None:
            extensions["handraise.peer"] = self._peer
        self.scope["extensions"] = extensions
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        # Nobody reads the body of a request whose response is a stream.
        if self._writer is None or self._writer.cycle is not self.cycle:
            super().on_body(body)

    def on_response_complete(self) -> None:
        self._writer = self._answering = None
        self._room.forget(self)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        if self._head > LARGEST_HEAD:
            self._refuse_head()
        else:
            self._refuse(400, "bad_request", msg)

    def _unsupported_upgrade_warning(self) -> None:
        """A WebSocket request isn't worth a log entry; it is answered like any other."""

    def cut_off(self) -> None:
        """Closes the connection immediately, and drops what the client hasn't read."""
        end = self.transport.get_extra_info("socket")
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _write_chunks(self, gone: chunks.Gone) -> chunks.ChunkWriter | None:
        """For the response that has started; None if its client is gone."""
        cycle = self._answering
        if cycle is not None and not cycle.disconnected and chunks.is_chunked(cycle):
            self._writer = chunks.ChunkWriter(cycle, gone)
        return self._writer

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        # Not always `self.cycle`: that is the newest request, which waits if the client sends it before its turn.
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def _let_in(self) -> None:
        self._room.know(self)

    def _heard(self) -> None:
        self._room.hear(self)

    def _await_head(self) -> None:
        self._head_is_there()
        self._waits = self.loop.call_later(SLOW_HEAD, self.cut_off)

    def _head_is_there(self) -> None:
        self._head = 0
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None

    def _await_reader(self) -> None:
        self._unread = self.transport.get_write_buffer_size()
        self._reads = self.loop.call_later(SLOW_READER, self._look_at_reader)

    def _look_at_reader(self) -> None:
        """A response that was sent completely stays in the buffer as long as the client likes, unless we check."""
        if self._unread - self.transport.get_write_buffer_size() < _LITTLE:
            self.cut_off()
        else:
            self._await_reader()

    def _all_is_read(self) -> None:
        if self._reads is not None:
            self._reads.cancel()
            self._reads = None

    def _refuse_head(self) -> None:
        self._refuse(431, "too_large", f"The address and headers are larger than {LARGEST_HEAD} bytes.")

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Before there is a request, in the same shape as every other error."""
        response = failed(status, code, message)
        head = [*self.server_state.default_headers, *response.raw_headers, (b"connection", b"close")]
        lines = [b"HTTP/1.1 %d -\r\n" % status, *(b"%s: %s\r\n" % each for each in head), b"\r\n"]
        self.transport.write(b"".join([*lines, bytes(response.body)]))
        self.transport.close()


def _peer(end: socket.socket, is_agent: Callable[[int], bool]) -> Peer:
    """The process at the other end. One that has exited counts as unknown: its pid may be reused by now."""
    process = peer_of(end)
    with _pinned(end) as lives:
        return Peer(process, is_agent(process) or not lives())


@contextlib.contextmanager
def _pinned(end: socket.socket) -> Iterator[Callable[[], bool]]:
    """Checks whether the very process that opened the other end still runs, if the kernel can tell (Linux 6.5)."""
    if sys.platform != "linux":
        yield lambda: True
        return
    try:
        pidfd = end.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
    except OSError as error:
        # An older kernel has no such option; a newer one reports that of a process that is gone.
        old = error.errno in (errno.ENOPROTOOPT, errno.EOPNOTSUPP)
        yield lambda: old
        return
    try:
        yield lambda: not select.select([pidfd], [], [], 0)[0]
    finally:
        os.close(pidfd)


def peer_of(end: socket.socket) -> int:
    """The process that opened the other end; -1 if the system can't tell."""
    try:
        if sys.platform == "linux":
            pid, _, _ = _CREDENTIALS.unpack(end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
            return int(pid)
        return end.getsockopt(0, _LOCAL_PEERPID)
    except OSError:
        return -1
