"""Gives one process the network outside, from a network namespace that all it starts shares with it and cannot leave.

Claude and all that it starts live in a namespace that has only its own loopback. A seccomp filter holds each call of
`socket` in there until the first process, which has the network, has decided: Claude gets a socket of the network
outside, for everything else the call goes on as it is. Nothing depends on what the filter may miss (io_uring, calls of
other processors' kinds): without the broker there is only the namespace. Runs in the launcher.
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
"""Since Linux 5.19: a signal does not break a call off that is being answered."""
_RET_ALLOW, _RET_USER_NOTIF = 0x7FFF0000, 0x7FC00000
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
# Where `struct seccomp_data` has the number of the call, the kind of processor, and the first argument's lower half.
_NR, _ARCH, _ARGS = 0, 4, 16
_NOTIF_RECV, _NOTIF_SEND, _NOTIF_ADDFD = 0xC0502100, 0xC0182101, 0x40182103
_CONTINUE = 1 << 0
_ADDFD_SEND = 1 << 1


class _Numbers:
    """What one kind of processor calls itself and the system calls that matter here."""

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
    """`struct seccomp_notif`: a process that waits in its call."""

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
    """Made by the first process, before it starts Claude's."""

    def __init__(self) -> None:
        self._sealed, self._has_sealed = os.pipe()
        self._listener = -1

    def seal(self) -> bool:
        """In Claude's process: takes the network from it and all that it will start. Says to the first if it cannot."""
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
        """Takes the file by which calls are answered; its other copy is closed when Claude is executed."""
        os.close(self._has_sealed)
        text = os.read(self._sealed, 4096)
        if not text.isdigit():
            raise OSError(text.decode(errors="replace") or "the process ended before it had no network")
        pidfd = os.pidfd_open(claude)
        listener = syscalls.take_file(pidfd, int(text))
        os.close(pidfd)
        if listener is None:
            raise OSError("there is no way to answer what has no network")
        self._listener = listener

    def keep(self) -> int:
        """Moves that file before all others; gives the number of the first that is not needed."""
        self._listener = os.dup2(self._listener, 0)
        return 1

    def serve_beside(self, claude: int) -> None:
        """In a thread that no signal reaches: they are for the one that waits."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        _thread.start_new_thread(_serve, (self._listener, claude))
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _seal() -> int:
    numbers = _BY_MACHINE.get(os.uname().machine)
    if numbers is None:
        raise OSError(f"the network cannot be taken away on {os.uname().machine}")
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
    """Answers calls for as long as there are any. When this ends, no more sockets are made in there."""
    try:
        while True:
            call = _Call()
            try:
                syscalls.ioctl(listener, _NOTIF_RECV, ctypes.byref(call))
                _answer(listener, call, claude)
            except OSError as error:
                # Whoever called has ended, or a signal came for it.
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
        # There is no such socket, or Claude has as many files as it may. If Claude has ended, this fails as well.
        syscalls.ioctl(listener, _NOTIF_SEND, ctypes.byref(_Reply(call.id, 0, -(error.errno or errno.EACCES), 0)))


def _give(listener: int, call: _Call) -> None:
    made = syscalls.socket(*call.arguments[:3])
    try:
        # Always closed on exec, whatever Claude said: nothing that it starts is to get one.
        syscalls.ioctl(listener, _NOTIF_ADDFD, ctypes.byref(_File(call.id, _ADDFD_SEND, made, 0, os.O_CLOEXEC)))
    finally:
        os.close(made)


def _is_of(thread: int, process: int) -> bool:
    """Nobody else can have its number while it waits in its call. Once it does not, no answer reaches it."""
    return os.path.exists(f"/proc/{process}/task/{thread}")


def _filter(numbers: _Numbers) -> ctypes.Array[_Instruction]:
    """Every call goes on, but for `socket`; and that does where it has nothing to do with a network."""
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
