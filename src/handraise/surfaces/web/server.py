"""Listens: on TCP for browsers and scripts, on a Unix socket for this machine's owner. Knows the other end."""

import asyncio
import contextlib
import os
import socket
import ssl
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from handraise.surfaces.web import guards
from handraise.surfaces.web.door import failed

LARGEST_HEAD = 64 * 1024
"""How many bytes a request may have before its body."""
SLOW_HEAD = 30.0
"""How long a client may take for them."""
_SOCKET_PATH = 103
_CREDENTIALS = struct.Struct("3i")
_LOCAL_PEERPID = 2


class CannotListen(Exception):
    """There is no listening there. The text says why."""


class Listening:
    """One server on one socket. `serve` returns after `stop`, quickly."""

    def __init__(self, app: ASGIApp, listener: socket.socket, *, tls: ssl.SSLContext | None = None) -> None:
        self._listener = listener
        config = uvicorn.Config(
            app,
            http=_Connection,
            ws="none",
            lifespan="off",
            loop="none",
            access_log=False,
            log_config=None,
            # By the server and not by the application, so that they are also on what never reaches it.
            headers=list(guards.HEADERS.items()),
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
        self._server.should_exit = True


def listen_on_socket(path: Path) -> socket.socket:
    """A Unix socket that only we can open; an old one that nobody listens on is replaced."""
    if len(os.fsencode(path)) > _SOCKET_PATH:
        raise CannotListen(f"The path {path} is too long for a socket; choose a shorter state folder (--state).")
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
    """A TCP socket; raises CannotListen, where the port is taken for one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=512)
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "no such address"
        raise CannotListen(f"{host}:{port} cannot be used: {why}. Choose another with --host and --port.") from error
    listener.setblocking(False)
    return listener


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to the program, not to one of its sockets."""
        yield


class _Connection(HttpToolsProtocol):
    """Bounds what a client may send ahead, and adds to each request who is at the other end of a Unix socket."""

    _peer: int | None = None
    _head = 0
    _waits: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        end = transport.get_extra_info("socket")
        if end.family == socket.AF_UNIX:
            self._peer = peer_of(end)
        else:
            # Head and body are two writes: without this the second waits for the client, 40 ms on most.
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_there()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._waits is not None:
            self._head += len(data)
        if self._head > LARGEST_HEAD and not self.transport.is_closing():
            self._refuse(431, "too_large", f"The address and headers are larger than {LARGEST_HEAD} bytes.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._head_is_there()
        extensions: dict[str, Any] = {"handraise.cut_off": self._cut_off}
        if self._peer is not None:
            extensions["handraise.peer"] = self._peer
        self.scope["extensions"] = extensions
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "bad_request", msg)

    def _unsupported_upgrade_warning(self) -> None:
        """Asking for a WebSocket is no event; the request is answered as any other."""

    def _cut_off(self) -> None:
        """At once: what was sent and not read is not kept, by us or by the system."""
        end = self.transport.get_extra_info("socket")
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _await_head(self) -> None:
        self._head_is_there()
        self._waits = self.loop.call_later(SLOW_HEAD, self._cut_off)

    def _head_is_there(self) -> None:
        self._head = 0
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Before there is a request: told as any other refusal."""
        response = failed(status, code, message)
        head = [*self.server_state.default_headers, *response.raw_headers, (b"connection", b"close")]
        lines = [b"HTTP/1.1 %d -\r\n" % status, *(b"%s: %s\r\n" % each for each in head), b"\r\n"]
        self.transport.write(b"".join([*lines, bytes(response.body)]))
        self.transport.close()


def peer_of(end: socket.socket) -> int:
    """The process that opened the other end; -1 where the system does not tell, which is nobody's."""
    try:
        if sys.platform == "linux":
            pid, _, _ = _CREDENTIALS.unpack(end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
            return int(pid)
        return end.getsockopt(0, _LOCAL_PEERPID)
    except OSError:
        return -1
