"""Who holds the other end of a TCP connection."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from handraise.claude import connections
from handraise.claude.connections import FamilyCache, counts_each, may_hold
from handraise.claude.process import Identity

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")

CLIENT = """
import socket, sys
end = socket.socket(socket.AF_INET6 if sys.argv[3] == "wide" else socket.AF_INET)
end.connect((sys.argv[1], int(sys.argv[2])))
print("connected", flush=True)
sys.stdin.readline()
end.close()
print("closed", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def client_of(stack: ExitStack, listener: socket.socket, host: str, spelling: str) -> subprocess.Popen[bytes]:
    """A process two generations below ours that has connected."""
    port = str(listener.getsockname()[1])
    inner = [sys.executable, "-c", CLIENT, host, port, spelling]
    outer = f"import subprocess; subprocess.run({inner!r})"
    started = subprocess.Popen([sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stack.enter_context(started)
    assert started.stdout is not None
    assert started.stdout.readline() == b"connected\n"
    return started


def identity(pid: int) -> Identity:
    found = Identity.of(pid)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("listens", "host", "spelling"),
    [
        ("127.0.0.1", "127.0.0.1", "narrow"),
        ("127.0.0.1", "::ffff:127.0.0.1", "wide"),
        ("::", "127.0.0.1", "narrow"),
        ("::1", "::1", "wide"),
    ],
)
def test_a_process_and_what_descends_from_it_is_found_however_the_address_is_spelled(
    stack: ExitStack, listens: str, host: str, spelling: str
) -> None:
    wide = ":" in listens
    listener = stack.enter_context(
        socket.create_server(
            (listens, 0), family=socket.AF_INET6 if wide else socket.AF_INET, dualstack_ipv6=listens == "::"
        )
    )
    other = stack.enter_context(subprocess.Popen(["sleep", "100"]))
    stack.callback(other.kill)
    started = client_of(stack, listener, host, spelling)
    end, client = listener.accept()
    stack.enter_context(end)
    ends = (client[0], client[1]), (end.getsockname()[0], end.getsockname()[1])

    assert may_hold([identity(started.pid)], *ends)
    assert may_hold([identity(os.getpid())], *ends)
    assert not may_hold([identity(other.pid)], *ends)
    assert not may_hold([], *ends)

    # A client that has closed its end can't be identified.
    assert started.stdin is not None
    assert started.stdout is not None
    started.stdin.write(b"\n")
    started.stdin.flush()
    assert started.stdout.readline() == b"closed\n"
    assert may_hold([identity(other.pid)], *ends)
    started.communicate(b"\n")


def test_another_machine_is_not_suspected_and_an_unknown_end_on_this_one_is() -> None:
    server = ("127.0.0.1", 8420)
    assert not may_hold([identity(os.getpid())], ("192.0.2.1", 4711), server)
    assert may_hold([identity(os.getpid())], ("127.0.0.1", 1), server)
    assert may_hold([identity(os.getpid())], ("::1", 1), ("::1", 8420))


def test_the_family_is_searched_again_when_anything_was_started(stack: ExitStack) -> None:
    cache, ours = FamilyCache(), frozenset({identity(os.getpid())})
    count = connections._forks()
    assert count is not None
    alone = cache.family(ours, count)
    sleeper = stack.enter_context(subprocess.Popen(["sleep", "60"]))
    stack.callback(sleeper.kill)
    assert sleeper.pid not in alone
    # Only the count decides: it was another one before the process was started.
    assert cache.family(ours, count) is alone
    later = connections._forks()
    assert later is not None
    assert later > count
    assert sleeper.pid in cache.family(ours, later)


def test_the_family_is_searched_every_time_if_nobody_counts(stack: ExitStack) -> None:
    cache, ours = FamilyCache(), frozenset({identity(os.getpid())})
    cache.family(ours, None)
    sleeper = stack.enter_context(subprocess.Popen(["sleep", "60"]))
    stack.callback(sleeper.kill)
    assert sleeper.pid in cache.family(ours, None)


def test_another_ancestor_has_another_family(stack: ExitStack) -> None:
    cache = FamilyCache()
    sleeper = stack.enter_context(subprocess.Popen(["sleep", "60"]))
    stack.callback(sleeper.kill)
    assert cache.family(frozenset({identity(sleeper.pid)}), 7) == {sleeper.pid}
    assert os.getpid() in cache.family(frozenset({identity(os.getpid())}), 7)


@pytest.mark.parametrize("shown", [None, 0, 204_494])
def test_a_count_of_forks_that_stands_still_is_not_believed(shown: int | None) -> None:
    assert not counts_each(lambda: shown)


def test_a_count_that_includes_every_start_is_believed() -> None:
    assert counts_each(connections._counted) == (connections._forks() is not None)
