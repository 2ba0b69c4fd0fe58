"""Starts our command in its own process, without the half second that Python needs to import it each time.

One process per test worker has everything imported, and forks. The tests with a shell, and those in `tests/cli`, check
that the command also starts from scratch.
"""

import array
import asyncio
import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from handraise.claude.process import Identity

KEPT = Path(__file__).with_name("kept_ready.py")


class Started:
    """The running command; `code` once it has exited, negative for a signal."""

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self.code: int | None = None
        self._status = status
        self._identity = Identity.of(pid)

    async def wait(self) -> int:
        if self.code is None:
            self.code = await asyncio.to_thread(_number, self._status)
            os.close(self._status)
        return self.code

    def send_signal(self, number: signal.Signals) -> None:
        """If it still runs. Others reap it, and its number may soon be another process's."""
        if self.code is None and self._identity is not None:
            self._identity.signal(number)

    async def kill(self) -> None:
        """If it still runs."""
        self.send_signal(signal.SIGKILL)
        await self.wait()


async def start(command: Sequence[str], environment: Mapping[str, str], cwd: str, files: Sequence[int]) -> Started:
    """`files` are its standard input, output and error. If the first is a terminal, it becomes the controlling one.

    Anything but our command is executed as usual.
    """
    status, text = os.pipe()
    wish = {"command": command, "environment": dict(environment), "cwd": cwd}
    passed = array.array("i", [*files, text])
    _kept().sendmsg([json.dumps(wish).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)])
    os.close(text)
    return Started(await asyncio.to_thread(_number, status), status)


def _number(status: int) -> int:
    """The next number reported: first the process, then how it exited."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(status, 1)
        if not piece:
            raise AssertionError("the process that is kept ready has ended")
        line += piece
    return int(line)


@functools.cache
def _kept() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", str(KEPT), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LANG": "C.UTF-8"},
        )

    def end() -> None:
        ours.close()
        process.wait(60)

    atexit.register(end)
    return ours
