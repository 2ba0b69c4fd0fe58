"""What changed in a working tree since a commit, by a Git of our own that uses none of the repository's settings.

It has an index of its own, too. Submodules are left out: Git would start another Git in them.
"""

import asyncio
import os
import shutil
from contextlib import suppress
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from handraise.claude import beneath
from handraise.claude.git_output import (
    FileChange,
    FileStatus,
    RawChange,
    diff_of_new,
    hunks_of,
    read_counts,
    read_names,
    read_raw,
)
from handraise.claude.git_start import GitStart, read_file
from handraise.claude.own_git import GitFailed, OwnGit

MOST_FILES = 1_000
LARGEST = 8 * 1024 * 1024
"""Larger files are named, but not shown."""
_DEADLINE = 30.0
_MOST_OUTPUT = 64 * 1024 * 1024
_MOST_COUNTED = 200
_COUNTED = 256 * 1024
_EXCLUDES = 64 * 1024
_SECRETS = (
    *(".env", ".env.*", "*.pem", "*.key", "*.p12", "id_rsa*", "id_ed25519*", ".netrc", ".npmrc", ".pypirc"),
    *("credentials*", "secrets.*", "*.tfstate", ".htpasswd", "settings.local.json"),
)
"""Files with such names aren't shown: what is in them doesn't help to review anything."""
_POINTER = b"version https://git-lfs.github.com/"


class CannotRevert(Exception):
    """The file changed again, or is nothing that can be reverted."""


class FileDiff(Struct, frozen=True):
    """How one file changed. `diff` is None if it can't be shown; `problem` says why."""

    path: str
    status: FileStatus
    diff: str | None
    problem: str = ""
    """`binary`, `large`, `link`, `secret`, or empty."""

    @property
    def digest(self) -> str:
        """Identifies what was shown."""
        shown = f"{self.path}\0{self.status}\0{self.problem}\0{self.diff or ''}"
        return "sha256:" + sha256(shown.encode(errors="surrogateescape")).hexdigest()


class WorkingTree:
    """The part of a working tree that is in one directory. `folder` is ours, and nobody else's."""

    def __init__(self, start: GitStart, directory: str, folder: Path) -> None:
        self._start = start
        self._top = start.top
        inside = os.path.relpath(os.path.realpath(directory), start.top)
        self._prefix = "" if inside == "." else f"{inside}/"
        self._own = OwnGit(folder, start.top)

    async def changes(self) -> tuple[list[FileChange], bool]:
        """The files that changed, in order, and whether there are more than these."""
        await self._prepare()
        raw = await self._raw(self._prefix.rstrip("/"))
        counts = read_counts(await self._git("diff-files", "--numstat", "-z", *_SAFE, "--", self._prefix or "."))
        names = await self._new(self._prefix.rstrip("/"))
        found = [FileChange(self._inner(each.path), each.status, *counts.get(each.path, (None, None))) for each in raw]
        for number, name in enumerate(names[:MOST_FILES]):
            found.append(self._added(name, counted=number < _MOST_COUNTED))
        found.sort(key=lambda each: each.path)
        return found[:MOST_FILES], len(raw) + len(names) > MOST_FILES

    async def file(self, path: str) -> FileDiff | None:
        """How one file changed; None if it didn't. Raises NotBeneath."""
        beneath.check(path)
        await self._prepare()
        diff, _ = await self._look(path)
        return diff

    async def revert(self, path: str, digest: str, token: str) -> FileDiff:
        """Makes a file what it was, if what was shown is still so; raises CannotRevert and NotBeneath."""
        beneath.check(path)
        await self._prepare()
        shown, raw = await self._look(path)
        if shown is None or shown.digest != digest or shown.status == "link":
            raise CannotRevert(path)
        whole = self._prefix + path
        if raw is None:
            await asyncio.to_thread(beneath.remove, self._top, whole)
            return shown
        content = await self._git("cat-file", "--filters", f"--path={whole}", raw.blob)
        if content.startswith(_POINTER):
            raise CannotRevert(path)
        await asyncio.to_thread(
            lambda: beneath.replace(self._top, whole, content, executable=raw.executable, token=token)
        )
        return shown

    async def _look(self, path: str) -> tuple[FileDiff | None, RawChange | None]:
        whole = self._prefix + path
        raw = next((each for each in await self._raw(whole) if each.path == whole), None)
        if raw is None:
            if whole not in await self._new(whole):
                return None, None
            return await asyncio.to_thread(self._look_at_new, path), None
        if raw.status == "link":
            return FileDiff(path, "link", None, "link"), raw
        if _is_secret(path):
            return FileDiff(path, raw.status, None, "secret"), raw
        if await self._is_large(raw):
            return FileDiff(path, raw.status, None, "large"), raw
        hunks = hunks_of(await self._git("diff-files", "--patch", "--text", *_SAFE, "--", whole))
        return FileDiff(path, raw.status, hunks, "" if hunks is not None else "binary"), raw

    def _look_at_new(self, path: str) -> FileDiff:
        try:
            content = beneath.read(self._top, self._prefix + path, LARGEST)
        except beneath.NotBeneath:
            return FileDiff(path, "link", None, "link")
        if _is_secret(path):
            return FileDiff(path, "added", None, "secret")
        if content is None or len(content) > LARGEST:
            return FileDiff(path, "added", None, "large")
        diff = diff_of_new(content)
        return FileDiff(path, "added", diff, "" if diff is not None else "binary")

    async def _is_large(self, raw: RawChange) -> bool:
        size = await self._git("cat-file", "-s", raw.blob)
        with suppress(OSError):
            if os.lstat(os.path.join(self._top, raw.path)).st_size > LARGEST:
                return True
        return int(size or b"0") > LARGEST

    def _added(self, name: str, *, counted: bool) -> FileChange:
        path = self._inner(name)
        try:
            content = beneath.read(self._top, name, _COUNTED) if counted else None
        except beneath.NotBeneath:
            return FileChange(path, "link")
        if content is None or len(content) > _COUNTED or b"\0" in content:
            return FileChange(path, "added")
        return FileChange(path, "added", content.count(b"\n") + (bool(content) and not content.endswith(b"\n")), 0)

    def _inner(self, path: str) -> str:
        return path.removeprefix(self._prefix)

    async def _raw(self, whole: str) -> list[RawChange]:
        return read_raw(await self._git("diff-files", "--raw", "-z", "--no-abbrev", *_SAFE, "--", whole or "."))

    async def _new(self, whole: str) -> list[str]:
        output = await self._git("ls-files", "-z", "--others", "--exclude-standard", "--", whole or ".")
        return read_names(output)

    async def _prepare(self) -> None:
        """A folder of our own that knows the commit, and which files are as they were there."""
        commit = self._start.commit
        known = self._own.folder / "commit"
        if not known.exists() or known.read_text() != commit:
            await asyncio.to_thread(self._make_folder)
            await self._git("read-tree", commit or "--empty")
            known.write_text(commit)
        self._copy_excludes()
        # It fails if a file changed; that is no failure.
        await self._git("update-index", "-q", "--refresh", "--ignore-submodules", check=False)

    def _make_folder(self) -> None:
        shutil.rmtree(self._own.folder, ignore_errors=True)
        self._own.prepare(self._start.objects, is_sha256=len(self._start.commit) > 40)

    def _copy_excludes(self) -> None:
        (self._own.folder / "info/exclude").write_bytes(read_file(self._start.exclude, _EXCLUDES) or b"")

    async def _git(self, *words: str, check: bool = True) -> bytes:
        output = await self._own.run(*words, seconds=_DEADLINE, most=_MOST_OUTPUT)
        if output.code is None:
            raise GitFailed(f"git {words[0]} took too long, or printed too much")
        if output.code and check:
            raise GitFailed(f"git {words[0]} failed ({output.code})")
        return output.text


_SAFE = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=all")


def _is_secret(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return any(fnmatchcase(name, pattern) for pattern in _SECRETS)
