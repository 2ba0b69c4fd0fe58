"""How much group commit gains, and whether the next event costs more with a long history. Prints ratios."""

import asyncio
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import figures
from handraise.model.items import Text
from handraise.model.sessions import Checkpoint
from handraise.store.changes import Advance, Change, PublishItems
from handraise.store.sqlite.store import SqliteStore

PRODUCERS = 64
EVENTS = 20_000
SESSIONS = 50
AT = datetime(2026, 3, 1, tzinfo=UTC)


def an_event(number: int) -> PublishItems:
    return PublishItems(f"s_{number % SESSIONS}", AT, Text("some words that Claude said " * 4, f"m_{number}"))


def a_frame(number: int) -> Sequence[Change]:
    """What the session's runner commits for a frame."""
    return [an_event(number), Advance(Checkpoint(f"s_{number % SESSIONS}", 1, number, b"x" * 200))]


async def produce(store: SqliteStore, numbers: Sequence[int]) -> None:
    for number in numbers:
        await store.apply([an_event(number)])


async def events_a_second(store: SqliteStore, producers: int, events: int) -> float:
    began = perf_counter()
    await asyncio.gather(*(produce(store, range(first, events, producers)) for first in range(producers)))
    return events / (perf_counter() - began)


async def bench_group_commit(folder: Path) -> None:
    async with SqliteStore(folder / "alone.db") as store:
        alone = await events_a_second(store, 1, EVENTS // 20)
    async with SqliteStore(folder / "together.db") as store:
        together = await events_a_second(store, PRODUCERS, EVENTS)
    figures.report("group commit, times one commit an event", together / alone, "higher")
    print(f"group commit, {PRODUCERS} producers against one commit an event: {together / alone:.1f} x")


async def grow(store: SqliteStore, size: int) -> None:
    _, newest = await store.cursors()
    for first in range(newest, size, 5_000):
        await store.apply([an_event(number) for number in range(first, min(first + 5_000, size))])


async def costs_of_next(store: SqliteStore, first: int) -> list[float]:
    costs = []
    for number in range(first, first + 200):
        began = perf_counter()
        await store.apply(a_frame(number))
        costs.append(perf_counter() - began)
    return costs


async def bench_history(folder: Path) -> None:
    """Both files are measured in turns, so that a disk that changes speed affects both."""
    async with SqliteStore(folder / "short.db") as short, SqliteStore(folder / "long.db") as long:
        await grow(short, 1_000)
        await grow(long, 1_000_000)
        costs: tuple[list[float], list[float]] = ([], [])
        for turn in range(8):
            costs[0].extend(await costs_of_next(short, 1_000_000 + turn * 200))
            costs[1].extend(await costs_of_next(long, 1_000_000 + turn * 200))
    ratio = statistics.median(costs[1]) / statistics.median(costs[0])
    figures.report("the next event after a million items", ratio)
    print(f"the next event after 1,000,000 items against after 1,000: {ratio:.2f} x (should be under 1.3)")


async def main() -> None:
    with TemporaryDirectory() as folder:
        await bench_group_commit(Path(folder))
        await bench_history(Path(folder))


asyncio.run(main())
