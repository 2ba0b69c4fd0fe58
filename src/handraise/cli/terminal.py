"""Which terminal a command is typed in. Imports next to nothing: every command pays for it."""

import os


def this_terminal() -> str:
    """The same for all that is typed in one terminal, until it is closed; another one has another. ASCII."""
    leader = os.getsid(0)
    try:
        with open("/proc/sys/kernel/random/boot_id") as boot, open(f"/proc/{leader}/stat", "rb") as process:
            began = process.read().rpartition(b")")[2].split()[19].decode()
            return f"{boot.read().strip()} {leader} {began}"
    except (OSError, IndexError):  # not Linux, or a shell that has ended
        return f"{os.uname().nodename.encode().hex()} {leader}"
