import asyncio
import os
import signal
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import pytest

from claude.children import child, end, gone, identity, pids, until
from handraise.claude.process import Identity, Process, ProcessTable, descendants, seek, stop

# A parent that, like Claude, reaps what its descendants leave. Its children: one plain; one in a group of its own;
# one in a session of its own; one that daemonised (its parent ended); and a grandchild.
FAMILY = """
import ctypes, os, signal, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
read, write = os.pipe()

def sleeper(*before):
    for each in before:
        each()
    os.write(write, b"%d\\n" % os.getpid())
    time.sleep(1000)

def fork(*steps):
    if not os.fork():
        sleeper(*steps)

def daemonise():
    os.setsid()
    if os.fork():
        os._exit(0)

fork()
fork(os.setpgrp)
fork(os.setsid)
fork(daemonise)
fork(fork)
found = b""
while found.count(b"\\n") < 6:
    found += os.read(read, 100)
print(found.decode().replace("\\n", " "))
if sys.argv[1:] == ["stubborn"]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(1000)
"""
STUBBORN = FAMILY.replace(
    "time.sleep(1000)\n\ndef fork", "time.sleep(1000)\n\nsignal.signal(15, signal.SIG_IGN)\n\ndef fork"
)


def test_descendants_are_found_in_whatever_group_or_session_they_are() -> None:  # lesson 18
    with child(FAMILY) as parent:
        kin = pids(parent)
        assert len(kin) == 6
        found = descendants(identity(parent.pid))
        assert {each.pid for each in found if each.lives()} == set(kin)
        assert {os.getsid(pid) for pid in kin} != {os.getsid(parent.pid)}
        end(*found)


def test_a_stranger_with_the_pid_of_one_of_ours_has_no_descendants_for_us() -> None:  # lesson 19
    with child(FAMILY) as parent:
        right = identity(parent.pid)
        assert descendants(Identity(right.pid, "0", right.boot)) == set()
        end(*descendants(right))


@pytest.mark.parametrize("source", [FAMILY, STUBBORN])
async def test_stopping_a_process_ends_all_its_descendants(source: str) -> None:  # lesson 18
    with child(source, "stubborn" if source is STUBBORN else "") as parent:
        async with Process(identity(parent.pid)) as process:
            kin = descendants(process.identity)
            assert {each.pid for each in kin} >= set(pids(parent))
            await stop(process, kin, patience=0.2)
            assert process.ended.is_set()
            assert process.exit_code == (-signal.SIGKILL if source is STUBBORN else -signal.SIGTERM)
        assert not any(each.lives() for each in kin)


async def test_what_a_dead_process_left_is_ended_too() -> None:  # lesson 18
    with child(FAMILY) as parent:
        async with Process(identity(parent.pid)) as process:
            kin = descendants(process.identity)
            process.identity.signal(signal.SIGKILL)
            await gone(process.identity)
            await stop(process, kin, patience=0.2)
        assert not any(each.lives() for each in kin)


async def test_a_child_that_was_started_in_the_last_moment_is_ended_too(tmp_path: Path) -> None:
    # Asked to exit, it starts another process, and refuses.
    source = f"""
import os, signal, time
def refuse(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if not os.fork():
        os.setsid()
        with open({str(tmp_path / "last")!r}, "w") as file:
            file.write(f"{{os.getpid()}}\\n")
        time.sleep(1000)
if not os.fork():
    signal.signal(signal.SIGTERM, refuse)
    print(os.getpid())
    while True:
        time.sleep(1000)
while True:
    time.sleep(1000)
"""
    with child(source) as parent:
        async with Process(identity(parent.pid)) as process:
            stopping = asyncio.create_task(stop(process, [], patience=5))
            last = identity(int(await until(tmp_path / "last")))
            await stopping
        assert not last.lives()


async def test_a_process_that_ended_long_ago_is_no_trouble() -> None:
    with child("print(1)") as parent:
        who = identity(parent.pid)
        parent.wait()
        async with Process(who) as process:
            await stop(process, [], patience=0.1)


async def test_all_who_want_to_know_at_the_same_time_share_one_look() -> None:
    looks = ProcessTable()

    first, second = await asyncio.gather(looks.parents(), looks.parents())
    later = await looks.parents()

    assert first is second
    assert later is not first
    assert (os.getpid(), os.getppid()) in later


async def test_who_no_longer_wants_to_know_does_not_take_the_look_from_the_others() -> None:
    looks = ProcessTable()
    impatient = asyncio.create_task(looks.parents())
    patient = asyncio.create_task(looks.parents())
    await asyncio.sleep(0)

    impatient.cancel()

    assert (os.getpid(), os.getppid()) in await patient


async def test_a_child_that_was_there_before_the_question_is_found() -> None:
    earlier = asyncio.create_task(seek(identity(os.getpid())))
    await asyncio.sleep(0)  # a look is wanted already
    with child("print(1)\nimport time\ntime.sleep(1000)") as late:
        assert identity(late.pid) in await seek(identity(os.getpid()))
    await earlier


async def test_many_are_stopped_at_once_each_with_its_own_family() -> None:  # lesson 18
    with ExitStack() as stack:
        parents = [stack.enter_context(child(FAMILY)) for _ in range(10)]
        async with AsyncExitStack() as watched:
            processes = [await watched.enter_async_context(Process(identity(each.pid))) for each in parents]
            kin = [await seek(each.identity) for each in processes[:-1]]
            spared = await seek(processes[-1].identity)
            await asyncio.gather(
                *(stop(process, own, patience=5) for process, own in zip(processes, kin, strict=False))
            )
            assert not any(each.lives() for own in kin for each in own)
            assert len([each for each in spared if each.lives()]) == 6
            end(*spared)
