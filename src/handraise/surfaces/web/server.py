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
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_CREDENTIALS = struct.Struct("3i")
_LOCAL_PEERPID = 2


class Listening:
    """One server on one socket. `serve` returns after `stop`, quickly."""

    def __init__(self, app: ASGIApp, listener: socket.socket, *, tls: ssl.SSLContext | None = None) -> None:
        self._listener = listener
        config = uvicorn.Config(
            app,
            http=_WithPeer,
            ws="none",
            lifespan="off",
            loop="none",
            access_log=False,
            log_config=None,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
            timeout_keep_alive=75,
            h11_max_incomplete_event_size=64 * 1024,
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
    """A TCP socket; raises OSError where the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=512)
    listener.setblocking(False)
    return listener


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to the program, not to one of its sockets."""
        yield


class _WithPeer(HttpToolsProtocol):
    """Adds the process at the other end of a Unix socket to each request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        end = transport.get_extra_info("socket")
        if end is not None and end.family == socket.AF_UNIX:
            self.app = _Neighbourly(self.app, peer_of(end))


class _Neighbourly:
    def __init__(self, app: Any, peer: int) -> None:  # noqa: ANN401 (uvicorn's own wrapper)
        self._app = app
        self._peer = peer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("extensions", {})["handraise.peer"] = self._peer
        await self._app(scope, receive, send)


def peer_of(end: socket.socket) -> int:
    """The process that opened the other end; -1 where the system does not tell, which is nobody's."""
    try:
        if sys.platform == "linux":
            pid, _, _ = _CREDENTIALS.unpack(end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
            return int(pid)
        return end.getsockopt(0, _LOCAL_PEERPID)
    except OSError:
        return -1
