"""Follows links, up to where they would mean something else to another process. Reads the disk, changes nothing."""

import os

_MOST = 40
"""As many as the kernel follows."""
_OWN = "/proc"


def follow(path: str) -> str:
    """`os.path.realpath`, but never through `/proc`: `/proc/self/fd/0` is our stdin here, and Claude's own there."""
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
