"""Keeps a newly executed program from being traced by its own children. Runs in the launcher.

A process that may trace Claude can reopen its stdin (`/proc/PID/fd/0`) and answer in a person's name. A program that
is not *dumpable* can't be traced without privileges. But exec makes a program dumpable again, and only the program
itself can change that. So Claude is stopped at its first instruction, made to do so, and released.
"""

import ctypes
import os
import struct

from handraise.claude import syscalls

_SEIZE = 0x4206
_DETACH = 17
_SYSCALL = 24
_PEEK, _POKE = 1, 4
_GETREGSET, _SETREGSET = 0x4204, 0x4205
_GENERAL = 1
_OPTIONS = 0x1 | 0x10 | 0x100000
"""Tell system calls from signals, stop when a program is executed, and kill the traced process if we die."""
_EXECUTED = 5 | 4 << 8
_ALL = 0x40000000


class Processor:
    """How to make a process on this architecture do a system call."""

    def __init__(self, code: bytes, counter: int, where: dict[int, int], result: int, prctl: int) -> None:
        self.code = code
        self.counter = counter
        """The program counter's register."""
        self.where = where
        """Registers to set before the call, by position."""
        self.result = result
        self.prctl = prctl


# Registers in the order of the kernel's `user_regs_struct`.
_RAX, _RSI, _RDI, _ORIG_RAX, _RIP = 10, 13, 14, 15, 16
_X0, _X1, _X8, _PC = 0, 1, 8, 32
_PROCESSORS = {
    "x86_64": Processor(
        b"\x0f\x05", _RIP, {_RAX: 157, _ORIG_RAX: -1, _RDI: syscalls.PR_SET_DUMPABLE, _RSI: 0}, _RAX, 157
    ),
    "aarch64": Processor(b"\x01\x00\x00\xd4", _PC, {_X8: 167, _X0: syscalls.PR_SET_DUMPABLE, _X1: 0}, _X0, 167),
}


class _Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def hold(pid: int) -> None:
    """The process will stop at the first instruction of what it executes, and die if we do."""
    if os.uname().machine not in _PROCESSORS:
        raise OSError(f"shielding isn't supported on {os.uname().machine}")
    syscalls.ptrace(_SEIZE, pid, 0, ctypes.c_void_p(_OPTIONS))


def shield(pid: int) -> bool:
    """Waits until the program is executed, shields it and releases it; False if it never was."""
    while True:
        _, status = os.waitpid(pid, _ALL)
        if not os.WIFSTOPPED(status):
            return False
        if status >> 8 == _EXECUTED:
            break
        signal = status >> 8 & 0x7F if status >> 16 == 0 else 0
        syscalls.ptrace(7, pid, 0, ctypes.c_void_p(signal))
    _to_system_call(pid)  # the end of the exec itself
    _say_not_dumpable(pid, _PROCESSORS[os.uname().machine])
    syscalls.ptrace(_DETACH, pid)
    return True


def _say_not_dumpable(pid: int, processor: Processor) -> None:
    before = _registers(pid)
    at = before[processor.counter]
    word = syscalls.ptrace(_PEEK, pid, at)
    original = word & 0xFFFFFFFFFFFFFFFF
    changed = processor.code + struct.pack("<Q", original)[len(processor.code) :]
    syscalls.ptrace(_POKE, pid, at, ctypes.c_void_p(struct.unpack("<Q", changed)[0]))
    wanted = list(before)
    for place, value in processor.where.items():
        wanted[place] = value & 0xFFFFFFFFFFFFFFFF
    _set_registers(pid, wanted)
    _to_system_call(pid)
    _to_system_call(pid)
    result = _registers(pid)[processor.result]
    if result:
        raise OSError("the program could not be shielded")
    syscalls.ptrace(_POKE, pid, at, ctypes.c_void_p(original))
    _set_registers(pid, before)


def _to_system_call(pid: int) -> None:
    """To the start or the end of the next system call."""
    syscalls.ptrace(_SYSCALL, pid)
    _, status = os.waitpid(pid, _ALL)
    if not os.WIFSTOPPED(status):
        raise OSError("the program exited before it was shielded")


def _registers(pid: int) -> list[int]:
    buffer = ctypes.create_string_buffer(1024)
    vector = _Vector(ctypes.addressof(buffer), len(buffer))
    syscalls.ptrace(_GETREGSET, pid, _GENERAL, ctypes.byref(vector))
    return list(struct.unpack(f"<{vector.length // 8}Q", buffer.raw[: vector.length]))


def _set_registers(pid: int, values: list[int]) -> None:
    buffer = ctypes.create_string_buffer(struct.pack(f"<{len(values)}Q", *values))
    vector = _Vector(ctypes.addressof(buffer), 8 * len(values))
    syscalls.ptrace(_SETREGSET, pid, _GENERAL, ctypes.byref(vector))
