"""Lists the files of a directory, within limits. Reads names only, follows no link, and runs nothing of a repository.

Git does the work where there is a repository, because it knows what is ignored. It never sees the repository's own
settings, which can name programs to run: it gets an empty Git directory of ours, and finds every file "untracked".
"""

import asyncio
import os
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path

from msgspec import Struct

from handraise.claude.own_git import GitFailed, OwnGit

_LONGEST = 400
_SKIPPED = frozenset(
    (".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".cache", ".mypy_cache")
)
_UNTYPEABLE = frozenset("\"'`")
"""A name with one of these can't be mentioned in a message without ambiguity."""


class FileListing(Struct, frozen=True):
    """Paths relative to the directory, sorted. `is_complete` is False if a limit was reached."""

    paths: tuple[str, ...] = ()
    is_complete: bool = True


class ListingLimits(Struct, frozen=True):
    """How much is listed: files, bytes of their names, levels, and for how long."""

    files: int = 20_000
    size: int = 4 * 1024 * 1024
    depth: int = 24
    seconds: float = 4.0


class DirectoryMoved(Exception):
    """The directory is gone, or a link leads elsewhere by now."""


_USUAL = ListingLimits()


async def list_files(directory: str, git_directory: Path, limits: ListingLimits = _USUAL) -> FileListing:
    """The files below a directory; raises DirectoryMoved. `git_directory` is ours, and is made if it isn't there."""
    is_repository = await asyncio.to_thread(_check, directory)
    found = await _by_git(directory, git_directory, limits) if is_repository else None
    if found is None:
        found = await asyncio.to_thread(_by_walking, directory, limits)
    await asyncio.to_thread(_check, directory)
    return found


def _check(directory: str) -> bool:
    """Whether it is a repository. Something may have put a link in its place: nobody asked for what it leads to."""
    if os.path.realpath(directory) != directory or not os.path.isdir(directory):
        raise DirectoryMoved(directory)
    return os.path.lexists(os.path.join(directory, ".git"))


async def _by_git(directory: str, git_directory: Path, limits: ListingLimits) -> FileListing | None:
    """None if Git can't do it."""
    git = OwnGit(git_directory, directory)
    try:
        await asyncio.to_thread(git.prepare)
        output = await git.run(
            *("ls-files", "-z", "--others", "--exclude-standard"), seconds=limits.seconds, most=limits.size
        )
    except (GitFailed, OSError):
        return None
    if output.code:
        return None
    # The last piece is empty, or was cut off.
    names = output.text.split(b"\0")[:-1]
    return _listing((os.fsdecode(name) for name in names), limits.files, is_complete=output.code is not None)


def _by_walking(directory: str, limits: ListingLimits) -> FileListing:
    """Nearest first, so that a limit cuts off what is deep."""
    deadline = time.monotonic() + limits.seconds
    waiting = deque([("", 0)])
    found: list[str] = []
    is_complete = True
    while waiting and len(found) <= limits.files and time.monotonic() < deadline:
        inside, depth = waiting.popleft()
        files, folders, is_all = _look(directory, inside, limits.files)
        found += files
        if depth < limits.depth:
            waiting.extend((each, depth + 1) for each in folders)
        is_complete = is_complete and is_all and (depth < limits.depth or not folders)
    return _listing(found, limits.files, is_complete=is_complete and not waiting)


def _look(directory: str, inside: str, most: int) -> tuple[list[str], list[str], bool]:
    """The files and folders of one folder, and whether these are all. A link counts as a file, wherever it leads."""
    files: list[str] = []
    folders: list[str] = []
    with suppress(OSError), os.scandir(os.path.join(directory, inside)) as entries:
        for each in islice(entries, most):
            path = os.path.join(inside, each.name)
            if not each.is_dir(follow_symlinks=False):
                files.append(path)
            elif each.name not in _SKIPPED:
                folders.append(path)
        return files, folders, next(entries, None) is None
    return files, folders, True


def _listing(names: Iterable[str], most: int, *, is_complete: bool) -> FileListing:
    found = [name for name in names if _can_be_mentioned(name)]
    return FileListing(tuple(sorted(found[:most])), is_complete and len(found) <= most)


def _can_be_mentioned(name: str) -> bool:
    """Control characters, broken UTF-8 and quotes would make a mention that means something else."""
    return 0 < len(name) <= _LONGEST and name.isprintable() and not _UNTYPEABLE.intersection(name)
