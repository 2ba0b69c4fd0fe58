"""Keeps a file with a secret out of git: one that is tracked is refused, another is excluded in this clone only."""

import os
from pathlib import Path

from handraise.texts import t
from handraise.workspace.json_texts import Unmergeable

_NOTE = "# Added by `handraise project sync`: this file has a secret."
_LARGEST_INDEX = 256 * 1024 * 1024
_VERSION_4 = b"\x00\x00\x00\x04"
_HEADER, _FIXED, _EXTENDED = 12, 62, 0x4000
"""How an index begins, and the part of each entry before its path."""


def check_untracked(file: Path) -> None:
    """Raises Unmergeable if git has this file, or may have it: a commit would publish the secret."""
    found = _repository(file)
    if found is None:
        return
    root, folder = found
    index = folder / "index"
    try:
        if index.stat().st_size > _LARGEST_INDEX:
            raise Unmergeable(t("error.sync.tracked", file=file.name))
        entries = index.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise Unmergeable(t("error.sync.read", file=str(index), why=error.strerror)) from error
    path = file.relative_to(root).as_posix()
    if _has(entries, path.encode()):
        raise Unmergeable(t("error.sync.tracked", file=path))


def exclude(file: Path, *, remove: bool) -> None:
    """Lists the file in `.git/info/exclude`, or takes our line out again. Elsewhere than in a repository, nothing."""
    found = _repository(file)
    if found is None:
        return
    root, folder = found
    excluded = _common(folder) / "info" / "exclude"
    ours = f"{_NOTE}\n/{file.relative_to(root).as_posix()}\n"
    try:
        text = excluded.read_text() if excluded.exists() else ""
        if remove == (ours in text):
            excluded.parent.mkdir(exist_ok=True)
            apart = "" if not text or text.endswith("\n") else "\n"
            excluded.write_text(text.replace(ours, "") if remove else f"{text}{apart}{ours}")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Unmergeable(t("error.sync.write", file=str(excluded), why=why)) from error


def _has(entries: bytes, path: bytes) -> bool:
    """Whether an index has a path, or can't be read. Paths are stored whole before version 4."""
    if entries[4:8] != _VERSION_4:
        return path in entries
    at, name = _HEADER, b""
    try:
        for _ in range(int.from_bytes(entries[8:12])):
            flags = int.from_bytes(entries[at + _FIXED - 2 : at + _FIXED])
            at += _FIXED + (2 if flags & _EXTENDED else 0)
            shared, at = _number(entries, at)
            end = entries.index(b"\0", at)
            name = name[: len(name) - shared] + entries[at:end]
            at = end + 1
            if name == path:
                return True
    except (IndexError, ValueError):
        return True
    return False


def _number(entries: bytes, at: int) -> tuple[int, int]:
    """How many bytes of the path before are left out, as git writes it, and where it ends."""
    value = entries[at] & 0x7F
    while entries[at] & 0x80:
        at += 1
        value = ((value + 1) << 7) | (entries[at] & 0x7F)
    return value, at + 1


def _repository(file: Path) -> tuple[Path, Path] | None:
    """The root of the repository that a file is in, and the folder with its index."""
    for root in file.parents:
        git = root / ".git"
        if git.is_dir():
            return root, git
        if git.is_file():
            try:
                named = git.read_text().removeprefix("gitdir:").strip()
            except (OSError, UnicodeDecodeError):
                return None
            return root, Path(os.path.normpath(root / named))
    return None


def _common(folder: Path) -> Path:
    """Worktrees share the exclude file of the repository they belong to."""
    try:
        return Path(os.path.normpath(folder / (folder / "commondir").read_text().strip()))
    except (OSError, UnicodeDecodeError):
        return folder
