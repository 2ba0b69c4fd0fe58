"""Hubs of several machines on one PostgreSQL database, against one hub with SQLite: events, answers, and rest.

Each hub is a process. Its children are `sleep`s, and this program holds their FIFOs and journals: it writes what
Claude would write, and sees what Claude would read. Others may use this computer too, so what counts is CPU time.
"""

import asyncio
import gc
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import httpx2
import uvloop
from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import figures
from handraise.claude.folder import RunFolder
from handraise.claude.process import Identity
from handraise.model.actors import Person
from handraise.model.sessions import Checkpoint, Session
from handraise.serving.serve import ServeConfig, serving, signals
from handraise.session.memory import Memory
from handraise.store.changes import Advance, Change, SaveSession
from handraise.store.postgres.store import PostgresStore
from handraise.store.sqlite.store import SqliteStore
from postgres.cluster import Cluster, programs
from postgres.fixtures import READY, new_cluster

HUBS = (1, 3, 10)
STREAMS = 30
"""Sessions that write, of all hubs together."""
FRAMES = 9_000
ROUNDS = 3
ANSWERS = 100
OPEN = 1000
"""Requests that are open while ten hubs rest."""
REST = 20.0
RESTING = 0.05
"""Of one core, all hubs together."""
SECONDS = 120.0
SAFE = {"fsync": "on", "full_page_writes": "on", "autovacuum": "on", "shared_buffers": "128MB"}


class ChildStandIn:
    """A session as left by a hub that was killed; then this program is its Claude."""

    def __init__(self, state: Path, machine: str, name: str) -> None:
        self.session = f"s_{name}"
        run = RunFolder.make(state / "sessions" / self.session / "1")
        self._child = subprocess.Popen(["/bin/sleep", "3000"])
        who = Identity.of(self._child.pid)
        assert who is not None
        record = {"pid": who.pid, "started": who.started, "boot": who.boot, "command": [], "session_id": f"c_{name}"}
        (run.path / "launch.json").write_text(json.dumps({**record, "directory": str(state.parent)}))
        self.fifo = os.open(run.fifo, os.O_RDWR | os.O_NONBLOCK)
        self._journal = os.open(run.journal, os.O_WRONLY | os.O_APPEND)
        now = datetime.now(UTC)
        row = Session(
            self.session, None, str(state.parent), f"c_{name}", name, now, now, "working", run=1, machine=machine
        )
        memory = Memory(turn=1, greeted=True, phase="working").dump()
        self.changes: list[Change] = [SaveSession(row), Advance(Checkpoint(self.session, 1, 0, memory))]

    def write(self, *frames: dict[str, Any]) -> None:
        text = "".join(json.dumps(frame) + "\n" for frame in frames).encode()
        while text:
            text = text[os.write(self._journal, text) :]

    def ask(self, number: int) -> None:
        use = {"tool_name": "Bash", "input": {"command": f"make {number}"}, "tool_use_id": f"t{number}"}
        request = {"subtype": "can_use_tool", **use}
        self.write({"type": "control_request", "request_id": f"{self.session}-{number}", "request": request})

    def go_on(self, number: int) -> None:
        """As Claude does with an answer."""
        done = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "done", "is_error": False}
        self.write({"type": "user", "message": {"role": "user", "content": [done]}, "parent_tool_use_id": None})

    async def answered(self, name: bytes) -> None:
        """Returns when the answer to this request is in the FIFO."""
        loop, arrived, text = asyncio.get_running_loop(), asyncio.Event(), b""
        loop.add_reader(self.fifo, arrived.set)
        try:
            async with asyncio.timeout(SECONDS):
                while name not in text:
                    arrived.clear()
                    try:
                        text += os.read(self.fifo, 65536)
                    except BlockingIOError:
                        await arrived.wait()
        finally:
            loop.remove_reader(self.fifo)

    def end(self) -> None:
        self._child.kill()
        self._child.wait()
        os.close(self.fifo)
        os.close(self._journal)


class BenchSite:
    """A machine: its state folder, its stand-ins, and its hub's process once it is up."""

    def __init__(self, folder: Path, number: int, url: str, asks: int, streams: int) -> None:
        self.folder = folder / f"site-{number}"
        self.url = url
        self.machine = f"m_{number:016}"
        state = self.folder / "state"
        state.mkdir(parents=True, mode=0o700)
        (state / "machine.json").write_text(json.dumps({"id": self.machine}))
        self.streams = [ChildStandIn(state, self.machine, f"{number}_stream_{each}") for each in range(streams)]
        self.askers = [ChildStandIn(state, self.machine, f"{number}_ask_{each}") for each in range(asks)]

    async def store(self) -> None:
        store = PostgresStore(self.url, self.machine) if self.url else SqliteStore(self.folder / "state" / "hub.db")
        async with store:
            for each in (*self.streams, *self.askers):
                await store.apply(each.changes)

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, __file__, "hub", str(self.folder), self.url, stdout=asyncio.subprocess.PIPE
        )
        assert self.process.stdout is not None
        async with asyncio.timeout(SECONDS):
            base, token = (await self.process.stdout.readline()).decode().split()
        self.client = httpx2.AsyncClient(base_url=base, headers={"authorization": f"Bearer {token}"}, timeout=60)

    async def stop(self) -> None:
        if hasattr(self, "client"):
            await self.client.aclose()
        if hasattr(self, "process") and self.process.returncode is None:
            self.process.send_signal(signal.SIGKILL)
            await self.process.wait()
        for each in (*self.streams, *self.askers):
            each.end()

    async def newest(self) -> int:
        cursor: int = (await self.client.get("/api/items", params={"limit": 1})).json()["cursor"]
        return cursor

    async def open_asks(self, least: int) -> dict[str, str]:
        """By session, once there are this many."""
        async with asyncio.timeout(SECONDS):
            while True:
                found = (await self.client.get("/api/asks", params={"state": "open", "limit": 1000})).json()["asks"]
                if len(found) >= least:
                    return {ask["session"]: ask["id"] for ask in found}
                await asyncio.sleep(0.02)


@asynccontextmanager
async def running(folder: Path, url: str, hubs: int, asks: int) -> AsyncIterator[list[BenchSite]]:
    """`asks` is the number of sessions that can ask, of all hubs together."""
    sites = [BenchSite(folder, number, url, asks // hubs, STREAMS // hubs) for number in range(hubs)]
    try:
        for site in sites:
            await site.store()
            await site.start()
        yield sites
    finally:
        for site in sites:
            await site.stop()


class Cost(Struct, frozen=True):
    """Of an event: how many fit into a second, and microseconds of CPU time."""

    rate: float
    hubs: float
    database: float

    @property
    def both(self) -> float:
        return self.hubs + self.database


async def events(sites: Sequence[BenchSite], cluster: Cluster | None) -> Cost:
    """Claudes write, until the last hub has everything: a hub reads what the others store, too."""
    last = sites[-1]
    before, began, used, behind = await last.newest(), perf_counter(), cpu(sites), database_cpu(cluster)
    writers = [each for site in sites for each in site.streams]
    for number in range(FRAMES):
        content = [{"type": "text", "text": f"{number} " + "some words that Claude said " * 4}]
        writers[number % len(writers)].write(
            {"type": "assistant", "message": {"id": f"m_{number}", "content": content}, "parent_tool_use_id": None}
        )
    async with asyncio.timeout(SECONDS):
        left = FRAMES
        while left > 0:
            await asyncio.sleep(min(0.05, left / 20_000))
            left = before + FRAMES - await last.newest()
    seconds = perf_counter() - began
    each = 1_000_000 / FRAMES
    return Cost(FRAMES / seconds, (cpu(sites) - used) * each, (database_cpu(cluster) - behind) * each)


async def answer(at: BenchSite, asker: ChildStandIn, number: int) -> float:
    """Milliseconds from the answer, given at this hub, until the other machine's Claude can read it."""
    asker.ask(number)
    ask = ""
    async with asyncio.timeout(SECONDS):
        while not ask:
            ask = (await at.open_asks(0)).get(asker.session, "")
            await asyncio.sleep(0.02)
    began = perf_counter()
    sent = asyncio.create_task(at.client.post(f"/api/asks/{ask}/answer", json={"answer": {"allow": True}}))
    await asker.answered(f'"{asker.session}-{number}"'.encode())
    seconds = perf_counter() - began
    assert (await sent).status_code == 200
    asker.go_on(number)
    return seconds * 1000


async def compare(folder: Path, cluster: Cluster, hubs: int, alone: BenchSite) -> None:
    """What one hub with SQLite does, and what these hubs do, in turns."""
    url = cluster.url(cluster.create(READY))
    async with running(folder / f"{hubs}-hubs", url, hubs, 10 * hubs if hubs < 10 else OPEN) as sites:
        rounds = [(await events(sites, cluster), await events([alone], None)) for _ in range(ROUNDS)]
        theirs, mine = (sorted(costs, key=lambda each: each.both)[ROUNDS // 2] for costs in zip(*rounds, strict=True))
        name = "1 hub" if hubs == 1 else f"{hubs} hubs"
        print(
            f"machines: {name}: an event takes {theirs.both / mine.both:.1f} x the CPU time of one hub with SQLite"
            f" ({theirs.hubs:.0f} µs in hubs and {theirs.database:.0f} in the database, {mine.both:.0f} µs),"
            f" {theirs.rate / mine.rate:.2f} x as many a second ({theirs.rate:,.0f})"
        )
        figures.report(f"{name}: CPU of an event, of one hub with SQLite", theirs.both / mine.both)
        there: list[float] = []
        here: list[float] = []
        for number in range(ANSWERS):
            owner, at = sites[number % hubs], sites[(number + 1) % hubs]
            there.append(await answer(at, owner.askers[number % 10], number + 1))
            here.append(await answer(alone, alone.askers[number % 10], hubs * 1000 + number + 1))
        ratio = statistics.median(there) / statistics.median(here)
        figures.report(f"{name}: answer to Claude, of one hub with SQLite", ratio)
        where = "the hub itself" if hubs == 1 else "another machine's hub"
        print(
            f"machines: {name}: an answer given at {where} reaches Claude in {ratio:.1f} x the time of one hub with"
            f" SQLite (median {statistics.median(there):.1f} and {statistics.median(here):.1f} ms,"
            f" 95 of 100 within {high(there):.0f} and {high(here):.0f} ms)"
        )
        if hubs == 10:
            await rest(sites, cluster)


async def rest(sites: Sequence[BenchSite], cluster: Cluster) -> None:
    for site in sites:
        for each in site.askers:
            each.ask(10_000)
    await sites[0].open_asks(OPEN)
    await asyncio.sleep(5)  # what follows from the last ask isn't rest
    before, database = cpu(sites), database_cpu(cluster)
    await asyncio.sleep(REST)
    used, behind = (cpu(sites) - before) / REST, (database_cpu(cluster) - database) / REST
    verdict = "holds" if used <= RESTING else "MISSED"
    print(
        f"machines: at rest, {len(sites)} hubs with {OPEN} open requests: {used:.1%} of a core together,"
        f" the database {behind:.1%}; target: no more than {RESTING:.0%}: {verdict}"
    )


def high(times: Sequence[float]) -> float:
    return sorted(times)[len(times) * 95 // 100]


def cpu(sites: Sequence[BenchSite]) -> float:
    return sum(seconds(site.process.pid) for site in sites)


def database_cpu(cluster: Cluster | None) -> float:
    """Of the server and all of its processes, those that have ended included."""
    if cluster is None:
        return 0.0
    return sum(seconds(pid, ended=True) for pid in cluster.pids())


def seconds(pid: int, *, ended: bool = False) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if ended else 13])) / os.sysconf("SC_CLK_TCK")


async def be_hub(folder: str, url: str) -> None:
    """Prints its address and a token."""
    service = ServeConfig(
        Path(folder, "state"), Path("/bin/true"), dict(os.environ), port=0, limit=1000, most_open=1000,
        database=url or None, machine_name=Path(folder).name,
    )  # fmt: skip
    with signals() as text:
        async with serving(service) as up:
            made = await up.auth.make("bench", "admin", Person("bench"), "bench")
            gc.freeze()  # as `handraise serve` does
            print(up.base, made.secret, flush=True)
            await text.wait()


async def main(cluster: Cluster, folder: Path) -> None:
    async with running(folder / "alone", "", 1, 10) as (alone,):
        for hubs in HUBS:
            await compare(folder, cluster, hubs, alone)


if sys.argv[1:2] == ["hub"]:
    uvloop.run(be_hub(*sys.argv[2:]))
elif programs() is None:
    print("machines: PostgreSQL is not installed; run dev/postgres")
else:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        with new_cluster(inside=Path(place), **SAFE) as server:
            uvloop.run(main(server, Path(place)))
