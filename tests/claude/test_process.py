import asyncio
import os
import signal
import sys

import pytest

from claude.children import PATIENCE, child, gone, identity, pids
from handraise.claude.process import Identity, Process

SLEEP = "import time; print(1); time.sleep(1000)"
# Starts a sleeper, tells its pid, and neither waits for it nor ends.
CARELESS = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"]).pid); time.sleep(1000)
"""
# Starts a sleeper and waits for it, as an init process does.
CAREFUL = """
import subprocess, sys
sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
print(sleeper.pid); sleeper.wait(); sys.stdin.read()
"""


async def ended(process: Process) -> None:
    async with asyncio.timeout(PATIENCE):
        await process.ended.wait()


def test_a_process_is_named_by_its_pid_its_start_and_the_boot() -> None:
    me = identity(os.getpid())
    assert me.lives()
    assert me == identity(os.getpid())
    assert me.started
    with child(SLEEP) as other:
        assert identity(other.pid) != me


def test_another_process_with_the_same_pid_is_not_ours() -> None:  # lesson 19
    me = identity(os.getpid())
    for stranger in (
        Identity(me.pid, str(int(me.started) - 1) if me.started.isdigit() else "x", me.boot),
        Identity(me.pid, me.started, "another boot"),
    ):
        assert not stranger.lives()


def test_a_signal_reaches_this_very_process_or_nobody() -> None:  # lesson 19
    with child(SLEEP) as sleeper:
        right = identity(sleeper.pid)
        Identity(right.pid, "0", right.boot).signal(signal.SIGKILL)
        assert sleeper.poll() is None
        right.signal(signal.SIGKILL)
        assert sleeper.wait() == -signal.SIGKILL
        right.signal(signal.SIGKILL)


def test_nobody_has_no_identity() -> None:
    with child(SLEEP) as sleeper:
        pid = sleeper.pid
    assert Identity.of(pid) is None


async def test_a_zombie_does_not_live_but_is_still_somebody() -> None:
    with child(CARELESS) as parent:
        (pid,) = pids(parent)
        zombie = identity(pid)
        zombie.signal(signal.SIGKILL)
        await gone(zombie)
        assert Identity.of(pid) == zombie


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("print(1)", 0),
        ("import sys; print(1); sys.exit(7)", 7),
        ("import os; print(1); os.kill(os.getpid(), 15)", -15),
        ("import os; print(1); os.kill(os.getpid(), 9)", -9),
    ],
)
async def test_the_exit_code_of_our_own_child_is_known(source: str, code: int) -> None:
    command = [sys.executable, "-c", f"import sys; sys.stdin.read(1); {source}"]
    read, write = os.pipe()
    pid = os.posix_spawn(command[0], command, {}, file_actions=[(os.POSIX_SPAWN_DUP2, read, 0)])
    os.close(read)
    async with Process(identity(pid)) as process:
        assert not process.ended.is_set()
        os.close(write)
        await ended(process)
        assert process.exit_code == code
    # It was taken note of: no zombie stays.
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, 0)


async def test_our_own_child_that_ended_before_we_looked_is_told_about() -> None:
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 3"], {})
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    async with Process(identity(pid)) as process:
        assert process.ended.is_set()
        assert process.exit_code == 3


async def test_the_end_of_somebody_elses_child_is_seen_and_its_exit_code_where_the_kernel_tells() -> None:
    import subprocess

    with child(CAREFUL, stdin=subprocess.PIPE) as parent:
        (pid,) = pids(parent)
        async with Process(identity(pid)) as process:
            process.identity.signal(signal.SIGTERM)
            await ended(process)
            release = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
            assert process.exit_code == (-signal.SIGTERM if release >= (6, 15) else process.exit_code)
            assert process.exit_code in (-signal.SIGTERM, None)
        assert parent.stdin is not None
        parent.stdin.close()


async def test_a_process_whose_pid_went_to_another_has_ended() -> None:  # lesson 19
    with child(SLEEP) as sleeper:
        right = identity(sleeper.pid)
        async with Process(Identity(right.pid, "0", right.boot)) as process:
            assert process.ended.is_set()
            assert process.exit_code is None
        assert sleeper.poll() is None


async def test_a_process_that_is_long_gone_has_ended() -> None:
    with child(SLEEP) as sleeper:
        who = identity(sleeper.pid)
    async with Process(who) as process:
        assert process.ended.is_set()


async def test_leaving_leaves_the_process_and_no_open_file() -> None:
    with child(SLEEP) as sleeper:
        before = len(os.listdir("/proc/self/fd"))
        async with Process(identity(sleeper.pid)):
            pass
        assert len(os.listdir("/proc/self/fd")) == before
        assert sleeper.poll() is None
