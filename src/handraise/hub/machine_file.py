"""The identity of this machine, made once and kept in the state folder; and which claim was made from there."""

import os
import re
import socket
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
    home: str = ""
    """Where the state folder was when a hub last claimed the machine from it."""
    epoch: int = 0
    """Of that claim."""


class MachineFile:
    """The file in a state folder; its first hub makes it. For the one hub that holds that folder."""

    def __init__(self, state: Path, entropy: Callable[[int], bytes], known: str | None = None) -> None:
        """`known` is the machine that the database belongs to, if nobody else uses it.

        With another file it is still that one.
        """
        self._path = state / FILE
        try:
            self._written = _read(self._path)
        except FileNotFoundError:
            self._written = _Written(known or ids.spell("m", entropy(ids.ENTROPY)))
            _write(self._path, msgspec.json.encode(self._written))
        self.id = known or self._written.id

    def made(self, epoch: int) -> bool:
        """Whether this claim was made from this very folder: nobody else holds that, so that hub has ended."""
        return (self._written.home, self._written.epoch) == (_home(self._path.parent), epoch)

    def record(self, epoch: int) -> None:
        """Remembers a claim that was made from here."""
        self._written = _Written(self._written.id, _home(self._path.parent), epoch)
        _write(self._path, msgspec.json.encode(self._written))

    def renew(self, entropy: Callable[[int], bytes]) -> None:
        """A new machine from now on: its earlier sessions stay with whoever has the old identity."""
        self._written = _Written(ids.spell("m", entropy(ids.ENTROPY)))
        _write(self._path, msgspec.json.encode(self._written))
        self.id = self._written.id


def _home(folder: Path) -> str:
    """What a copy of the folder doesn't have in common with it, nor a clone of the whole machine."""
    try:
        host = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        host = socket.gethostname()
    status = folder.stat()
    return f"{host} {status.st_dev} {status.st_ino}"


def _read(path: Path) -> _Written:
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_Written)
    except FileNotFoundError:
        raise
    except (OSError, msgspec.DecodeError) as error:
        raise _unreadable(path) from error
    if not _ID.fullmatch(found.id):
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
