"""Files that Claude shows in an answer, read from the session's directory and from nowhere else."""

import os
import stat
from collections.abc import Iterable

from handraise.model.names import reveal_exactly
from handraise.surfaces.telegram.final import PICTURES, AnswerFile

LARGEST_PHOTO = 10_000_000
LARGEST_FILE = 20_000_000
"""Telegram accepts more, but an answer shouldn't take minutes."""


def read_mentioned(directory: str, paths: Iterable[str]) -> list[AnswerFile]:
    """The files that exist, are regular and lie inside the directory. Blocks: call it in a thread."""
    root = os.path.realpath(directory)
    found = (_read(root, os.path.join(directory, path)) for path in paths)
    return [each for each in found if each is not None]


def _read(root: str, path: str) -> AnswerFile | None:
    try:
        # A FIFO must not block, and what is opened is what is checked: a link can't be swapped in between.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        return _contents(root, file, os.path.basename(path))
    except OSError:
        return None
    finally:
        os.close(file)


def _contents(root: str, file: int, name: str) -> AnswerFile | None:
    status, real = os.fstat(file), os.readlink(f"/proc/self/fd/{file}")
    inside = os.path.relpath(real, root)
    if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size <= LARGEST_FILE:
        return None
    if inside.startswith("..") or any(part.startswith(".") for part in inside.split(os.sep)):
        return None
    with os.fdopen(os.dup(file), "rb") as opened:
        data = opened.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        return None
    photo = name.lower().endswith(PICTURES[:-1]) and len(data) <= LARGEST_PHOTO
    return AnswerFile(reveal_exactly(name), data, photo)
