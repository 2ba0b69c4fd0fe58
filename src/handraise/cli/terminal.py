"""Which terminal a command is typed in."""

import os
from hashlib import sha256

from handraise.claude.launcher import boot, started


def this_terminal() -> str:
    """The same for all that is typed in one terminal, until it is closed; another one has another."""
    leader = os.getsid(0)
    try:
        began = started(leader)
    except OSError:  # a shell that has ended, or that is not for us to see
        began = ""
    return sha256(f"{os.uname().nodename} {boot()} {leader} {began}".encode()).hexdigest()
