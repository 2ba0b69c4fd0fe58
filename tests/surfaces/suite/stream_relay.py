"""A relay between a surface and a hub, on TCP or on Unix sockets: it can hold back the feed, freeze it, or be cut."""

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
        self._feeds: dict[asyncio.StreamWriter, asyncio.Event] = {}
        """What each connection that carries the feed waits for, by its end at the hub."""
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

    def freeze(self) -> None:
        """Open feeds get no more bytes, and nobody learns that they are dead, as after a laptop sleeps."""
        self._flowing.clear()
        self._flowing = asyncio.Event()
        self._flowing.set()

    def cut(self) -> None:
        """Ends every connection; there are no others until it is mended."""
        self._is_cut = True
        for each in self._connections:
            each.cancel()

    def mend(self) -> None:
        self._is_cut = False

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a surface, until either end closes it."""
        task = asyncio.create_task(self._carry(reader, writer))
        self._connections.add(task)
        # A task that is canceled before its first step never gets to close anything itself.
        task.add_done_callback(lambda _: writer.close())
        task.add_done_callback(self._connections.discard)

    async def end(self) -> None:
        self.cut()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            return
        with suppress(ConnectionError, FileNotFoundError):
            away, back = await self._reach()
            passing = [
                asyncio.create_task(self._send(reader, back)),
                asyncio.create_task(self._return(away, writer, back)),
            ]
            try:
                await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
            finally:
                back.close()
                self._feeds.pop(back, None)
                for each in passing:
                    each.cancel()
                await asyncio.gather(*passing, return_exceptions=True)

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._hub, Path):
            return await asyncio.open_unix_connection(self._hub)
        return await asyncio.open_connection("127.0.0.1", self._hub)

    async def _send(self, reader: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while text := await reader.read(65_536):
                if b"GET /api/feed" in text:
                    self._feeds[back] = self._flowing
                back.write(text)
                await back.drain()

    async def _return(
        self, away: asyncio.StreamReader, writer: asyncio.StreamWriter, back: asyncio.StreamWriter
    ) -> None:
        with suppress(ConnectionError):
            while text := await away.read(65_536):
                if back in self._feeds:
                    await self._feeds[back].wait()
                writer.write(text)
                await writer.drain()


@asynccontextmanager
async def stream_relay(hub: int | Path, listening: Path | None = None) -> AsyncIterator[StreamRelay]:
    """To the hub on this port or Unix socket; on a Unix socket of its own, or on any free port."""
    made = StreamRelay(hub)
    if listening is not None:
        server: asyncio.Server = await asyncio.start_unix_server(made.accept, listening)
    else:
        server = await asyncio.start_server(made.accept, "127.0.0.1", 0)
        made.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        await made.end()
