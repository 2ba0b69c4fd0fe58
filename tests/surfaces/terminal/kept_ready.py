"""The process behind `ready.py`: our command with everything imported. It forks for each one that is needed.

Each child has the requested arguments, environment, directory and descriptors, and exits like any program.
"""

import array
import gc
import json
import os
import select
import signal
import socket
import sys
from typing import Any

import prompt_toolkit.key_binding.bindings.search
import prompt_toolkit.patch_stdout
import prompt_toolkit.shortcuts

import handraise.cli.hub_settings
import handraise.cli.interactive
import handraise.cli.interactive_session
import handraise.cli.main
import handraise.cli.ps
import handraise.cli.serve
import handraise.cli.watching
import handraise.serving.logs
import handraise.serving.serve
import handraise.surfaces.terminal.plain
import handraise.surfaces.terminal.screen
from handraise.cli.entry import main

IMPORTED = (handraise, prompt_toolkit)
LARGEST = 1_000_000


def serve(ours: socket.socket) -> None:
    """Returns in each child, ready to be the command; in this process it ends when nobody can request any more."""
    heard, text = os.pipe()
    os.set_blocking(text, False)
    signal.set_wakeup_fd(text)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    listening: dict[int, int] = {}
    gc.freeze()
    while True:
        ready, _, _ = select.select([ours.fileno(), heard], [], [])
        if heard in ready:
            os.read(heard, 4096)
            bury(listening)
        if ours.fileno() in ready:
            wish, files = receive(ours)
            if not files:
                sys.exit()
            *standard, listener = files
            child = os.fork()
            if not child:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                become(wish, standard)
                return
            listening[child] = listener
            for file in standard:
                os.close(file)
            os.write(listener, b"%d\n" % child)


def receive(ours: socket.socket) -> tuple[Any, list[int]]:
    room = socket.CMSG_SPACE(4 * array.array("i").itemsize)
    text, extra, _, _ = ours.recvmsg(LARGEST, room)
    files = array.array("i")
    for _, _, data in extra:
        files.frombytes(data)
    return json.loads(text or b"null"), list(files)


def bury(listening: dict[int, int]) -> None:
    """Reports how each child exited."""
    while listening:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            return
        listener = listening.pop(child)
        try:
            os.write(listener, b"%d\n" % os.waitstatus_to_exitcode(status))
        except BrokenPipeError:
            pass  # nobody is listening
        os.close(listener)


def become(wish: dict[str, Any], standard: list[int]) -> None:
    os.setsid()
    for number, file in enumerate(standard):
        os.dup2(file, number)
    os.closerange(3, 1024)
    if os.isatty(0):
        os.login_tty(os.dup(0))
    os.chdir(wish["cwd"])
    os.environ.clear()
    os.environ.update(wish["environment"])
    command = wish["command"]
    if command[:3] != [sys.executable, "-m", "handraise"]:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvp(command[0], command)
    sys.argv = command[2:]
    # As Python opens them at startup.
    sys.stdin = open(0, errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
    main()
