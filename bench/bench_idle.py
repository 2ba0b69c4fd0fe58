"""The cost of a waiting session: memory and CPU time of a hub with hundreds of idle ones that it adopted.

The children stand in for the CLI: they answer the handshake and the first message, then wait as Claude does.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import figures
from handraise.claude.folder import RunFolder
from handraise.hub.hub import Hub, HubConfig, hub

SESSIONS = 300
TARGET_KB = 200
IDLE_SECONDS = 5.0
IDLE_TARGET = 0.01
_STUB = r"""#!/bin/sh
read -r hello
echo '{"type":"control_response","response":{"subtype":"success","request_id":"handraise-hello"}}'
read -r said
uuid=$(echo "$said" | /bin/sed 's/.*"uuid":"\([^"]*\)".*/\1/')
echo '{"type":"system","subtype":"init","session_id":"x","model":"none","permissionMode":"default"}'
echo "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"Go.\"},\"uuid\":\"$uuid\",\"isReplay\":true}"
echo '{"type":"result","subtype":"success","is_error":false,"result":"Waiting.","total_cost_usd":0.01}'
while read -r line; do :; done
"""


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Hub]:
    async with hub(HubConfig(folder / "state", folder / "claude", dict(os.environ), limit=SESSIONS)) as running:
        yield running


async def start(folder: Path) -> None:
    """A first hub starts all sessions, and leaves them idle."""
    async with opened(folder) as running:
        for number in range(SESSIONS):
            await running.desk.start(f"Session {number}.", str(folder))
        await idle(running)


async def idle(running: Hub) -> None:
    """Waits until every session is idle."""
    waiting = {seen.session.id for seen in await running.desk.sessions()}
    async with running.desk.follow(0) as follower:
        while waiting:
            await anext(follower)
            waiting = {seen.session.id for seen in await running.desk.sessions() if seen.session.phase != "idle"}


async def measure(folder: Path) -> None:
    """A second hub adopts them, and is measured while nothing happens."""
    async with opened(folder / "empty") as none:
        await none.desk.sessions()
    before, began = resident_kb(), time.perf_counter()
    async with opened(folder) as running:
        adopted = time.perf_counter() - began
        if len(running.pool.adoption.living) != SESSIONS:
            raise SystemExit(f"idle: {len(running.pool.adoption.living)} sessions of {SESSIONS} were adopted")
        await asyncio.sleep(1)  # one-time work of the adoption isn't idleness
        used = time.process_time()
        await asyncio.sleep(IDLE_SECONDS)
        busy = (time.process_time() - used) / IDLE_SECONDS
        each = (resident_kb() - before) / SESSIONS
        print(f"idle: a hub that adopts {SESSIONS} sessions is open after {adopted:.1f} s")
        print(f"      {each:.0f} KB for each; target: under {TARGET_KB}: {'holds' if each < TARGET_KB else 'MISSED'}")
        figures.report("KB for each session", each)
        verdict = "holds" if busy < IDLE_TARGET else "MISSED"
        print(f"      {busy:.2%} of a processor for all; target: under {IDLE_TARGET:.0%}: {verdict}")


def end(folder: Path) -> None:
    """Ends the children, each by its identity; the hub would search for descendants that they don't have."""
    for launched in (folder / "state" / "sessions").glob("*/1"):
        record = RunFolder(launched).record()
        if record is not None:
            record.identity.signal(signal.SIGKILL)


def resident_kb() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def main() -> None:
    """Each part in its own process: a hub that has started sessions would remember more than one that adopts."""
    with tempfile.TemporaryDirectory() as folder:
        for state in (Path(folder), Path(folder, "empty")):
            state.mkdir(exist_ok=True)
            (state / "claude").write_text(_STUB)
            (state / "claude").chmod(0o700)
        try:
            for part in ("start", "measure"):
                subprocess.run([sys.executable, __file__, part, folder], check=True)
        finally:
            end(Path(folder))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["start", folder]:
            asyncio.run(start(Path(folder)))
        case ["measure", folder]:
            asyncio.run(measure(Path(folder)))
        case _:
            main()
