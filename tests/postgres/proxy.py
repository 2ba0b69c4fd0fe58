"""A TCP proxy between stores and their database, for tests: it cuts and freezes connections at chosen moments."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

SIZE = 65536


class Proxy:
    """Entered with `async with`; connect to its `port`. Every switch applies to all connections through it."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._flow = asyncio.Event()
        self._flow.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._marker: bytes | None = None
        self._forward = False
        self._freezing = False
        self.refusing = False
        self.cuts = 0
        self.replaced: tuple[bytes, bytes] | None = None
        """What the server says, and what the client hears instead."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Ends every connection at once."""
        for writer in tuple(self._writers):
            writer.transport.abort()

    def freeze(self) -> None:
        """Nothing passes, in either direction, and nobody is told."""
        self._flow.clear()

    def thaw(self) -> None:
        self._flow.set()

    def cut_at(self, marker: bytes, *, forward: bool) -> None:
        """Cuts the connection whose client sends this, once. If forwarded, the server does it, and nobody hears."""
        self._marker, self._forward = marker, forward

    def freeze_at(self, marker: bytes) -> None:
        """Freezes when a client sends this, before it is passed on; counted as a cut."""
        self._marker, self._freezing = marker, True

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if self.refusing:
            writer.transport.abort()
            return
        self._writers.add(writer)
        try:
            await self._flow.wait()
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            self._writers.discard(writer)
            return
        self._writers.add(server_writer)
        try:
            await asyncio.gather(
                self._pump(reader, server_writer, lambda chunk: self._judge(chunk, writer, server_writer)),
                self._pump(server_reader, writer, None),
            )
        except OSError:
            pass
        finally:
            for each in (writer, server_writer):
                self._writers.discard(each)
                each.transport.abort()

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        judge: Callable[[bytes], bool] | None,
    ) -> None:
        while chunk := await reader.read(SIZE):
            await self._flow.wait()
            if self.replaced is not None:
                chunk = chunk.replace(*self.replaced)
            if judge is not None and not judge(chunk):
                return
            await self._flow.wait()
            writer.write(chunk)
            await writer.drain()
        writer.transport.abort()

    def _judge(
        self,
        chunk: bytes,
        client: asyncio.StreamWriter,
        server: asyncio.StreamWriter,
    ) -> bool:
        """Whether the chunk is passed on."""
        if self._marker is None or self._marker not in chunk:
            return True
        self._marker = None
        self.cuts += 1
        if self._freezing:
            self._freezing = False
            self.freeze()
            return True
        client.transport.abort()
        if self._forward:
            server.write(chunk)
            server.write_eof()
        else:
            server.transport.abort()
        return False
