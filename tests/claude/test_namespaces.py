"""A program of ours in Claude's place, in a sandbox: process 1 starts it, cleans up after it, ends with it, and
can't be stopped from doing so."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from claude.children import gone, identity
from claude.test_claude import Spot, lines, place
from handraise.claude import claude, sandbox, sandbox_support
from handraise.claude.claude import Claude
from handraise.claude.process import descendants

ORPHANS = 200
MANY = 50
# Each orphan's parent ends before it does; all orphans end when the pipe is closed.
ORPHANING = f"""
import os, time
held, let_go = os.pipe()
for _ in range({ORPHANS}):
    if (child := os.fork()) == 0:
        if os.fork() == 0:
            os.close(let_go)
            os.read(held, 1)
        os._exit(0)
    os.waitpid(child, 0)

def is_dead(pid):
    try:
        return open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False

def others():
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) > 2]

print(len(others()), flush=True)
os.close(let_go)
until = time.monotonic() + 30
while len(others()) >= {MANY} and time.monotonic() < until:
    time.sleep(0.01)
print(sum(map(is_dead, others())), flush=True)
os.read(0, 1)
"""


@pytest.fixture(autouse=True)
def sandboxed() -> None:
    if missing := asyncio.run(sandbox_support.look()).missing:
        pytest.skip(f"no sandbox can be made here: {missing}")


@asynccontextmanager
async def running(tmp_path: Path, source: str, preset: str = "open") -> AsyncIterator[tuple[Spot, Claude]]:
    async with place(tmp_path) as here:
        (tmp_path / "hub").mkdir()
        grounds = sandbox.sandbox_context([tmp_path / "hub"], {"HOME": str(tmp_path)})
        plan = sandbox.plan(sandbox.Sandbox(preset=preset, directory=here.launch.directory), grounds)
        environment = {"PATH": os.environ["PATH"]}
        started = await claude.start(
            here.program(source), here.launch, here.folder, tmp_path / "locks", here.watching, environment, plan
        )
        async with started as there:
            yield here, there


def status(pid: int) -> dict[str, Any]:
    return dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())


async def test_orphans_leave_no_zombies(tmp_path: Path) -> None:
    async with running(tmp_path, ORPHANING) as (_, there):
        before, after = map(int, await lines(there, 2))
        assert before >= ORPHANS
        assert after < MANY


async def test_it_ends_as_the_program_did(tmp_path: Path) -> None:
    async with running(tmp_path, "import sys\nsys.stdin.readline()\nsys.exit(3)\n") as (_, there):
        await there.write(b"bye\n")
        await there.ended.wait()
        assert there.process.exit_code == 3


async def test_a_killed_program_ends_all(tmp_path: Path) -> None:
    async with running(tmp_path, "import os\nos.fork() or os.setsid()\nprint(1, flush=True)\nos.read(0, 1)\n") as (
        _,
        there,
    ):
        await lines(there, 2)
        family = descendants(there.process.identity)
        assert len(family) == 2
        inside = next(each for each in family if status(each.pid)["NSpid"].split()[-1] == "2")
        inside.signal(signal.SIGKILL)
        await there.ended.wait()
        assert there.process.exit_code == 128 + signal.SIGKILL
        for each in family:
            await gone(each)


async def test_sigterm_reaches_the_program(tmp_path: Path) -> None:
    source = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print(1, flush=True)
signal.pause()
"""
    async with running(tmp_path, source) as (_, there):
        await lines(there, 1)
        await there.stop()
        assert there.process.exit_code == 7


async def test_the_first_process_holds_nothing_and_can_do_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, "import os\nprint(1, flush=True)\nos.read(0, 1)\n") as (_, there):
        await lines(there, 1)
        first = there.process.identity.pid
        assert status(first)["NSpid"].split()[-1] == "1"
        assert os.listdir(f"/proc/{first}/fd") == []
        assert {int(status(first)[each], 16) for each in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}


async def test_signals_from_inside_do_not_end_it_before_the_program(tmp_path: Path) -> None:
    """Nor can it be traced: a tracer could keep it alive when Claude has exited."""
    source = """
import ctypes, os, signal
for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    os.kill(1, number)
print(ctypes.CDLL(None).ptrace(0x4206, 1, 0, 0), flush=True)
os.read(0, 1)
"""
    async with running(tmp_path, source) as (_, there):
        assert await lines(there, 1) == ["-1"]
        assert identity(there.process.identity.pid).lives()
        await there.stop()


async def test_there_is_a_most_of_processes(tmp_path: Path) -> None:
    highest = Path("/proc/sys/kernel/pid_max")
    if tuple(map(int, os.uname().release.replace("-", ".").split(".")[:2])) < (6, 14):
        pytest.skip("before Linux 6.14 a PID namespace has no limit of its own")
    before = highest.read_text()
    source = f"import os\nprint(open('{highest}').read(), end='', flush=True)\nos.read(0, 1)\n"
    async with running(tmp_path, source) as (_, there):
        assert int((await lines(there, 1))[0]) == 8192
        assert highest.read_text() == before
