"""A hub with a thousand sessions, ten of them streaming, against an empty one, in turns and in one run.

A child's frame until its event reaches a client, and a posted answer until the child can read its line. Sessions that
do nothing are `sleep`s that the hub adopts; the others are stand-ins for the CLI.
"""

import asyncio
import statistics
import subprocess
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import uvloop

import bench_idle
import bench_many
import figures
from asking import AskClient, Opened
from bench_http import ASKS, Server, frames, started

SESSIONS, STREAMING = 1000, 10
ROUNDS = 5
NEW = 20
MOST = 2.0
"""Times an empty hub."""


async def settled(crowd: Server) -> None:
    """Waits until it has adopted them all, and rests."""
    used = crowd.cpu()
    while True:
        await asyncio.sleep(1)
        if crowd.cpu() - used < 0.1:
            return
        used = crowd.cpu()


class CrowdClient(AskClient):
    """Also hears when the child could read an answer: that is then `at`, and there is no name."""

    def read(self, at: float, event: bytes) -> Opened | None:
        place = event.find(b'"@')
        if place >= 0:
            return Opened(float(event[place + 2 : place + 22].partition(b'"')[0]), "", "")
        return super().read(at, event)


async def answers_of_a_page(server: Server) -> list[float]:
    """As `answers`, but on a connection that stays open."""
    delays: list[float] = []
    posted = 0.0
    async with CrowdClient("", server.port, server.token) as client:
        await server.say(f"asks {ASKS}")
        while len(delays) < ASKS:
            opened = await client.next()
            if opened.name:
                posted = time.monotonic()
                await client.answer(opened)
                await client.settle()
            else:
                delays.append(opened.at - posted)
    return delays


async def new_connections(crowd: Server, empty: Server) -> None:
    """Each is checked first: does one of the thousand Claudes hold it?"""
    mine, other = [statistics.median([await connecting(server) for _ in range(NEW)]) for server in (crowd, empty)]
    print(
        f"crowd: the first request of a connection, median: {mine / other:.2f} of an empty hub "
        f"({mine * 1000:.1f} and {other * 1000:.1f} ms)"
    )


async def connecting(server: Server) -> float:
    began = time.monotonic()
    await server.request("GET", "/api/asks?state=open", None)
    return time.monotonic() - began


async def compare(crowd: Server, empty: Server) -> None:
    for what, measured in (("frame to event", frames), ("answer to child", answers_of_a_page)):
        rounds = [[await measured(server) for server in (crowd, empty)] for _ in range(ROUNDS)]
        for of_hundred, called in ((50, "median"), (99, "p99")):
            calls = [[statistics.quantiles(delays, n=100)[of_hundred - 1] for delays in each] for each in rounds]
            mine, other = (statistics.median(each) for each in zip(*calls, strict=True))
            verdict = "holds" if mine <= MOST * other else "MISSED"
            print(
                f"crowd: {what}, {called}: {mine / other:.2f} of an empty hub ({mine * 1000:.1f} and "
                f"{other * 1000:.1f} ms); target: at most {MOST:g}: {verdict}"
            )
            if called == "median":
                figures.report(f"{what}, of an empty hub", mine / other)


async def measure(crowded: Path, alone: Path) -> None:
    await bench_many.store(crowded, SESSIONS - STREAMING - 1, "idle")
    async with AsyncExitStack() as stack:
        crowd, empty = [await stack.enter_async_context(started("hub", str(each))) for each in (crowded, alone)]
        # Killed, not stopped: ending a thousand sessions one by one takes long, and isn't measured.
        for each in (crowd, empty):
            stack.callback(each.process.kill)
        await settled(crowd)
        for _ in range(STREAMING):
            await crowd.request("POST", "/api/sessions", {"say": "busy", "project": str(crowded)})
        await compare(crowd, empty)
        await new_connections(crowd, empty)


def main() -> None:
    bench_many.allow_many_files()
    children: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory() as name:
        crowded, alone = Path(name, "crowded"), Path(name, "alone")
        for each in (crowded, alone):
            (each / "state").mkdir(mode=0o700, parents=True)
        try:
            quiet = range(SESSIONS - STREAMING - 1)
            children += [bench_many.prepare(crowded, number, asks=False)[0] for number in quiet]
            uvloop.run(measure(crowded, alone))
        finally:
            for each in (crowded, alone):
                bench_idle.end(each)
            for child in children:
                child.wait()


if __name__ == "__main__":
    main()
