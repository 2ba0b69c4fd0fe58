"""The version of Claude Code, read once per file, and which versions are safe."""

import asyncio
import os
import re
from pathlib import Path

from handraise.claude import locate

SAFE_SINCE = "2.1.223"
"""Fixes a bypass of the check of shell commands. 2.1.212 fixed one in plan mode."""
_DEADLINE = 10.0


def numbers(version: str) -> tuple[int, ...]:
    """`2.1.325` as numbers that can be compared; empty if it isn't a version."""
    found = re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", version)
    return tuple(int(each) for each in found.groups()) if found else ()


def is_unsafe(version: str) -> bool:
    """Whether commands can run unasked in this version. An unknown version counts as unsafe."""
    return numbers(version) < numbers(SAFE_SINCE)


class VersionCache:
    """Starts a program only if its file is another one than before. An update replaces the file."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], str] = {}
        self._asking = asyncio.Lock()
        self.latest = ""
        """The version that was found last; empty if none was."""

    async def of(self, program: Path) -> str:
        """The version of this program; empty if it doesn't print one."""
        async with self._asking:
            identity = _identity(program)
            if identity not in self._known:
                self._known[identity] = await _read(program)
            self.latest = self._known[identity]
            return self.latest


def _identity(program: Path) -> tuple[object, ...]:
    try:
        found = os.stat(program)
    except OSError:
        return (str(program),)
    return (os.path.realpath(program), found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


async def _read(program: Path) -> str:
    try:
        return await locate.version(program, deadline=_DEADLINE)
    except locate.ClaudeMissing:
        return ""
