"""The files of directories that sessions work in: listed when someone types, and remembered for a moment."""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
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


class _Known(Struct, frozen=True):
    listing: FileListing
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
            listing = await self._listing(directory)
        except DirectoryMoved as error:
            raise Refused(t("error.files.moved", directory=directory)) from error
        return await asyncio.to_thread(matches, listing.paths, typed), listing.is_complete

    async def _listing(self, directory: str) -> FileListing:
        lock = self._locks.setdefault(directory, asyncio.Lock())
        async with lock:
            known = self._known.pop(directory, None)
            if known is None or self._elapsed() - known.at > FRESH:
                async with self._room:
                    found = await list_files(directory, self._folder)
                    known = _Known(_without(found, directory, self._hidden), self._elapsed())
            # Last in the order: the one that wasn't used for longest is forgotten first.
            self._known[directory] = known
            while len(self._known) > _DIRECTORIES:
                forgotten = next(iter(self._known))
                del self._known[forgotten]
                self._locks.pop(forgotten, None)
            return known.listing


def _without(listing: FileListing, directory: str, hidden: Sequence[Path]) -> FileListing:
    """The hub's own folders may be inside, if someone works in their home directory."""
    inside = [os.path.relpath(os.path.realpath(each), directory) for each in hidden]
    prefixes = tuple(f"{each}/" for each in inside if not each.startswith(".."))
    if not prefixes:
        return listing
    return FileListing(tuple(each for each in listing.paths if not each.startswith(prefixes)), listing.is_complete)


def matches(paths: Sequence[str], typed: str) -> list[str]:
    """Files, and the directories on the way to them (ending in `/`), best first."""
    wanted = typed.casefold()
    found = ((rank, path) for path in _with_directories(paths) if (rank := _rank(path, wanted)) is not None)
    return [path for _, path in sorted(found, key=lambda each: (each[0], len(each[1]), each[1]))[:_SHOWN]]


def _with_directories(paths: Iterable[str]) -> Iterable[str]:
    seen: set[str] = set()
    for path in paths:
        end = path.find("/")
        while end != -1:
            directory = path[: end + 1]
            if directory not in seen:
                seen.add(directory)
                yield directory
            end = path.find("/", end + 1)
        yield path


def _rank(path: str, wanted: str) -> int | None:
    """0 is best; None if it doesn't fit. An exact part counts more than scattered letters."""
    text = path.casefold()
    if not wanted:
        return path.rstrip("/").count("/")
    name = text.rstrip("/").rpartition("/")[2]
    if text.startswith(wanted):
        return 0 if "/" in wanted else 1
    if name.startswith(wanted):
        return 0
    if wanted in name:
        return 2
    if wanted in text:
        return 3
    rest = iter(text)
    return 4 if all(letter in rest for letter in wanted) else None
