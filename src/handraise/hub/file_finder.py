"""The files of directories that sessions work in: listed when someone types, and remembered for a moment."""

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest
from pathlib import Path

from msgspec import Struct

from handraise.claude.listing import DirectoryMoved, FileListing, list_files
from handraise.desk.interface import Refused
from handraise.texts import t

FRESH = 15.0
"""How long a listing is used, in seconds."""
_DIRECTORIES = 16
_AT_ONCE = 2
_SHOWN = 20
_LONGEST = 40
"""Longer texts are looked for as they are."""


class _Known(Struct, frozen=True):
    paths: tuple[str, ...]
    is_complete: bool
    at: float


class FileFinder:
    """`elapsed` is a clock in seconds; `folder` is where Git finds an empty repository of ours; `hidden` stays out.

    One listing at a time for each directory, and a few in all: keys come faster than disks.
    """

    def __init__(self, folder: Path, elapsed: Callable[[], float], hidden: Sequence[Path] = ()) -> None:
        self._folder = folder
        self._hidden = hidden
        self._elapsed = elapsed
        self._known: dict[str, _Known] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def find(self, directory: str, typed: str) -> tuple[list[str], bool]:
        """The paths that fit best what was typed, and whether all files were looked at; raises Refused."""
        try:
            known = await self._look(directory)
        except DirectoryMoved as error:
            raise Refused(t("error.files.moved", directory=directory)) from error
        return await asyncio.to_thread(matches, known.paths, typed), known.is_complete

    async def _look(self, directory: str) -> _Known:
        lock = self._locks.setdefault(directory, asyncio.Lock())
        async with lock:
            known = self._known.pop(directory, None)
            if known is None or self._elapsed() - known.at > FRESH:
                async with self._room:
                    found = _without(await list_files(directory, self._folder), directory, self._hidden)
                    known = _Known(tuple(with_directories(found.paths)), found.is_complete, self._elapsed())
            # Last in the order: the one that wasn't used for longest is forgotten first.
            self._known[directory] = known
            while len(self._known) > _DIRECTORIES:
                forgotten = next(iter(self._known))
                del self._known[forgotten]
                self._locks.pop(forgotten, None)
            return known


def _without(listing: FileListing, directory: str, hidden: Sequence[Path]) -> FileListing:
    """The hub's own folders may be inside, if someone works in their home directory."""
    inside = [os.path.relpath(os.path.realpath(each), directory) for each in hidden]
    prefixes = tuple(f"{each}/" for each in inside if not each.startswith(".."))
    if not prefixes:
        return listing
    return FileListing(tuple(each for each in listing.paths if not each.startswith(prefixes)), listing.is_complete)


def matches(paths: Sequence[str], typed: str) -> list[str]:
    """The best ones of `with_directories(paths)`. Scattered letters count only if few paths have the text itself."""
    wanted = typed.casefold()
    if not wanted:
        return nsmallest(_SHOWN, paths, key=lambda path: (path.rstrip("/").count("/"), len(path), path))
    found = [path for path in paths if wanted in path.casefold()]
    best = nsmallest(_SHOWN, found, key=lambda path: (_rank(path.casefold(), wanted), len(path), path))
    if len(best) < _SHOWN and len(wanted) <= _LONGEST:
        scattered = re.compile("".join(f"[^{re.escape(letter)}]*{re.escape(letter)}" for letter in wanted))
        others = (path for path in paths if scattered.match(path.casefold()) and wanted not in path.casefold())
        best += nsmallest(_SHOWN - len(best), others, key=lambda path: (len(path), path))
    return best


def with_directories(paths: Iterable[str]) -> Iterator[str]:
    """Files, and the directories on the way to them, which end in `/`."""
    seen: set[str] = set()
    for path in paths:
        end = path.rfind("/")
        while end != -1 and path[: end + 1] not in seen:
            seen.add(path[: end + 1])
            yield path[: end + 1]
            end = path.rfind("/", 0, end)
        yield path


def _rank(text: str, wanted: str) -> int:
    """0 is best. How a name starts counts more than what is in it, and a name more than the way to it."""
    name = text.rstrip("/").rpartition("/")[2]
    if name.startswith(wanted) or (text.startswith(wanted) and "/" in wanted):
        return 0
    if text.startswith(wanted):
        return 1
    return 2 if wanted in name else 3
