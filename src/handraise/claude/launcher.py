"""Becomes Claude. Runs alone, on the standard library: writes down which process it is, then executes the CLI.

The record is made by the process itself, so there is no moment at which Claude runs and nobody knows of it.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys

_SET_CHILD_SUBREAPER = 36


def main(folder: str) -> None:
    """Carries out the order that lies in `folder`, and signs it."""
    path = os.path.join(folder, "launch.json")
    with open(path, encoding="utf-8") as file:
        order = json.load(file)
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
    record = {**order, "pid": os.getpid(), "started": started(os.getpid()), "boot": boot()}
    with open(path + ".part", "w", opener=private) as file:
        json.dump(record, file)
    os.rename(path + ".part", path)
    program = order["command"][0]
    try:
        os.execv(program, order["command"])  # noqa: S606 (the point of it)
    except OSError as error:
        raise OSError(error.errno, error.strerror, program) from error


def started(pid: int) -> str:
    """When a process began, in the system's own words: with the pid it names the process for good."""
    if sys.platform == "linux":
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()
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


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except (OSError, ValueError) as error:
        print(f"Claude could not be started: {error}", file=sys.stderr)
        sys.exit(127)
