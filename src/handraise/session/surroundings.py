"""Reads the files around an asker, within limits: what an edit would change, and where a link leads."""

import os
import stat
from collections.abc import Sequence

from handraise.inbox.considering import Surroundings
from handraise.model.own_tools import ASK_USER_SECONDS
from handraise.model.projects import Options
from handraise.model.rules import Rule

_MOST = 40
"""As many links as the kernel follows."""
_OWN = "/proc"

_LARGEST = 2 * 1024 * 1024


def follow(path: str) -> str:
    """`os.path.realpath`, but never through `/proc`: `/proc/self/fd/0` is our stdin here, but Claude's own there."""
    rest = path.split("/")[::-1]
    place, links = "/", 0
    while rest:
        name = rest.pop()
        if name in ("", "."):
            continue
        if name == "..":
            place = os.path.dirname(place)
            continue
        place = os.path.join(place, name)
        if place == _OWN:
            return "/".join([place, *(each for each in reversed(rest) if each not in ("", "."))])
        target = _target(place) if links < _MOST else None
        if target is not None:
            links += 1
            place = "/" if target.startswith("/") else os.path.dirname(place)
            rest += target.split("/")[::-1]
    return place


def _target(place: str) -> str | None:
    try:
        return os.readlink(place)
    except (OSError, ValueError):
        return None


def around(
    directory: str, mode: str, options: Options, stricter: Sequence[Rule] = (), root: str | None = None
) -> Surroundings:
    """The asker's surroundings as they are now."""

    def read(path: str) -> str | None:
        return _read(os.path.join(directory, os.path.expanduser(path)))

    ask_user = options.ask_user_timeout or ASK_USER_SECONDS
    return Surroundings(directory, mode, options.patience, follow, read, ask_user, stricter, root)


def _read(path: str) -> str | None:
    """The text of a regular file; None if it is large, would block, or can't be opened."""
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
