"""A relay between a surface and a hub, on TCP or on Unix sockets: it can hold back the feed, or be cut."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path


class StreamRelay:
    """Forwards bytes in both directions. `base` is where a browser finds the hub."""

    def __init__(self, hub: int | Path) -> None:
        self.base = ""
        self._hub = hub
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._is_cut = False
        self._connections: set[asyncio.Task[None]] = set()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Meanwhile nothing of the feed arrives. Everything else does, and the feed afterwards."""
        self._flowing.clear()
        try:
            yield
        finally:
            self._flowing.set()

    def cut(self) -> None:
        """Ends every connection; there are no others until it is mended."""
        self._is_cut = True
        for each in self._connections:
            each.cancel()

    def mend(self) -> None:
        self._is_cut = False

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a surface, until either end closes it."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if not self._is_cut:
                with suppress(ConnectionError, FileNotFoundError):
                    await self._join(reader, writer)
        except asyncio.CancelledError:
            pass  # it was cut
        finally:
            self._connections.discard(task)
            writer.close()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        away, back = await self._reach()
        follows = asyncio.Event()
        passing = [
            asyncio.create_task(self._send(reader, back, follows)),
            asyncio.create_task(self._return(away, writer, follows)),
        ]
        try:
            await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in passing:
                each.cancel()
            await asyncio.gather(*passing, return_exceptions=True)
            back.close()

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._hub, Path):
            return await asyncio.open_unix_connection(self._hub)
        return await asyncio.open_connection("127.0.0.1", self._hub)

    async def _send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, follows: asyncio.Event) -> None:
        with suppress(ConnectionError):
            while text := await reader.read(65_536):
                if b"GET /api/feed" in text:
                    follows.set()
                writer.write(text)
                await writer.drain()

    async def _return(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, follows: asyncio.Event) -> None:
        with suppress(ConnectionError):
            while text := await reader.read(65_536):
                if follows.is_set():
                    await self._flowing.wait()
                writer.write(text)
                await writer.drain()


@asynccontextmanager
async def stream_relay(hub: int | Path, listening: Path | None = None) -> AsyncIterator[StreamRelay]:
    """To the hub on this port or Unix socket; on a Unix socket of its own, or on any free port."""
    made = StreamRelay(hub)
    if listening is not None:
        server: asyncio.Server = await asyncio.start_unix_server(made.carry, listening)
    else:
        server = await asyncio.start_server(made.carry, "127.0.0.1", 0)
        made.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        made.cut()
