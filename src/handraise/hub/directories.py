"""Lists the directories inside a directory, for people who choose where Claude works. Reads names only."""

import os
from itertools import islice
from pathlib import Path

from msgspec import Struct

MOST = 200
"""How many directories are listed."""
LOOKED_AT = 20_000
"""How many entries of a directory are looked at."""
_LONGEST = 4096


class DirectoryRefused(Exception):
    """The directory can't be listed. `reason` is `relative`, `missing`, `unreadable`, `hidden` or `slow`."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path)
        self.path = path
        self.reason = reason


class DirectoryEntry(Struct, frozen=True):
    """A directory inside of another."""

    name: str
    path: str
    is_repository: bool = False


class DirectoryListing(Struct, frozen=True):
    """A directory as it really is, without links on the way to it. `parent` is empty at the top."""

    path: str
    parent: str
    entries: tuple[DirectoryEntry, ...] = ()
    is_complete: bool = True
    is_repository: bool = False


def list_directories(
    path: str, starting: str = "", hidden: tuple[Path, ...] = (), *, most: int = MOST, looked_at: int = LOOKED_AT
) -> DirectoryListing:
    """The directories whose names start like this, whatever the case; raises DirectoryRefused.

    Names with a leading dot are listed only if `starting` has one. `hidden` are the hub's own folders.
    """
    real = _real(path)
    if any(_is_inside(real, os.path.realpath(each)) for each in hidden):
        raise DirectoryRefused(real, "hidden")
    if not os.path.isdir(real):
        raise DirectoryRefused(path, "missing")
    found: list[DirectoryEntry] = []
    try:
        with os.scandir(real) as entries:
            found.extend(
                DirectoryEntry(each.name, os.path.join(real, each.name))
                for each in islice(entries, looked_at)
                if _is_wanted(each.name, starting) and _is_directory(each)
            )
            is_complete = next(entries, None) is None
    except PermissionError as error:
        raise DirectoryRefused(real, "unreadable") from error
    except OSError as error:
        raise DirectoryRefused(real, "missing") from error
    found.sort(key=lambda each: (each.name.casefold(), each.name))
    shown = [_with_kind(each) for each in found[:most]]
    parent = os.path.dirname(real)
    return DirectoryListing(
        real, "" if parent == real else parent, tuple(shown), is_complete and len(found) <= most, _is_repository(real)
    )


def _real(path: str) -> str:
    if not path.startswith("/") or len(path) > _LONGEST or not path.isprintable() or ".." in path.split("/"):
        raise DirectoryRefused(path, "relative")
    return os.path.realpath(path)


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _is_wanted(name: str, starting: str) -> bool:
    # A name that isn't printable could deceive, and can't be typed.
    if not name.isprintable() or (name.startswith(".") and not starting.startswith(".")):
        return False
    return name.casefold().startswith(starting.casefold())


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _with_kind(entry: DirectoryEntry) -> DirectoryEntry:
    return DirectoryEntry(entry.name, entry.path, _is_repository(entry.path))


def _is_repository(path: str) -> bool:
    return os.path.lexists(os.path.join(path, ".git"))
