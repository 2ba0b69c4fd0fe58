"""A server for one test that answers each request with prepared bytes, however wrong they are."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from socket import SHUT_RDWR

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CLOSE = b""
"""In place of a response: the connection is closed."""

Converse = Callable[["OddConnection"], Awaitable[None]]


class OddConnection:
    """One connection from the server's side. `number` counts from 1."""

    def __init__(self, server: "OddServer", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.number = server.connections
        self._server = server
        self._reader = reader
        self._writer = writer

    async def head(self) -> bool:
        """Reads the head of a request; whether there was one."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return False
        self._server.heads.append(head.decode())
        return True

    async def request(self) -> bool:
        """Reads a request with its body; whether there was one."""
        if not await self.head():
            return False
        _, found, length = self._server.heads[-1].lower().partition("content-length:")
        if found:
            await self._reader.readexactly(int(length.split()[0]))
        return True

    async def send(self, response: bytes) -> None:
        self._writer.write(response)
        await self._writer.drain()

    async def until_closed(self) -> None:
        """Until the client has closed its end."""
        try:
            while await self._reader.read(65536):
                pass
        except ConnectionError:
            pass
        self._server.closed.set()


class OddServer:
    """Counts its connections, and keeps the head of each request."""

    def __init__(self) -> None:
        self.where: Path | str = ""
        self.connections = 0
        self.last: asyncio.StreamWriter
        self.heads: list[str] = []
        self.closed = asyncio.Event()
        """Set when `until_closed` is over."""

    def shut(self) -> None:
        """Closes the last connection at once."""
        self.last.get_extra_info("socket").shutdown(SHUT_RDWR)

    @property
    def targets(self) -> list[str]:
        return [" ".join(head.split()[:2]) for head in self.heads]


def responding(*responses: bytes) -> Converse:
    """One response to each request of a connection; with `CLOSE`, and after the last one, it is closed."""

    async def converse(connection: OddConnection) -> None:
        for response in responses:
            if not await connection.request() or response is CLOSE:
                return
            await connection.send(response)

    return converse


def in_turn(*conversations: Converse) -> Converse:
    """The first connection meets the first, and so on; the last one meets all others."""

    async def converse(connection: OddConnection) -> None:
        await conversations[min(connection.number, len(conversations)) - 1](connection)

    return converse


@asynccontextmanager
async def odd_server(
    converse: Converse, *, socket: Path | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[OddServer]:
    """Listens on the Unix socket, or else on a port of its own."""
    server = OddServer()
    tasks: set[asyncio.Task[None]] = set()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())  # type: ignore[arg-type]
        server.connections += 1
        server.last = writer
        try:
            await converse(OddConnection(server, reader, writer))
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort() if tls else writer.close()

    if socket is not None:
        listening = await asyncio.start_unix_server(meet, socket)
        server.where = socket
    else:
        listening = await asyncio.start_server(meet, "127.0.0.1", 0, ssl=tls)
        port = listening.sockets[0].getsockname()[1]
        server.where = f"https://localhost:{port}" if tls else f"http://127.0.0.1:{port}"
    try:
        yield server
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await listening.wait_closed()
