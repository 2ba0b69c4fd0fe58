"""Looks at the files around an asker, within bounds: what an edit would change, and where a link leads."""

import os

from handraise.inbox.considering import Surroundings
from handraise.model.projects import Options
from handraise.model.tools import ASK_USER_SECONDS

_LARGEST = 2 * 1024 * 1024


def around(directory: str, mode: str, options: Options) -> Surroundings:
    """The surroundings of an asker as they are now."""

    def read(path: str) -> str | None:
        return _read(os.path.join(directory, os.path.expanduser(path)))

    ask_user = options.ask_user_timeout or ASK_USER_SECONDS
    return Surroundings(directory, mode, options.patience, os.path.realpath, read, ask_user)


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
