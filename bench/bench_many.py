"""A thousand sessions, each with an open ask: a hub adopts them, lists every ask, delivers every answer, and rests.

The children are `sleep`s, and this program holds their FIFOs and journals: only the hub is measured.
"""

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import uvloop

from handraise.claude.folder import RunFolder
from handraise.claude.process import Identity
from handraise.model.sessions import Checkpoint, Phase, Session
from handraise.session.memory import Memory
from handraise.store.changes import Advance, SaveSession
from handraise.store.sqlite.store import SqliteStore

SERVERS = Path(__file__).with_name("http_servers.py")
SESSIONS = 1000
AT_ONCE = 20
REST = 5.0
RESTING = 0.05
"""Of one core."""


def run_of(folder: Path, number: int) -> Path:
    return folder / "state" / "sessions" / f"s_{number:04}" / "1"


def prepare(folder: Path, number: int, *, asks: bool = True) -> tuple[subprocess.Popen[bytes], int]:
    """A session as left by a hub that was killed, just before Claude asked or while it did nothing."""
    run = RunFolder.make(run_of(folder, number))
    child = subprocess.Popen(["/bin/sleep", "1000"])
    who = Identity.of(child.pid)
    assert who is not None
    record = {"pid": who.pid, "started": who.started, "boot": who.boot, "command": [], "session_id": f"c{number}"}
    (run.path / "launch.json").write_text(json.dumps({**record, "directory": str(folder)}))
    use = {"tool_name": "Bash", "input": {"command": f"make {number}"}, "tool_use_id": f"t{number}"}
    asked = {"type": "control_request", "request_id": f"r{number:04}", "request": {"subtype": "can_use_tool", **use}}
    if asks:
        run.journal.write_text(json.dumps(asked) + "\n")
    return child, os.open(run.fifo, os.O_RDWR | os.O_NONBLOCK)


async def store(folder: Path, sessions: int = SESSIONS, phase: Phase = "working") -> None:
    now = datetime.now(UTC)
    memory = Memory(turn=1, greeted=True, phase=phase).dump()
    async with SqliteStore(folder / "state" / "hub.db") as record:
        for number in range(sessions):
            session = Session(
                f"s_{number:04}", None, str(folder), f"c{number}", f"Session {number}", now, now, phase, run=1
            )
            await record.apply([SaveSession(session), Advance(Checkpoint(session.id, 1, 0, memory))])


async def measure(folder: Path, fifos: list[int]) -> None:
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        sys.executable, SERVERS, "hub", str(folder), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    base, token = (await process.stdout.readline()).decode().split()
    headers = {"authorization": f"Bearer {token}"}
    try:
        async with httpx2.AsyncClient(base_url=base, headers=headers, timeout=60) as client:
            asks: list[dict[str, str]] = []
            while len(asks) < SESSIONS:
                await asyncio.sleep(0.2)
                asks = (await client.get("/api/asks", params={"state": "open"})).json()["asks"]
            print(f"many: {len(asks)} of {SESSIONS} asks shown, {time.monotonic() - began:.1f} s after the start")
            await rest(process.pid)
            await answer_all(client, [ask["id"] for ask in asks])
            lines = [await carried_to(fifo) for fifo in fifos]
            carried = sum(f'"r{number:04}"'.encode() in line for number, line in enumerate(lines))
            print(f"many: {carried} of {SESSIONS} answers in the FIFO of their own session")
            if carried != SESSIONS:
                raise SystemExit("many: an answer was not carried")
    finally:
        process.send_signal(signal.SIGKILL)
        await process.wait()


async def carried_to(fifo: int) -> bytes:
    """What a child can read; an answer is committed before it is written."""
    for _ in range(100):
        try:
            return os.read(fifo, 65536)
        except BlockingIOError:
            await asyncio.sleep(0.1)
    return b""


async def rest(pid: int) -> None:
    before = cpu(pid)
    await asyncio.sleep(REST)
    used = (cpu(pid) - before) / REST
    verdict = "holds" if used <= RESTING else "MISSED"
    print(f"many: at rest {used:.1%} of a core; target: no more than {RESTING:.0%}: {verdict}")


async def answer_all(client: httpx2.AsyncClient, asks: list[str]) -> None:
    began = time.monotonic()
    some = asyncio.Semaphore(AT_ONCE)

    async def answer(ask: str) -> None:
        async with some:
            given = await client.post(f"/api/asks/{ask}/answer", json={"answer": {"allow": True}})
            assert given.status_code == 200, given.text

    await asyncio.gather(*(answer(ask) for ask in asks))
    print(f"many: {len(asks)} answered, {AT_ONCE} at a time, in {time.monotonic() - began:.1f} s")


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def allow_many_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main() -> None:
    allow_many_files()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "state").mkdir(mode=0o700)
        children, fifos = zip(*(prepare(folder, number) for number in range(SESSIONS)), strict=True)
        try:
            uvloop.run(store(folder))
            uvloop.run(measure(folder, list(fifos)))
        finally:
            for child in children:
                child.kill()
                child.wait()


if __name__ == "__main__":
    main()
