"""Which terminal a command runs in. Imports almost nothing: every command pays for it."""

import os


def this_terminal() -> str:
    """The same for every command in one terminal until it is closed, and different in each terminal. ASCII."""
    leader = os.getsid(0)
    try:
        with open("/proc/sys/kernel/random/boot_id") as boot, open(f"/proc/{leader}/stat", "rb") as process:
            started = process.read().rpartition(b")")[2].split()[19].decode()
            return f"{boot.read().strip()} {leader} {started}"
    except (OSError, IndexError):  # not Linux, or a shell that has ended
        return f"{os.uname().nodename.encode().hex()} {leader}"
