"""A relay between a browser and a hub whose connections can go dead silently, as after a laptop sleeps."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class TcpRelay:
    """Forwards bytes in both directions. `base` is where a browser finds the hub."""

    def __init__(self, hub: str) -> None:
        self.base = ""
        self._hub = urlsplit(hub)
        self._streams: set[asyncio.Event] = set()

    def freeze_streams(self) -> None:
        """Open streams get no more bytes, and nobody learns that they are dead."""
        for each in self._streams:
            each.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a browser, until either end closes it."""
        dead = asyncio.Event()
        away, back = await asyncio.open_connection(self._hub.hostname, self._hub.port)
        passing = [asyncio.create_task(self._pass(*way, dead)) for way in ((reader, back), (away, writer))]
        await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
        for each in passing:
            each.cancel()
        await asyncio.gather(*passing, return_exceptions=True)
        writer.close()
        back.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, dead: asyncio.Event) -> None:
        with suppress(ConnectionError):
            while text := await reader.read(65_536):
                if b"GET /api/feed" in text:
                    self._streams.add(dead)
                if dead.is_set():
                    await asyncio.Event().wait()
                writer.write(text)
                await writer.drain()


@asynccontextmanager
async def relay(hub: str) -> AsyncIterator[TcpRelay]:
    """Listening while this is entered."""
    made = TcpRelay(hub)
    server = await asyncio.start_server(made.carry, "127.0.0.1", 0)
    made.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
