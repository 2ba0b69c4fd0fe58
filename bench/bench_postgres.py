"""The shared store: events that are durable in PostgreSQL against SQLite, and how fast another hub hears of one.

Both write to the same disk, in turns. Nothing is turned off that keeps a commit safe.
"""

import asyncio
import statistics
import sys
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import asyncpg
import uvloop

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import figures
from handraise.model.items import Item, Text
from handraise.model.sessions import Checkpoint
from handraise.store.changes import Advance, Change, PublishItems
from handraise.store.interface import Store
from handraise.store.postgres.store import PostgresStore
from handraise.store.sqlite.store import SqliteStore
from postgres.cluster import Cluster, programs
from postgres.fixtures import READY, new_cluster
from store.waiting import until

PRODUCERS = 64
FRAMES = 12_800
SESSIONS = 64
ROUNDS = 5
WAKES = 300
AT = datetime(2026, 3, 1, tzinfo=UTC)
SAFE = {"fsync": "on", "full_page_writes": "on", "autovacuum": "on", "shared_buffers": "128MB"}


def a_frame(number: int, machine: str = "m_1") -> Sequence[Change]:
    """What a session's runner commits for a frame."""
    session = f"s_{machine}_{number % SESSIONS}"
    text = Text("some words that Claude said " * 4, f"m_{number}")
    return [PublishItems(session, AT, text), Advance(Checkpoint(session, 1, number, b"x" * 200))]


async def produce(store: Store, numbers: Sequence[int]) -> None:
    for number in numbers:
        await store.apply(a_frame(number, store.machine))


async def frames_a_second(store: Store, first: int) -> float:
    began = perf_counter()
    numbers = (range(first + at, first + FRAMES, PRODUCERS) for at in range(PRODUCERS))
    await asyncio.gather(*(produce(store, each) for each in numbers))
    return FRAMES / (perf_counter() - began)


async def bench_events(url: str, folder: Path) -> None:
    rates: tuple[list[float], list[float]] = ([], [])
    async with PostgresStore(url, "m_1") as postgres, SqliteStore(folder / "hub.db") as sqlite:
        for turn in range(ROUNDS):
            rates[0].append(await frames_a_second(postgres, turn * FRAMES))
            rates[1].append(await frames_a_second(sqlite, turn * FRAMES))
    ratio = statistics.median(rates[0]) / statistics.median(rates[1])
    rate = statistics.median(rates[0]) / 1000
    figures.report("durable frames, times SQLite", ratio, "higher")
    print(f"durable frames, {PRODUCERS} producers: {ratio:.2f} x SQLite ({rate:.0f} thousand a second)")


async def bench_wake(url: str) -> None:
    """From the call until the other side hears of it; each waits for the one before."""
    arrived = asyncio.Event()
    async with PostgresStore(url, "m_1") as one, PostgresStore(url, "m_2") as two:
        two.listen(lambda _items: arrived.set())
        sender, listener = await asyncpg.connect(url), await asyncpg.connect(url)
        await sender.execute("CREATE TABLE bare (content text)")
        await listener.add_listener("bare", lambda *_: arrived.set())
        await until(lambda: two.hearing == "yes")
        ours, bare = [], []
        for number in range(WAKES):
            ours.append(await heard(arrived, one.apply(a_frame(number))))
            text = "some words that Claude said " * 4
            statement = f"INSERT INTO bare VALUES ('{text}'); NOTIFY bare"
            bare.append(await heard(arrived, sender.execute(statement)))
        await sender.close()
        await listener.close()
    ratio = statistics.median(ours) / statistics.median(bare)
    figures.report("another hub has the item, of INSERT and NOTIFY", ratio)
    times = f"{statistics.median(ours) * 1000:.1f} and {statistics.median(bare) * 1000:.1f} ms"
    print(f"another hub has the item: {ratio:.1f} x a bare INSERT and NOTIFY ({times} at the median)")


async def heard(arrived: asyncio.Event, work: Coroutine[None, None, object]) -> float:
    arrived.clear()
    began = perf_counter()
    done = asyncio.create_task(work)
    await arrived.wait()
    seconds = perf_counter() - began
    await done
    return seconds


async def bench_hubs(cluster: Cluster) -> None:
    """Several hubs write at once: all of their commits are put into one order, and every hub hears all of them."""
    rates = []
    for hubs in (1, 3, 10):
        url = cluster.url(cluster.create(READY))
        items: list[Item] = []
        async with AsyncExitStack() as opened:
            stores = [await opened.enter_async_context(PostgresStore(url, f"m_{number}")) for number in range(hubs)]
            stores[0].listen(items.extend)
            began = perf_counter()
            ranges = [range(first, FRAMES // hubs, SESSIONS) for first in range(SESSIONS)]
            await asyncio.gather(*(produce(store, each) for store in stores for each in ranges))
            rates.append(len(items) / (perf_counter() - began))
    figures.report("3 hubs, times one", rates[1] / rates[0], "higher")
    figures.report("10 hubs, times one", rates[2] / rates[0], "higher")
    print(f"3 hubs on one database: {rates[1] / rates[0]:.2f} x one hub; 10 hubs: {rates[2] / rates[0]:.2f} x")


async def main(cluster: Cluster, folder: Path) -> None:
    await bench_events(cluster.url(cluster.create(READY)), folder)
    await bench_wake(cluster.url(cluster.create(READY)))
    await bench_hubs(cluster)


if programs() is None:
    print("postgres: PostgreSQL is not installed; run dev/postgres")
else:
    with TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        with new_cluster(inside=Path(place), **SAFE) as running:
            uvloop.run(main(running, Path(place)))
