"""Time from a child's write to the decoded frame: our journal against asyncio reading a pipe, line by line."""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import figures
from handraise.claude.journal import follow
from handraise.claude.watch import watch
from handraise.wire.connection import Connection
from handraise.wire.frames import ToolProgress

WRITES = 2_500
PACE = 0.001
# Each line has its time of writing, by the machine's clock, which both processes share.
_CHILD = f"""
import os, time
for _ in range({WRITES}):
    time.sleep({PACE})
    line = b'{{"type":"tool_progress","tool_use_id":"toolu_1","tool_name":"Bash","elapsed_time_seconds":%.9f}}\\n'
    os.write(1, line % time.monotonic())
"""


async def by_journal() -> list[float]:
    """Written to a file; inotify notifies us, and we read."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder, "out.ndjson")
        with open(journal, "ab") as stdout:  # noqa: ASYNC230 (nothing else runs)
            child = await asyncio.create_subprocess_exec(sys.executable, "-c", _CHILD, stdout=stdout)
        ended = asyncio.Event()
        async with watch() as bells, asyncio.TaskGroup() as tasks:
            tasks.create_task(_tell_end(child, ended))
            return await _delays(follow(journal, 0, bells, ended))


async def by_pipe() -> list[float]:
    """Written to a pipe; asyncio reads lines."""
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", _CHILD, stdout=asyncio.subprocess.PIPE)
    assert child.stdout is not None
    delays = await _delays(child.stdout)
    await child.wait()
    return delays


async def _delays(chunks: AsyncIterator[bytes]) -> list[float]:
    wire, delays = Connection(), []
    async for chunk in chunks:
        for each in wire.receive(chunk):
            assert isinstance(each.frame, ToolProgress)
            delays.append(time.monotonic() - each.frame.elapsed)
    return delays


async def _tell_end(child: asyncio.subprocess.Process, ended: asyncio.Event) -> None:
    await child.wait()
    ended.set()


def percentile(delays: list[float], of_hundred: int) -> float:
    return statistics.quantiles(delays, n=100)[of_hundred - 1]


async def main() -> None:
    # Alternating, so that other load affects both.
    rounds = [(await by_journal(), await by_pipe()) for _ in range(2)]
    journal, pipe = ([delay for each in rounds for delay in each[route]] for route in (0, 1))
    if len(journal) != len(pipe) or len(pipe) != 2 * WRITES:
        raise SystemExit(f"latency: {len(journal)} and {len(pipe)} frames of {2 * WRITES}")
    for name, of_hundred in (("median", 50), ("p99", 99)):
        ratio = percentile(journal, of_hundred) / percentile(pipe, of_hundred)
        verdict = "holds" if ratio <= 1 else "MISSED"
        if name == "median":
            figures.report("write to frame, of asyncio and a pipe", ratio)
        print(f"latency: {name} {ratio:.2f} of asyncio reading a pipe; target: no more than 1: {verdict}")


if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    asyncio.run(main())
