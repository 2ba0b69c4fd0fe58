"""Looks at the files around a session, within bounds: what an edit would change, and where a link leads."""

import os

from handraise.inbox.considering import Surroundings
from handraise.model.projects import Patience
from handraise.model.sessions import Session

_LARGEST = 2 * 1024 * 1024


def around(session: Session, patience: Patience) -> Surroundings:
    """The surroundings of a session as it is now."""

    def read(path: str) -> str | None:
        return _read(os.path.join(session.directory, os.path.expanduser(path)))

    return Surroundings(session.directory, session.mode, patience, os.path.realpath, read)


def _read(path: str) -> str | None:
    """The text of a regular file; nothing that is large, that blocks, or that cannot be opened."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    with open(file, "rb") as opened:
        if not os.path.isfile(file) or os.fstat(file).st_size > _LARGEST:
            return None
        return opened.read(_LARGEST).decode(errors="replace")
