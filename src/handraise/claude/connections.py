"""Finds the local process at the other end of a TCP connection. Where the system doesn't say, assumes the worst."""

import functools
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from threading import Thread

from handraise.claude import syscalls
from handraise.claude.launcher import boot
from handraise.claude.process import Identity, open_pidfd
from handraise.claude.socket_diag import find_owner

Address = tuple[str, int]

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_USER, _INODE = 4, 6
"""Their positions in a line, after both addresses."""
_STATE, _PARENT, _BEGAN = 0, 1, 19
"""Their positions in a process's stat, after its name."""
_LONGEST = 4096


def may_hold(ancestors: Collection[Identity], client: Address, server: Address) -> bool:
    """Whether one of these processes or their descendants may be the client of this connection to our server.

    Never true for another machine or another user. Only Linux can tell; elsewhere no one is suspected.
    """
    if sys.platform != "linux" or not ancestors:
        return False
    found = _owner(client, server)
    if found is None:
        return ip_address(client[0]).is_loopback
    user, inode = found
    if inode == 0:
        return True  # already closed by the client
    if user != os.geteuid():
        return False
    return any(_has_open(pid, inode) for pid in _last.family(frozenset(ancestors), _forks()))


class FamilyCache:
    """The family that was found last. While nothing on this machine has forked since, nobody can be missing in it.

    Whoever is in it stays in it: a process that has exited holds nothing, and only a fork could reuse its pid.
    """

    def __init__(self) -> None:
        self._found: tuple[frozenset[Identity], int, frozenset[int]] | None = None

    def family(self, ancestors: frozenset[Identity], forks: int | None) -> frozenset[int]:
        """`forks` was read before this call: a fork during the search makes the next one search again."""
        found = self._found
        if found is not None and forks is not None and found[:2] == (ancestors, forks):
            return found[2]
        family = frozenset(_family(ancestors))
        self._found = None if forks is None else (ancestors, forks, family)
        return family


_last = FamilyCache()


def _forks() -> int | None:
    """How many processes and threads were ever started; None if the system doesn't say so reliably."""
    return _counted() if _is_counted() else None


def _counted() -> int | None:
    try:
        text = Path("/proc/stat").read_bytes()
        return int(text.partition(b"\nprocesses ")[2].split(maxsplit=1)[0])
    except (OSError, IndexError, ValueError):
        return None


@functools.cache
def _is_counted() -> bool:
    return counts_each(_counted)


def counts_each(count: Callable[[], int | None]) -> bool:
    """Whether it includes what was just started. Some sandboxes and containers show a fixed or an old number."""
    before = count()
    started = Thread(target=int)
    started.start()
    started.join()
    after = count()
    return before is not None and after is not None and after > before


def _family(ancestors: Collection[Identity]) -> set[int]:
    """Their pids, and those of the processes below the running ones. Every process is looked at once."""
    now, children, queue = boot(), defaultdict[int, list[int]](list), list[int]()
    known = {each.pid: each for each in ancestors}
    for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
        fields = _stat(pid)
        if fields:
            children[int(fields[_PARENT])].append(pid)
            ancestor = known.get(pid)
            lives = fields[_STATE] not in (b"Z", b"X")
            if ancestor is not None and lives and (ancestor.started, ancestor.boot) == (fields[_BEGAN].decode(), now):
                queue.append(pid)
    family = set(known)
    while queue:
        below = children.pop(queue.pop(), [])
        family.update(below)
        queue += below
    return family


def _stat(pid: int) -> list[bytes]:
    """What /proc says about a process, after its name; nothing if it has exited."""
    try:
        # Without a file object: this is done for every process of the machine, for each new connection.
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        return os.read(file, _LONGEST).rpartition(b")")[2].split()
    except OSError:
        return []
    finally:
        os.close(file)


def _owner(client: Address, server: Address) -> tuple[int, int] | None:
    """The user and inode of the client's end; None if it isn't on this machine."""
    with suppress(OSError):
        found = find_owner(client, server)
        if found is not None:
            return found
    for table in _TABLES:
        try:
            lines = table.read_bytes()
        except OSError:
            continue
        for ends in _spellings(client, server):
            _, there, rest = lines.partition(ends)
            if there:
                words = rest.split(b"\n", 1)[0].split()
                return int(words[_USER]), int(words[_INODE])
    return None


def _spellings(client: Address, server: Address) -> Iterable[bytes]:
    """Both ends as the kernel writes them: groups of four bytes, each in reverse order."""
    for wide in (False, True):
        ends = [_spelled(each, wide=wide) for each in (client, server)]
        if None not in ends:
            yield f" {ends[0]} {ends[1]} ".encode()


def _spelled(end: Address, *, wide: bool) -> str | None:
    address = ip_address(end[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if isinstance(address, IPv4Address) and wide:
        address = IPv6Address(f"::ffff:{address}")
    elif isinstance(address, IPv6Address) and not wide:
        return None
    packed = address.packed
    groups = [packed[place : place + 4][::-1] for place in range(0, len(packed), 4)]
    return f"{b''.join(groups).hex().upper()}:{end[1]:04X}"


def _has_open(pid: int, inode: int) -> bool:
    wanted = f"socket:[{inode}]"
    try:
        with os.scandir(f"/proc/{pid}/fd") as entries:
            return any(_target(entry.path) == wanted for entry in entries)
    except FileNotFoundError:
        return False  # it has exited
    except PermissionError:
        return _has_open_by_number(pid, inode)
    except OSError:
        return True


def _has_open_by_number(pid: int, inode: int) -> bool:
    """For a Claude that can't be inspected: we own its namespace, so we may duplicate its open files."""
    pidfd = open_pidfd(pid)
    if pidfd is None:
        return False  # it has exited
    try:
        with open(f"/proc/{pid}/status") as status:
            size = next(int(line.split()[1]) for line in status if line.startswith("FDSize:"))
        return any(_is_inode(syscalls.take_file(pidfd, number), inode) for number in range(size))
    except (OSError, StopIteration):
        return True
    finally:
        os.close(pidfd)


def _is_inode(file: int | None, inode: int) -> bool:
    if file is None:
        return False
    try:
        return os.fstat(file).st_ino == inode
    finally:
        os.close(file)


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
