"""Becomes Claude. Uses only the standard library: records which process it is, then executes the CLI.

The record is written by the process itself, or by the one that holds it back until the record exists: Claude never
runs unrecorded. In a sandbox, a copy of this process stays with Claude while it runs, so every import here costs each
session memory and start-up time.
"""

from __future__ import annotations

import ctypes
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    # `signal` without its enums.
    import _signal as signal

_SET_CHILD_SUBREAPER = 36
_NO_SUCH_START = 127
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORDS = (
    "-I",
    "-S",
    "-c",
    "import sys; sys.path.append(sys.argv[1]); from handraise.claude import launcher; launcher.run(sys.argv[2])",
    _ROOT,
)
"""Arguments for Python, before the folder. Imported, because a file run as a script is compiled each time."""


def main(folder: str) -> None:
    """Carries out the order in `folder`, and adds the process to it."""
    path = os.path.join(folder, "launch.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    order = _decoded(text)
    os.setsid()
    os.chdir(order["directory"])
    # Keep stdin, stdout, stderr and the conversation's lock; the hub's other files are not for Claude.
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    for each in (signal.SIGPIPE, signal.SIGXFSZ):
        # Python ignores these signals, and Claude and its children would inherit that.
        signal.signal(each, signal.SIG_DFL)
    if sys.platform == "linux":
        # Survives exec: a tool that daemonizes still descends from Claude.
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if order.get("sandbox") is None:
        _sign(path, text, os.getpid())
        _become(order["command"])
        return
    # Imported here: the hub itself imports this file, and a launch without a sandbox doesn't need it.
    from handraise.claude import namespaces  # noqa: PLC0415 (see above)

    try:
        namespaces.launch(
            order["sandbox"], lambda pid: _sign(path, text, pid), lambda: _become_or_say_why(order["command"])
        )
    except namespaces.SetupFailed as error:
        raise OSError(f"could not create the sandbox: {error}") from error


def run(folder: str) -> None:
    """The whole program; prints to stderr what keeps it from becoming Claude."""
    try:
        main(folder)
    except (OSError, ValueError) as error:
        _say_why(error)
        sys.exit(_NO_SUCH_START)
    # Exit immediately: the hub is waiting, and there is nothing to clean up.
    os._exit(0)


class _Plain:
    """What `json`'s scanner needs from its decoder, with no special settings."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    parse_int = int


def _decoded(text: str) -> dict[str, Any]:
    """Uses only the C part of `json`, which avoids importing regular expressions: a third of the start-up time."""
    try:
        from _json import make_scanner  # noqa: PLC0415 (only where there is one)

        scan: Any = make_scanner
        order: dict[str, Any] = scan(_Plain())(text, 0)[0]
    except (ImportError, AttributeError):
        import json  # noqa: PLC0415 (see above)

        order = json.loads(text)
    return order


def _sign(path: str, order: str, pid: int) -> None:
    """Adds the process that carries it out to the order."""
    signature = f'"pid": {pid}, "started": "{started(pid)}", "boot": "{boot()}"'
    with open(path + ".part", "w", encoding="utf-8", opener=private) as file:
        file.write(f"{order.rstrip().removesuffix('}')}, {signature}}}")
    os.rename(path + ".part", path)


def _become_or_say_why(command: list[str]) -> None:
    try:
        _become(_interpreted(command))
    except (OSError, ValueError) as error:
        _say_why(error)


def _become(command: list[str]) -> None:
    try:
        os.execv(command[0], command)  # noqa: S606 (the point of it)
    except OSError as error:
        raise OSError(error.errno, error.strerror, command[0]) from error


def _interpreted(command: list[str]) -> list[str]:
    """A script with its interpreter, resolved as the kernel and `env` would: one program is executed instead of two.

    Executing a second program would undo the shielding of the first.
    """
    with open(command[0], "rb") as file:
        if file.read(2) != b"#!":
            return command
        words = os.fsdecode(file.readline(4096)).split(None, 1)
    if words and os.path.basename(words[0]) == "env":
        found = _which(words[-1].split()[0]) if words[1:] else None
        words = [found] if found and not words[-1].startswith("-") and len(words[-1].split()) == 1 else words
    return [*(each.strip() for each in words), *command] if words else command


def _which(name: str) -> str | None:
    places = (os.path.join(each, name) for each in os.environ.get("PATH", os.defpath).split(os.pathsep))
    return next((each for each in places if os.path.isfile(each) and os.access(each, os.X_OK)), None)


def started(pid: int) -> str:
    """When a process started, as the system writes it: unique together with the pid."""
    if sys.platform == "linux":
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()
    import subprocess  # noqa: PLC0415 (not needed on Linux)

    ps = ["/bin/ps", "-o", "lstart=", "-p", str(pid)]
    return subprocess.run(ps, capture_output=True, text=True, check=True).stdout.strip()


def boot() -> str:
    """The machine's boot ID: start times restart with each boot."""
    if sys.platform == "linux":
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    return ""


def private(path: str, flags: int) -> int:
    """An opener for files that only the user can read."""
    return os.open(path, flags, 0o600)


def _say_why(error: Exception) -> None:
    print(f"Claude could not be started: {error}", file=sys.stderr, flush=True)
