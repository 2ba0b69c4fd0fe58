"""Parses server-sent events as a browser would: by the standard, not by what our own code sends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import msgspec


@dataclass(frozen=True, slots=True)
class ApiEvent:
    """`id` is None if the event has none of its own."""

    kind: str
    id: str | None
    data: Any

    @property
    def cursor(self) -> int:
        assert self.id is not None
        return int(self.id)


async def events(response: httpx2.Response) -> AsyncIterator[ApiEvent]:
    """Complete ones only: what a broken connection cut off isn't dispatched."""
    kind: str = "message"
    own_id: str | None = None
    data: list[str] = []
    buffer = b""
    async for piece in response.aiter_raw():
        buffer += piece
        while b"\n" in buffer:
            raw, _, buffer = buffer.partition(b"\n")
            line = raw.decode()
            if not line:
                if data:
                    yield ApiEvent(kind, own_id, msgspec.json.decode("\n".join(data)))
                kind, own_id, data = "message", None, []
                continue
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                kind = value
            elif name == "id":
                own_id = value
            elif name == "data":
                data.append(value)


@asynccontextmanager
async def feed(
    client: httpx2.AsyncClient, last: str | None = None, **query: Any
) -> AsyncIterator[AsyncIterator[ApiEvent]]:
    """An open stream, past the event that says where it starts."""
    headers = {"last-event-id": last} if last is not None else {}
    async with client.stream("GET", "/api/feed", params=query, headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"].startswith("text/event-stream")
        yield events(response)


async def items(stream: AsyncIterator[ApiEvent], count: int) -> list[int]:
    """The cursors of the next items."""
    found: list[int] = []
    while len(found) < count:
        event = await anext(stream)
        if event.kind == "message":
            assert event.data["cursor"] == event.cursor
            found.append(event.cursor)
    return found
