"""A program of ours in Claude's place, sealed: it has the network, and nothing that it starts has."""

import asyncio
import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude.test_claude import lines
from claude.test_namespaces import running, status
from handraise.claude import sandbox_support

# `reaches` and `of_child` are what the programs below are made of; each says one line of JSON and stays.
COMMON = """
import ctypes, errno, fcntl, json, os, socket, subprocess, sys, threading
PORT = {port}

def reaches(address=("127.0.0.1", PORT)):
    try:
        socket.create_connection(address, 20).close()
        return True
    except OSError as error:
        return error.strerror

def of_child(what):
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.write(write, json.dumps(what()).encode())
        os._exit(0)
    os.close(write)
    said = json.load(os.fdopen(read))
    os.waitpid(child, 0)
    return said

def of_thread(what):
    said = []
    thread = threading.Thread(target=lambda: said.append(what()))
    thread.start()
    thread.join()
    return said[0]

def say(value):
    print(json.dumps(value), flush=True)
    os.read(0, 1)
"""


@pytest.fixture(autouse=True)
def sandboxed() -> None:
    if missing := asyncio.run(sandbox_support.look()).missing:
        pytest.skip(f"no sandbox can be made here: {missing}")


@pytest.fixture
def outside() -> Iterator[int]:
    """A port of the network outside."""
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as listener:
        yield listener.getsockname()[1]


async def output_of(tmp_path: Path, port: int, source: str) -> Any:
    async with running(tmp_path, COMMON.format(port=port) + source, "sealed") as (_, there):
        return json.loads((await lines(there, 1))[0])


async def test_it_reaches_the_network_and_its_children_do_not(tmp_path: Path, outside: int) -> None:
    found = await output_of(
        tmp_path,
        outside,
        """
executed = subprocess.run([sys.executable, "-c", f"import socket; socket.create_connection(('127.0.0.1', {PORT}), 20)"],
    stderr=subprocess.PIPE, text=True).stderr.splitlines()[-1]
say({"itself": reaches(), "a thread": of_thread(reaches), "a child": of_child(reaches),
    "a child of a thread": of_thread(lambda: of_child(reaches)), "of a child": of_child(lambda: of_child(reaches)),
    "a thread of a child": of_child(lambda: of_thread(reaches)), "a program": executed})
""",
    )
    assert found.pop("itself") is True
    assert found.pop("a thread") is True
    assert {each.rpartition("] ")[2] for each in found.values()} == {"Connection refused"}


async def test_what_no_filter_sees_is_in_the_namespace_as_well(tmp_path: Path, outside: int) -> None:
    """Calls of io_uring, or of another processor's kind, pass the filter; they cannot pass the namespace."""
    found = await output_of(
        tmp_path,
        outside,
        'where = lambda: os.readlink("/proc/self/ns/net")\nsay([where(), of_child(where), socket.if_nameindex()])',
    )
    ours = os.readlink("/proc/self/ns/net")
    assert found[0] == found[1] != ours
    # Those of the network outside: it is asked by a socket.
    assert [name for _, name in found[2]] == [name for _, name in socket.if_nameindex()]


async def test_its_children_have_a_loopback_of_their_own(tmp_path: Path, outside: int) -> None:
    source = """
def loops():
    found = []
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.create_server((host, 0), family=family) as server:
            found.append(reaches(server.getsockname()[:2]))
    return [*found, [name for _, name in socket.if_nameindex()]]
say(of_child(loops))
"""
    assert await output_of(tmp_path, outside, source) == [True, True, ["lo"]]


async def test_an_abstract_socket_outside_is_not_there(tmp_path: Path, outside: int) -> None:
    name = f"handraise-{os.getpid()}"
    source = f"""
def knocks():
    with socket.socket(socket.AF_UNIX) as made:
        return os.strerror(made.connect_ex("\\0{name}"))
say([knocks(), of_child(knocks)])
"""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        assert await output_of(tmp_path, outside, source) == ["Connection refused"] * 2


async def test_nothing_inherits_its_sockets(tmp_path: Path, outside: int) -> None:
    source = """
made = ctypes.CDLL(None).socket(socket.AF_INET, socket.SOCK_STREAM, 0)
say(fcntl.fcntl(made, fcntl.F_GETFD) & fcntl.FD_CLOEXEC)
"""
    assert await output_of(tmp_path, outside, source) == 1


async def test_a_socket_is_as_it_was_asked_for(tmp_path: Path, outside: int) -> None:
    source = """
def fails(*words):
    try:
        socket.socket(*words)
    except OSError as error:
        return error.errno
made = [socket.socket(socket.AF_INET6, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK), socket.socket(socket.AF_UNIX)]
say([[str(each.family), str(each.type), each.getblocking()] for each in made]
    + [fails(socket.AF_INET, 77), fails(250, socket.SOCK_STREAM), of_child(lambda: fails(socket.AF_INET, 77))])
"""
    assert await output_of(tmp_path, outside, source) == [
        [str(int(socket.AF_INET6)), str(int(socket.SOCK_DGRAM)), False],
        [str(int(socket.AF_UNIX)), str(int(socket.SOCK_STREAM)), True],
        *failures(),
    ]


def failures() -> list[int | None]:
    """The same calls, outside."""
    found = []
    for words in ((socket.AF_INET, 77), (250, socket.SOCK_STREAM), (socket.AF_INET, 77)):
        with pytest.raises(OSError, match=r"not supported|Invalid") as error:
            socket.socket(*words)
        found.append(error.value.errno)
    return found


async def test_many_at_a_time_and_killed_ones_get_what_is_theirs(tmp_path: Path, outside: int) -> None:
    source = """
import signal, time
read, write = os.pipe()
killed = []
for _ in range(8):
    if (child := os.fork()) == 0:
        while True:
            socket.socket().close()
    killed.append(child)
asking = []
for _ in range(8):
    if (child := os.fork()) == 0:
        os.write(write, b"x" if any(reaches() is True for _ in range(20)) else b"-")
        os._exit(0)
    asking.append(child)
threads = [threading.Thread(target=lambda: os.write(write, b"+" if all(reaches() is True for _ in range(20)) else b"x"))
    for _ in range(8)]
for each in threads:
    each.start()
for each in killed:
    os.kill(each, signal.SIGKILL)
    os.waitpid(each, 0)
for each in threads:
    each.join()
for each in asking:
    os.waitpid(each, 0)
say("".join(sorted(os.read(read, 100).decode())))
"""
    assert await output_of(tmp_path, outside, source) == "+" * 8 + "-" * 8


async def test_as_many_files_as_it_may_have_are_an_error_and_not_the_end(tmp_path: Path, outside: int) -> None:
    source = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))
made, failed = [], []
for _ in range(40):
    try:
        made.append(socket.socket())
    except OSError as error:
        failed.append(error.errno)
del made[:]
say([set(failed) == {errno.EMFILE}, reaches(), of_child(reaches)])
"""
    assert await output_of(tmp_path, outside, source) == [True, True, "Connection refused"]


async def test_the_first_process_holds_only_what_it_answers_by(tmp_path: Path, outside: int) -> None:
    del outside
    async with running(tmp_path, "import os\nprint(1, flush=True)\nos.read(0, 1)\n", "sealed") as (_, there):
        await lines(there, 1)
        first = there.process.identity.pid
        [held] = os.listdir(f"/proc/{first}/fd")
        assert os.readlink(f"/proc/{first}/fd/{held}") == "anon_inode:seccomp notify"
        for thread in os.listdir(f"/proc/{first}/task"):
            found = status(int(thread))
            assert {int(found[each], 16) for each in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}


async def test_sigterm_reaches_the_program(tmp_path: Path) -> None:
    source = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print(1, flush=True)
signal.pause()
"""
    async with running(tmp_path, source, "sealed") as (_, there):
        await lines(there, 1)
        there.process.identity.signal(signal.SIGTERM)
        await there.ended.wait()
        assert there.process.exit_code == 7
