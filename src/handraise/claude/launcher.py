"""Becomes Claude. Runs alone, on the standard library: writes down which process it is, then executes the CLI.

The record is made by the process itself, or by the one that holds it back until the record is there. So there is no
moment at which Claude runs and nobody knows of it. In a sandbox a copy of this process stays beside Claude for as long
as it lives: what is imported here is paid for by each session, in memory and in time to start.
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
    # Of `signal`, without the enumerations.
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
"""For Python, before the folder. Imported, since what is run as a file is compiled each time."""


def main(folder: str) -> None:
    """Carries out the order that lies in `folder`, and signs it."""
    path = os.path.join(folder, "launch.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    order = _decoded(text)
    os.setsid()
    os.chdir(order["directory"])
    # Stdin, stdout, stderr, and the lock on the conversation; whatever else the hub was given is not Claude's.
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    for each in (signal.SIGPIPE, signal.SIGXFSZ):
        # Python ignores these, and what is ignored stays so for Claude and for all that it starts.
        signal.signal(each, signal.SIG_DFL)
    if sys.platform == "linux":
        # Survives exec: a tool that daemonises still descends from Claude.
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if order.get("sandbox") is None:
        _sign(path, text, os.getpid())
        _become(order["command"])
        return
    # Only here: the hub itself imports this file, and a launch without a sandbox does without.
    from handraise.claude import namespaces  # noqa: PLC0415 (see above)

    try:
        namespaces.launch(
            order["sandbox"], lambda pid: _sign(path, text, pid), lambda: _become_or_say_why(order["command"])
        )
    except namespaces.SetupFailed as error:
        raise OSError(f"no sandbox could be made: {error}") from error


def run(folder: str) -> None:
    """The whole program: whatever keeps it from becoming Claude is on stderr."""
    try:
        main(folder)
    except (OSError, ValueError) as error:
        _say_why(error)
        sys.exit(_NO_SUCH_START)
    # At once: the hub waits for it, and there is nothing to clean up.
    os._exit(0)


class _Plain:
    """What the scanner of `json` is told by its decoder, when nothing is special."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    parse_int = int


def _decoded(text: str) -> dict[str, Any]:
    """By the part of `json` that is written in C, which spares regular expressions: a third of what a start takes."""
    try:
        from _json import make_scanner  # noqa: PLC0415 (only where there is one)

        scan: Any = make_scanner
        order: dict[str, Any] = scan(_Plain())(text, 0)[0]
    except (ImportError, AttributeError):
        import json  # noqa: PLC0415 (see above)

        order = json.loads(text)
    return order


def _sign(path: str, order: str, pid: int) -> None:
    """Adds to the order who carries it out."""
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
    """A script with its interpreter before it, as the kernel and `env` would find it: one program is executed, not two.

    Executing the second would undo what was done for the first.
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
    """When a process began, in the system's own words: with the pid it names the process for good."""
    if sys.platform == "linux":
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()
    import subprocess  # noqa: PLC0415 (not needed on Linux)

    ps = ["/bin/ps", "-o", "lstart=", "-p", str(pid)]
    return subprocess.run(ps, capture_output=True, text=True, check=True).stdout.strip()


def boot() -> str:
    """Which boot of the machine this is: start times begin anew with each."""
    if sys.platform == "linux":
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    return ""


def private(path: str, flags: int) -> int:
    """An opener for files that only the user may read."""
    return os.open(path, flags, 0o600)


def _say_why(error: Exception) -> None:
    print(f"Claude could not be started: {error}", file=sys.stderr, flush=True)
