"""Becomes Claude. Runs alone, on the standard library: writes down which process it is, then executes the CLI.

The record is made by the process itself, so there is no moment at which Claude runs and nobody knows of it.
"""

import ctypes
import json
import os
import subprocess
import sys

_SET_CHILD_SUBREAPER = 36


def main(spec: str) -> None:
    """`spec` is JSON: the folder for the record, the directory to work in, the command line and what else to record."""
    launch = json.loads(spec)
    os.setsid()
    os.chdir(launch["directory"])
    if sys.platform == "linux":
        # Survives exec: a tool that daemonises still descends from Claude.
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    record = {**launch["record"], "pid": os.getpid(), "started": started(os.getpid()), "boot": boot()}
    path = os.path.join(launch["folder"], "launch.json")
    with open(path + ".part", "w", opener=_private) as file:
        json.dump(record, file)
    os.rename(path + ".part", path)
    os.execv(launch["command"][0], launch["command"])  # noqa: S606 (the point of it)


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


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except OSError as error:
        print(f"Claude could not be started: {error}", file=sys.stderr)
        sys.exit(127)
