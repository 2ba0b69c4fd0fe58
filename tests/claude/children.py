"""Processes for tests: started by us, identified by pid, gone at the end."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from handraise.claude.process import Identity

PATIENCE = 60.0


@contextmanager
def child(source: str, *words: object, **how: object) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process that runs `source` and has printed one line; killed at the end if it still runs."""
    command = [sys.executable, "-u", "-c", source, *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, **how)  # type: ignore[call-overload]
    try:
        assert process.stdout is not None
        process.first_line = process.stdout.readline().decode().strip()
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def pids(process: subprocess.Popen[bytes]) -> list[int]:
    """The pids in the line that the child printed."""
    return [int(word) for word in process.first_line.split()]  # type: ignore[attr-defined]


def identity(pid: int) -> Identity:
    found = Identity.of(pid)
    assert found is not None
    return found


def end(*family: Identity) -> None:
    for each in family:
        each.signal(signal.SIGKILL)


async def until(path: Path) -> str:
    """What a child wrote to this file, once it ends with a newline."""
    async with asyncio.timeout(PATIENCE):
        while True:
            text = path.read_text() if path.exists() else ""
            if text.endswith("\n"):
                return text.strip()
            await asyncio.sleep(0.005)


async def gone(who: Identity) -> None:
    async with asyncio.timeout(PATIENCE):
        while who.lives():
            await asyncio.sleep(0.005)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))
