"""The file that old entries of the audit log are moved to: one JSON object per line, in order, each once."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from handraise.model.audit import Entry

_TAIL = 1024 * 1024
"""An entry is shorter: what people were shown is in it only as a digest."""


class _Numbered(msgspec.Struct):
    number: int


class AuditFile:
    """Only its owner can read it. It may be moved away at any time; the next entry starts another one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, entries: Sequence[Entry]) -> None:
        """Returns when they are on the disk. What a crash left twice or unfinished is repaired first."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with open(opened, "r+b") as file:
            last, end = _last_entry(file.fileno())
            file.truncate(end)
            file.seek(end)
            file.writelines(msgspec.json.encode(entry) + b"\n" for entry in entries if entry.number > last)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):  # some file systems can't
            _sync_folder(self.path.parent)


def _last_entry(file: int) -> tuple[int, int]:
    """The number of the last complete entry, and where it ends."""
    size = os.fstat(file).st_size
    start = max(0, size - _TAIL)
    tail = os.pread(file, size - start, start)
    complete = tail.rfind(b"\n") + 1
    if not complete:
        return 0, start
    line = tail[:complete].splitlines()[-1]
    return msgspec.json.decode(line, type=_Numbered).number, start + complete


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
