"""Where a Git repository was when a session started: its commit and its objects. Reads files only; runs nothing."""

import os
import re
from pathlib import Path

import msgspec
from msgspec import Struct

from handraise.claude import launcher

START = "start.json"
"""The name of the file beside a session's processes."""
_LONGEST = 4096
_MOST_REFS = 32 * 1024 * 1024
_DEEPEST = 5
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_REF = re.compile(r"refs/[^\0-\x20~^:?*\[\\\x7f]+\Z")


class GitStart(Struct, frozen=True):
    """A repository, as it was found. `commit` is empty if there was none yet."""

    top: str
    """The directory with `.git`."""
    objects: str
    exclude: str
    """The repository's own list of ignored files."""
    commit: str


def find_start(directory: str) -> GitStart | None:
    """The repository around a directory; None if there is none, or one in a format that we can't read."""
    place = Path(os.path.realpath(directory))
    for top in (place, *place.parents):
        folder = _git_folder(top)
        if folder is None:
            continue
        common = _common(folder)
        objects = common / "objects"
        commit = _commit(folder, common)
        if commit is None or not objects.is_dir() or "\n" in str(objects):
            return None
        return GitStart(str(top), str(objects), str(common / "info" / "exclude"), commit)
    return None


def save_start(path: Path, start: GitStart) -> None:
    """Kept beside a session's processes. The first one stays: a session that is resumed started before."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with open(path, "xb", opener=launcher.private) as file:
            file.write(msgspec.json.encode(start))
    except FileExistsError:
        pass


def load_start(path: Path) -> GitStart | None:
    """What was kept; None for a session that started before anything was."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=GitStart)
    except (OSError, msgspec.DecodeError):
        return None


def read_file(path: str | Path, most: int) -> bytes | None:
    """Up to `most` bytes; None if it can't be read. A pipe in its place doesn't hold anyone up."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            return file.read(most)
    except (OSError, ValueError):
        return None


def _git_folder(top: Path) -> Path | None:
    pointer = top / ".git"
    if pointer.is_dir():
        return pointer if (pointer / "HEAD").is_file() else None
    text = _read(pointer)
    if text is None or not text.startswith("gitdir:"):
        return None
    # A worktree or a submodule: a file that says where its folder is.
    found = top / text.removeprefix("gitdir:").strip()
    return Path(os.path.realpath(found)) if (found / "HEAD").is_file() else None


def _common(folder: Path) -> Path:
    """The folder that all worktrees share."""
    text = _read(folder / "commondir")
    return Path(os.path.realpath(folder / text.strip())) if text and text.strip() else folder


def _commit(folder: Path, common: Path) -> str | None:
    text = _read(folder / "HEAD")
    for _ in range(_DEEPEST):
        if text is None:
            return None
        words = text.strip()
        if _COMMIT.match(words):
            return words
        name = words.removeprefix("ref:").strip()
        if not words.startswith("ref:") or not _REF.match(name) or ".." in name:
            return None
        text = _read(folder / name) or _read(common / name) or _packed(common, name)
        if text is None:
            # A branch without a commit. In the newer format, refs are elsewhere.
            return None if (common / "reftable").exists() else ""
    return None


def _packed(common: Path, name: str) -> str | None:
    text = _read(common / "packed-refs", _MOST_REFS) or ""
    return next((line.split(" ", 1)[0] for line in text.split("\n") if line.endswith(f" {name}")), None)


def _read(path: Path, most: int = _LONGEST) -> str | None:
    content = read_file(path, most)
    return content.decode(errors="replace") if content is not None else None


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
