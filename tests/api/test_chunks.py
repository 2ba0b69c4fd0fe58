"""Chunks that are written past ASGI: whole, in order, to clients that read slowly, leave, or speak HTTP/1.0."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from api.certificates import make_certificate
from api.events import feed, items
from api.served import Served, served
from handraise.api.chunks import chunk_of
from handraise.api.stream import Streams


def test_a_chunk_has_its_length_in_front() -> None:
    assert chunk_of(b"x" * 26) == b"1a\r\n" + b"x" * 26 + b"\r\n"


async def test_every_client_gets_the_same_chunk_for_a_batch(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, _raw(hub) as one, _raw(hub) as other:
        await _live(hub, 2)
        await hub.publish("one", "two", "three")
        chunks = [await _chunk(each) for each in (one, other)]
        assert chunks[0] == chunks[1]
        assert chunks[0].count(b"\nid: ") + chunks[0].startswith(b"id: ") == 3


async def test_a_full_buffer_in_the_middle_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """The first items are written directly, the next ones wait for the client, and the last are direct again."""
    async with served(tmp_path, Streams(slow=60)) as hub, _raw(hub, read=False) as slow:
        await _live(hub, 1)
        for _ in range(30):
            await hub.publish("x" * 300_000)
        await hub.publish("a", "b")
        found = await _cursors(slow, until=32)
        assert found == list(range(1, 33))
        await _live(hub, 1)
        await hub.publish("direct again")
        assert await _cursors(slow, until=33) == [33]


async def test_a_client_that_leaves_while_it_is_written_to_disturbs_nobody(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client, feed(client, after=0) as stream:
        for round_ in range(10):
            async with _raw(hub) as leaving:
                await _live(hub, 2)
                leaving[1].transport.abort()
                await hub.publish("x" * 200_000, "y")
            assert await items(stream, 2) == [2 * round_ + 1, 2 * round_ + 2]
            await _until(hub, 1)


async def test_an_old_client_is_served_and_its_connection_ends_with_the_stream(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, _raw(hub, version="1.0") as (reader, _):
        await _live(hub, 1)
        await hub.publish("one")
        assert b'"one"' in await reader.readuntil(b'"one"')
        hub.up.app.streams.close()
        rest = await reader.read()
        assert rest.endswith(b"0\r\n\r\n")


async def test_a_request_that_comes_before_its_turn_waits_with_its_body(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        token = await hub.token("admin")
        body = b'{"path": "nowhere"}'
        head = f"host: localhost\r\nauthorization: Bearer {token}\r\n"
        reader, writer = await _connect(hub)
        writer.write(
            f"GET /api/feed HTTP/1.1\r\n{head}\r\n".encode()
            + f"POST /api/projects HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        await reader.readuntil(b"event: place")
        await _live(hub, 1)
        await hub.publish("one")
        await reader.readuntil(b'"one"')
        hub.up.app.streams.close()
        await reader.readuntil(b"0\r\n\r\n")
        # Its body arrived: what is wrong with it is in there.
        assert b"nowhere" in await reader.readuntil(b"}}")
        writer.close()


async def test_streams_over_tls_are_written_the_same_way(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert", tmp_path / "key"
    make_certificate(cert, key)
    async with served(tmp_path, tls_cert=cert, tls_key=key) as hub:
        token = await hub.token("viewer")
        reader, writer = await asyncio.open_connection(
            "127.0.0.1",
            int(hub.up.base.rpartition(":")[2]),
            ssl=ssl.create_default_context(cafile=cert),
            server_hostname="localhost",
            limit=1 << 24,
        )
        writer.write(_request(token, "1.1"))
        await reader.readuntil(b"event: place")
        await reader.readuntil(b"\n\n\r\n")
        await _live(hub, 1)
        await hub.publish("x" * 500_000, "y")
        assert await _cursors((reader, writer), until=2) == [1, 2]
        writer.close()


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _connect(hub: Served) -> Ends:
    return await asyncio.open_connection("127.0.0.1", int(hub.up.base.rpartition(":")[2]), limit=1 << 24)


@asynccontextmanager
async def _raw(hub: Served, *, version: str = "1.1", read: bool = True) -> AsyncIterator[Ends]:
    """A client of the whole feed, past the event that says where it starts."""
    reader, writer = await _connect(hub)
    writer.write(_request(await hub.token("viewer"), version))
    await reader.readuntil(b"event: place")
    await reader.readuntil(b"\n\n\r\n")
    if not read:
        _both_ways(writer).pause_reading()
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


def _both_ways(writer: asyncio.StreamWriter) -> asyncio.Transport:
    assert isinstance(writer.transport, asyncio.Transport)
    return writer.transport


def _request(token: str, version: str) -> bytes:
    return (
        f"GET /api/feed?after=0 HTTP/{version}\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n"
    ).encode()


async def _chunk(ends: Ends) -> bytes:
    size = int(await ends[0].readuntil(b"\r\n"), 16)
    chunk = await ends[0].readexactly(size)
    assert await ends[0].readexactly(2) == b"\r\n"
    return chunk


async def _cursors(ends: Ends, until: int) -> list[int]:
    """Of the items up to this one, from whole chunks."""
    _both_ways(ends[1]).resume_reading()
    found: list[int] = []
    while not found or found[-1] != until:
        events = (await _chunk(ends)).split(b"\n\n")
        found += [int(event[4:].partition(b"\n")[0]) for event in events if event.startswith(b"id: ")]
    return found


async def _live(hub: Served, count: int) -> None:
    """Until this many streams have read their history."""
    async with asyncio.timeout(60):
        while hub.up.app.streams.idle < count:
            await asyncio.sleep(0.01)


async def _until(hub: Served, count: int) -> None:
    async with asyncio.timeout(60):
        while hub.up.app.streams.open != count:
            await asyncio.sleep(0.01)
