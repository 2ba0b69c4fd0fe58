"""Looks at the files around an asker, within bounds: what an edit would change, and where a link leads."""

import os
import stat
from collections.abc import Sequence

from handraise.inbox.considering import Surroundings
from handraise.model.projects import Options
from handraise.model.rules import Rule
from handraise.model.tools import ASK_USER_SECONDS
from handraise.session.links import follow

_LARGEST = 2 * 1024 * 1024


def around(
    directory: str, mode: str, options: Options, stricter: Sequence[Rule] = (), root: str | None = None
) -> Surroundings:
    """The surroundings of an asker as they are now."""

    def read(path: str) -> str | None:
        return _read(os.path.join(directory, os.path.expanduser(path)))

    ask_user = options.ask_user_timeout or ASK_USER_SECONDS
    return Surroundings(directory, mode, options.patience, follow, read, ask_user, stricter, root)


def _read(path: str) -> str | None:
    """The text of a regular file; nothing that is large, that blocks, or that cannot be opened."""
    try:
        with open(path, "rb", opener=_without_waiting) as opened:
            found = os.fstat(opened.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
                return None
            return opened.read(_LARGEST).decode(errors="replace")
    except (OSError, ValueError):
        return None


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
