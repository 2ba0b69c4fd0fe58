"""Gives Claude's process network access from a namespace without any, which its children share and can't leave.

Claude and everything it starts run in a network namespace with only a loopback. A seccomp filter holds each `socket`
call until the first process, which has the network, decides: Claude itself gets a socket from the host's network;
every other call continues in the namespace. Security doesn't depend on what the filter may miss (io_uring, calls of
other architectures): without the broker there is only the namespace. Runs in the launcher.
"""

from __future__ import annotations

import _thread
import ctypes
import errno
import os

from handraise.claude import syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # as in the launcher

_AF_UNIX, _AF_INET, _SOCK_DGRAM = 1, 2, 2
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1

_SECCOMP_SET_MODE_FILTER = 1
_NEW_LISTENER = 1 << 3
_WAIT_KILLABLE_RECV = 1 << 5
"""Since Linux 5.19: a signal doesn't interrupt a call that is being answered."""
_RET_ALLOW, _RET_USER_NOTIF = 0x7FFF0000, 0x7FC00000
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
# Offsets in `struct seccomp_data`: system call number, architecture, and the lower half of the first argument.
_NR, _ARCH, _ARGS = 0, 4, 16
_NOTIF_RECV, _NOTIF_SEND, _NOTIF_ADDFD = 0xC0502100, 0xC0182101, 0x40182103
_CONTINUE = 1 << 0
_ADDFD_SEND = 1 << 1


class _Numbers:
    """An architecture's identifier and the system call numbers used here."""

    def __init__(self, arch: int, socket: int, seccomp: int) -> None:
        self.arch = arch
        """`AUDIT_ARCH_…`."""
        self.socket = socket
        self.seccomp = seccomp


_BY_MACHINE = {"x86_64": _Numbers(0xC000003E, 41, 317), "aarch64": _Numbers(0xC00000B7, 198, 277)}


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction))]


class _Call(ctypes.Structure):
    """`struct seccomp_notif`: a process blocked in its call."""

    _fields_ = [
        ("id", ctypes.c_uint64),
        ("pid", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("number", ctypes.c_int32),
        ("kind", ctypes.c_uint32),
        ("instruction", ctypes.c_uint64),
        ("arguments", ctypes.c_uint64 * 6),
    ]


class _Reply(ctypes.Structure):
    """`struct seccomp_notif_resp`."""

    _fields_ = [
        ("id", ctypes.c_uint64),
        ("value", ctypes.c_int64),
        ("error", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
    ]


class _File(ctypes.Structure):
    """`struct seccomp_notif_addfd`."""

    _fields_ = [
        ("id", ctypes.c_uint64),
        ("flags", ctypes.c_uint32),
        ("source", ctypes.c_uint32),
        ("number", ctypes.c_uint32),
        ("file_flags", ctypes.c_uint32),
    ]


class Broker:
    """Created by the first process, before it starts Claude's."""

    def __init__(self) -> None:
        self._sealed, self._has_sealed = os.pipe()
        self._listener = -1

    def seal(self) -> bool:
        """Runs in Claude's process: cuts its network and its children's. Reports failure to the first process."""
        os.close(self._sealed)
        try:
            listener = _seal()
        except OSError as error:
            os.write(self._has_sealed, str(error.strerror or error).encode())
            return False
        os.write(self._has_sealed, str(listener).encode())
        os.close(self._has_sealed)
        return True

    def listen(self, claude: int) -> None:
        """Takes over the file that answers calls; the other copy closes when Claude is executed."""
        os.close(self._has_sealed)
        text = os.read(self._sealed, 4096)
        if not text.isdigit():
            raise OSError(text.decode(errors="replace") or "the process exited before its network was isolated")
        pidfd = os.pidfd_open(claude)
        listener = syscalls.take_file(pidfd, int(text))
        os.close(pidfd)
        if listener is None:
            raise OSError("the network broker could not attach")
        self._listener = listener

    def keep(self) -> int:
        """Moves that file to descriptor 0; returns the first descriptor that isn't needed."""
        self._listener = os.dup2(self._listener, 0)
        return 1

    def serve_beside(self, claude: int) -> None:
        """Runs in a thread with signals blocked: the waiting thread handles them."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        _thread.start_new_thread(_serve, (self._listener, claude))
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _seal() -> int:
    numbers = _BY_MACHINE.get(os.uname().machine)
    if numbers is None:
        raise OSError(f"network isolation isn't supported on {os.uname().machine}")
    syscalls.unshare(syscalls.CLONE_NEWNET)
    _loopback_up()
    instructions = _filter(numbers)
    program = _Program(len(instructions), instructions)
    try:
        return _install(numbers, program, _NEW_LISTENER | _WAIT_KILLABLE_RECV)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return _install(numbers, program, _NEW_LISTENER)


def _install(numbers: _Numbers, program: _Program, flags: int) -> int:
    return syscalls.call(numbers.seccomp, "seccomp", _SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(program))


def _serve(listener: int, claude: int) -> None:
    """Answers calls while there are any. When this ends, no more sockets are created in the namespace."""
    try:
        while True:
            call = _Call()
            try:
                syscalls.ioctl(listener, _NOTIF_RECV, ctypes.byref(call))
                _answer(listener, call, claude)
            except OSError as error:
                # The caller has exited, or got a signal.
                if error.errno not in (errno.ENOENT, errno.EINTR, errno.EINPROGRESS):
                    raise
    finally:
        os.close(listener)


def _answer(listener: int, call: _Call, claude: int) -> None:
    if not _is_of(call.pid, claude):
        syscalls.ioctl(listener, _NOTIF_SEND, ctypes.byref(_Reply(call.id, 0, 0, _CONTINUE)))
        return
    try:
        _give(listener, call)
    except OSError as error:
        # No such socket, or Claude has too many open files. If Claude has exited, this fails too.
        syscalls.ioctl(listener, _NOTIF_SEND, ctypes.byref(_Reply(call.id, 0, -(error.errno or errno.EACCES), 0)))


def _give(listener: int, call: _Call) -> None:
    made = syscalls.socket(*call.arguments[:3])
    try:
        # Always close-on-exec, whatever Claude asked for: its children must not inherit it.
        syscalls.ioctl(listener, _NOTIF_ADDFD, ctypes.byref(_File(call.id, _ADDFD_SEND, made, 0, os.O_CLOEXEC)))
    finally:
        os.close(made)


def _is_of(thread: int, process: int) -> bool:
    """Its thread ID can't be reused while it is blocked in its call. After that, no answer reaches it."""
    return os.path.exists(f"/proc/{process}/task/{thread}")


def _filter(numbers: _Numbers) -> ctypes.Array[_Instruction]:
    """Allows every call but `socket`, and that one for Unix sockets."""
    steps = (
        (_LOAD, 0, 0, _ARCH),
        (_JUMP_IF_EQUAL, 0, 5, numbers.arch),
        (_LOAD, 0, 0, _NR),
        (_JUMP_IF_EQUAL, 0, 3, numbers.socket),
        (_LOAD, 0, 0, _ARGS),
        (_JUMP_IF_EQUAL, 1, 0, _AF_UNIX),
        (_RETURN, 0, 0, _RET_USER_NOTIF),
        (_RETURN, 0, 0, _RET_ALLOW),
    )
    return (_Instruction * len(steps))(*(_Instruction(*each) for each in steps))


def _loopback_up() -> None:
    request = ctypes.create_string_buffer(b"lo".ljust(16, b"\0") + _IFF_UP.to_bytes(2, "little"), 40)
    made = syscalls.socket(_AF_INET, _SOCK_DGRAM, 0)
    try:
        syscalls.ioctl(made, _SIOCSIFFLAGS, request)
    finally:
        os.close(made)
