"""System calls that Python doesn't offer. Uses only the standard library, in the launcher; decides nothing."""

from __future__ import annotations

import ctypes
import errno
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

CLONE_PARENT = 0x00008000
CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_SLAVE = 0x80000

CAP_SYS_PTRACE = 19
CAP_SYS_ADMIN = 21
LAST_CAPABILITY = 63

PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_CAPABILITIES_3 = 0x20080522
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_ATTR_RDONLY = 0x1
_CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220}
_PIDFD_GETFD = 438
_MOUNT_SETATTR = 442
_LIBC = ctypes.CDLL(None, use_errno=True)


class Attributes(ctypes.Structure):
    """`struct mount_attr`."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd")]


def clone(flags: int) -> int:
    """Forks into new namespaces: 0 in the child. Only for a process with one thread."""
    number = _CLONE.get(os.uname().machine)
    if number is None:
        raise OSError(f"clone isn't supported on {os.uname().machine}")
    return _checked(_LIBC.syscall(number, ctypes.c_ulong(flags), None, None, None, None), "clone")


def unshare(flags: int) -> None:
    _checked(_LIBC.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [None if each is None else os.fsencode(each) for each in (source, target, kind, options)]
    _checked(_LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]), f"mount {target}")


def set_read_only(path: str, *, read_only: bool, below: bool) -> None:
    """For the mount at `path`, and all mounts `below` it."""
    wanted = Attributes(_ATTR_RDONLY, 0, 0, 0) if read_only else Attributes(0, _ATTR_RDONLY, 0, 0)
    flags = _AT_RECURSIVE if below else 0
    called = _LIBC.syscall(
        _MOUNT_SETATTR, _AT_FDCWD, os.fsencode(path), flags, ctypes.byref(wanted), ctypes.sizeof(wanted)
    )
    _checked(called, f"mount_setattr {path}")


def drop_capability(number: int) -> bool:
    """Removes it from what a later program can get; False if there is no such capability."""
    return bool(_LIBC.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) == 0)


def become_undumpable() -> None:
    """From here on, nobody without privileges can trace this process or open its files."""
    _checked(_LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl")


def give_up_capabilities() -> None:
    """Drops all capabilities of this process."""
    header, none = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()
    _checked(_LIBC.capset(header, none), "capset")


def socket(domain: int, kind: int, protocol: int) -> int:
    return _checked(_LIBC.socket(*map(ctypes.c_int, (domain, kind, protocol))), "socket")


def ioctl(file: int, request: int, argument: object) -> int:
    return _checked(_LIBC.ioctl(file, ctypes.c_ulong(request), argument), "ioctl")


def call(number: int, name: str, *arguments: object) -> int:
    """A system call without a wrapper."""
    return _checked(_LIBC.syscall(number, *arguments), name)


def take_file(pidfd: int, number: int) -> int | None:
    """A copy of a file that another process has open; None if it has none with this number."""
    result = int(_LIBC.syscall(_PIDFD_GETFD, pidfd, number, 0))
    if result == -1 and ctypes.get_errno() != errno.EBADF:
        _fail("pidfd_getfd")
    return None if result == -1 else result


def ptrace(request: int, pid: int, address: int = 0, argument: object = None) -> int:
    _LIBC.ptrace.restype = ctypes.c_long
    ctypes.set_errno(0)
    result = _LIBC.ptrace(ctypes.c_long(request), ctypes.c_long(pid), ctypes.c_void_p(address), argument)
    if result == -1 and ctypes.get_errno():
        _fail("ptrace")
    return int(result)


def _checked(result: int, what: str) -> int:
    if result == -1:
        _fail(what)
    return result


def _fail(what: str) -> NoReturn:
    number = ctypes.get_errno()
    raise OSError(number, f"{what}: {os.strerror(number)}")
