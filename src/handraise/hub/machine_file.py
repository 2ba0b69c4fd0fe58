"""The identity of this machine: made once, and kept in the state folder for good."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from handraise.model import ids

FILE = "machine.json"
_ID = re.compile(r"m_[0-9a-z]{16}")


class MachineUnreadable(Exception):
    """The file is there, but says nothing that can be used. A new identity would leave every session behind."""


class _Written(Struct, frozen=True):
    id: str


def machine_id(state: Path, entropy: Callable[[int], bytes], known: str | None = None) -> str:
    """The machine's ID; the first hub makes it. Called by the one hub that holds the state folder.

    `known` is the machine that the database belongs to, if nobody else uses it: with another file it is still that one.
    """
    path = state / FILE
    try:
        written = _read(path)
    except FileNotFoundError:
        written = known or ids.spell("m", entropy(ids.ENTROPY))
        _write(path, msgspec.json.encode(_Written(written)))
    return known or written


def _read(path: Path) -> str:
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_Written).id
    except FileNotFoundError:
        raise
    except (OSError, msgspec.DecodeError) as error:
        raise _unreadable(path) from error
    if not _ID.fullmatch(found):
        raise _unreadable(path)
    return found


def _unreadable(path: Path) -> MachineUnreadable:
    return MachineUnreadable(
        f"Can't read {path}, which says what machine this is. Restore it from a backup. "
        "Without one, remove it: this machine is then a new one, and doesn't continue its sessions."
    )


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, even if the power fails."""
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(file, "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
