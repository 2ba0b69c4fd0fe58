"""The relay leaves no connection open, whenever it ends: one that is left is reported in whatever test runs then."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from surfaces.suite.stream_relay import StreamRelay, stream_relay

REQUEST = b"GET /api/feed HTTP/1.1\r\n\r\n"


@asynccontextmanager
async def hub(there: Path) -> AsyncIterator["asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]]"]:
    """Its connections."""
    met: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    server = await asyncio.start_unix_server(lambda *ends: met.put_nowait(ends), there)
    async with server:
        yield met


async def nothing(_: StreamRelay) -> None: ...


async def freeze(relay: StreamRelay) -> None:
    relay.freeze()


async def cut(relay: StreamRelay) -> None:
    relay.cut()


async def cut_again(relay: StreamRelay) -> None:
    relay.cut()
    await asyncio.sleep(0)  # it is about to end
    relay.cut()


@pytest.mark.parametrize("before", [nothing, freeze, cut, cut_again])
async def test_both_ends_are_closed_at_the_end(
    before: Callable[[StreamRelay], Coroutine[Any, Any, None]], tmp_path: Path
) -> None:
    async with hub(tmp_path / "hub") as met:
        async with stream_relay(tmp_path / "hub", tmp_path / "near") as relay:
            reader, writer = await asyncio.open_unix_connection(tmp_path / "near")
            writer.write(REQUEST)
            there, back = await met.get()
            assert await there.readline() == REQUEST.splitlines(keepends=True)[0]
            await before(relay)
        assert await there.read() == b"\r\n"
        assert await reader.read() == b""
        for each in (writer, back):
            each.close()


async def test_one_that_was_only_just_accepted_is_closed_too() -> None:
    ours, theirs = socket.socketpair()
    relay = StreamRelay(Path("/nowhere"))
    reader, writer = await asyncio.open_unix_connection(sock=ours)
    with theirs:
        relay.accept(reader, writer)
        await relay.end()
        assert writer.is_closing()
        await writer.wait_closed()


async def test_a_frozen_feed_gets_nothing_more_and_the_next_one_does(tmp_path: Path) -> None:
    async with hub(tmp_path / "hub") as met:
        async with stream_relay(tmp_path / "hub", tmp_path / "near") as relay:
            first, second = [await asyncio.open_unix_connection(tmp_path / "near") for _ in range(2)]
            first[1].write(REQUEST)
            there, back = await met.get()
            await there.readuntil(b"\r\n\r\n")
            relay.freeze()
            back.write(b"never")
            second[1].write(REQUEST)
            _, also = await met.get()
            also.write(b"at once")
            assert await second[0].readexactly(7) == b"at once"
        assert await first[0].read() == b""
        for each in (first[1], second[1], back, also):
            each.close()
