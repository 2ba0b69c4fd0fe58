"""One lock for each of Claude's session ids: two processes on one conversation corrupt it."""

import fcntl
import os
from pathlib import Path


class SessionBusy(Exception):
    """Another process of Claude has this conversation."""

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"Claude's conversation {session_id} is open in another process; stop that one first, or fork the session."
        )
        self.session_id = session_id


def take(folder: Path, session_id: str) -> int:
    """A file descriptor that holds the lock. Claude inherits it and holds it until its end; raises SessionBusy."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(folder / f"{session_id}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise SessionBusy(session_id) from None
    return lock
