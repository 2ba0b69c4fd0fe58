"""The hub over HTTP against a bare server with the same library that pushes the same bytes, in turns and in one run.

A child's frame until its event reaches a client; a posted answer until the child can read its line; alone, and next to
a hundred busy sessions; fan-out to 500 clients; memory per client.
"""

import asyncio
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import uvloop

import figures

SERVERS = Path(__file__).with_name("http_servers.py")
TEXTS, PACE = 250, 0.004
ASKS = 200
ROUNDS = 5
BUSY = 100
CLIENTS = 500
WITHIN = 0.010


@dataclass
class Server:
    """One of the two. The floor has one child, with its own path to it."""

    process: asyncio.subprocess.Process
    base: str
    token: str
    session: str = ""

    @property
    def is_hub(self) -> bool:
        return self.token != "-"

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])

    async def request(self, method: str, path: str, body: object) -> dict[str, object]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(self._head(method, path, json.dumps(body).encode()))
        contents = await reader.read()
        writer.close()
        head, _, content = contents.partition(b"\r\n\r\n")
        assert head.split()[1].startswith(b"20"), contents
        answered: dict[str, object] = json.loads(content)
        return answered

    async def say(self, words: str) -> None:
        if not self.is_hub:
            await self.request("POST", "/", {"type": "user", "message": {"role": "user", "content": words}})
        elif not self.session:
            started = await self.request("POST", "/api/sessions", {"say": words, "project": tempfile.gettempdir()})
            self.session = str(started["id"])
        else:
            await self.request("POST", f"/api/sessions/{self.session}/say", {"text": words})

    async def answer(self, ask: str) -> None:
        if self.is_hub:
            await self.request("POST", f"/api/asks/{ask}/answer", {"answer": {"allow": True}})
        else:
            await self.request("POST", "/", {"type": "control_response", "response": {"request_id": ask}})

    @asynccontextmanager
    async def events(self, session: str | None = None) -> AsyncIterator[AsyncIterator[bytes]]:
        """Whole events, with as little work of our own as possible."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
        only = f"?session={session}" if session else ""
        writer.write(self._head("GET", f"/api/feed{only}", b""))
        await reader.readuntil(b"\r\n\r\n")
        try:
            yield _events(reader)
        finally:
            writer.transport.abort()

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> int:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def _head(self, method: str, path: str, body: bytes) -> bytes:
        closing = "" if path.startswith("/api/feed") else "connection: close\r\n"
        head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {self.token}\r\n{closing}"
        return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


async def _events(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    rest = b""
    while piece := await reader.read(1 << 20):
        *whole, rest = (rest + piece).split(b"\n\n")
        for each in whole:
            yield each


async def frames(server: Server) -> list[float]:
    """How long each of the child's texts took to reach a client."""
    delays: list[float] = []
    async with server.events() as events:
        await server.say(f"texts {TEXTS} {PACE}")
        async for event in events:
            at = event.find(b'"@')
            if at >= 0:
                delays.append(time.monotonic() - float(event[at + 2 : at + 22].partition(b'"')[0]))
                if len(delays) == TEXTS:
                    return delays
    raise AssertionError("the stream ended")


async def answers(server: Server) -> list[float]:
    """How long until the child could read each answer."""
    delays: list[float] = []
    posted = 0.0
    async with server.events() as events:
        await server.say(f"asks {ASKS}")
        async for event in events:
            if b'"ask.opened"' in event or b'"can_use_tool"' in event:
                response = json.loads(event.partition(b"data: ")[2])
                posted = time.monotonic()
                await server.answer(response["ask"]["id"] if server.is_hub else response["request_id"])
            elif (at := event.find(b'"@')) >= 0:
                delays.append(float(event[at + 2 : at + 22].partition(b'"')[0]) - posted)
                if len(delays) == ASKS:
                    return delays
    raise AssertionError("the stream ended")


async def compare(name: str, *servers: Server) -> None:
    """Round by round in turns, so that other load affects all; reports the median round."""
    for what, measured in (("frame to event", frames), ("answer to child", answers)):
        rounds = [[await measured(server) for server in servers] for _ in range(ROUNDS)]
        for of_hundred, called in ((50, "median"), (99, "p99")):
            calls = [[statistics.quantiles(delays, n=100)[of_hundred - 1] for delays in each] for each in rounds]
            mine, bare, durable = (statistics.median(each) for each in zip(*calls, strict=True))
            verdict = "holds" if mine - bare <= WITHIN else "MISSED"
            if called == "median":
                figures.report_over(f"{what}, {name}, of the floor", bare, mine)
            print(
                f"http: {what}, {name}, {called}: {mine / bare:.1f} of the floor, {(mine - bare) * 1000:+.1f} ms; "
                f"target: within {WITHIN * 1000:g} ms of it: {verdict}; "
                f"of a floor that keeps it on disk: {mine / durable:.1f}, {(mine - durable) * 1000:+.1f} ms"
            )


async def fan_out(hub: Server, floor: Server) -> None:
    """The server's cost of an event per client, and a client's memory."""
    costs, memories = [], []
    for server in (hub, floor):
        async with AsyncExitStack() as stack:
            before = server.memory()
            streams = [await stack.enter_async_context(server.events(server.session)) for _ in range(CLIENTS)]
            await asyncio.sleep(1)
            memories.append((server.memory() - before) / CLIENTS)
            began = server.cpu()
            await server.say("texts 50 0.02")
            await asyncio.gather(*(_count(each, 50) for each in streams))
            costs.append((server.cpu() - began) / 50 / CLIENTS)
    print(f"http: fan-out to {CLIENTS} clients: {costs[0] / costs[1]:.1f} of the floor's processor time for each event")
    figures.report("fan-out, CPU, of the floor", costs[0] / costs[1])
    print(f"http: memory for each client: {memories[0] / 1024:.0f} kB, the floor {memories[1] / 1024:.0f} kB")


async def _count(events: AsyncIterator[bytes], count: int) -> None:
    async for event in events:
        if b'"@' in event:
            count -= 1
            if not count:
                return


@asynccontextmanager
async def started(*words: str) -> AsyncIterator[Server]:
    process = await asyncio.create_subprocess_exec(sys.executable, SERVERS, *words, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    base, token = (await process.stdout.readline()).decode().split()
    try:
        yield Server(process, base, token)
    finally:
        # The floor would wait for its streams; a hub ends them, and its sessions with them.
        process.send_signal(signal.SIGTERM if token != "-" else signal.SIGKILL)
        await process.wait()


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with started("hub", folder) as hub, started("floor") as floor, started("floor", folder) as durable:
            await compare("alone", hub, floor, durable)
            await fan_out(hub, floor)
            busy = [hub.request("POST", "/api/sessions", {"say": "busy", "project": folder}) for _ in range(BUSY)]
            for each in busy:
                await each
            await compare(f"with {BUSY} busy sessions", hub, floor, durable)


if __name__ == "__main__":
    uvloop.run(main())
