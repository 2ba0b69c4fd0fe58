"""A receiver on loopback: it checks signatures as the specification says, and fails in every way it is told to."""

import asyncio
import hmac
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

DEADLINE = 60.0
Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class ReceivedEvent:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = msgspec.json.decode(self.raw)
        return event

    @property
    def type(self) -> str:
        return str(self.event["type"])

    @property
    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = self.event["data"]
        return data

    @property
    def about(self) -> tuple[str, str]:
        """Its type, and the ask or session that it is about."""
        return self.type, (self.data.get("ask") or self.data.get("session") or {}).get("id", "")

    def is_signed_with(self, secret: str) -> bool:
        signed = f"{self.id}.{self.headers['webhook-timestamp']}.".encode() + self.raw
        digest = hmac.new(b64decode(secret.removeprefix("whsec_")), signed, "sha256").digest()
        return f"v1,{b64encode(digest).decode()}" in self.headers["webhook-signature"].split()


@dataclass
class Receiver:
    """`replies` are used up first, each for one request; then everything is accepted."""

    base: str
    received: list[ReceivedEvent] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    always: Reply | None = None
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    refusing_paths: dict[str, Reply] = field(default_factory=dict)

    def url(self, path: str = "/hook") -> str:
        return self.base + path

    async def until(self, wanted: Callable[[list[ReceivedEvent]], bool]) -> None:
        async with asyncio.timeout(DEADLINE), self.changed:
            await self.changed.wait_for(lambda: wanted(self.received))

    async def until_count(self, count: int) -> None:
        await self.until(lambda received: len(received) >= count)

    async def until_about(self, *about: tuple[str, str]) -> None:
        await self.until(lambda received: {*about} <= {each.about for each in received})

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        received = ReceivedEvent(head[0].split()[1], headers, raw)
        async with self.changed:
            self.received.append(received)
            self.changed.notify_all()
        reply = self.refusing_paths.get(received.path) or (self.replies.pop(0) if self.replies else self.always)
        await (reply or status(204))(writer)


def status(code: int, body: bytes = b"", **headers: str) -> Reply:
    """A plain response."""

    async def reply(writer: asyncio.StreamWriter) -> None:
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {code} -\r\n{lines}content-length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()

    return reply


async def close(writer: asyncio.StreamWriter) -> None:
    """No response at all."""
    writer.close()


async def garbage(writer: asyncio.StreamWriter) -> None:
    writer.write(b"\x00\xffno http\r\n\r\n")
    await writer.drain()


async def silence(_: asyncio.StreamWriter) -> None:
    """Never responds."""
    await asyncio.Event().wait()


async def slow_drip(writer: asyncio.StreamWriter) -> None:
    """A header that never ends, a byte at a time."""
    writer.write(b"HTTP/1.1 200 -\r\nx: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def huge(writer: asyncio.StreamWriter) -> None:
    """An error whose body doesn't end."""
    writer.write(b"HTTP/1.1 500 -\r\ncontent-length: 100000000000\r\n\r\n")
    while True:
        writer.write(b"y" * 65536)
        await writer.drain()


async def dripping_body(writer: asyncio.StreamWriter) -> None:
    """A status, and then a body that never ends."""
    writer.write(b"HTTP/1.1 503 -\r\ncontent-length: 1000\r\n\r\nbusy")
    await writer.drain()
    await asyncio.Event().wait()


async def endless_headers(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 -\r\n")
    while True:
        writer.write(b"x: " + b"y" * 1000 + b"\r\n")
        await writer.drain()


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    made = Receiver("")
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await made.serve(reader, writer)
        finally:
            tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    made.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
