"""The folder of one process of a session, and the lock that keeps two processes out of one conversation."""

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import Struct

from handraise.claude import launcher
from handraise.claude.process import Identity
from handraise.texts import t

_LAST_LINES = 20
_LAST_BYTES = 16 * 1024


class SessionBusy(Exception):
    """Another Claude process has this conversation open."""

    def __init__(self, session_id: str) -> None:
        super().__init__(t("sessions.start.busy", conversation=session_id))
        self.session_id = session_id


def take_lock(folder: Path, session_id: str) -> int:
    """A file descriptor that holds the lock. Claude inherits it and holds it until it exits; raises SessionBusy."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(folder / f"{session_id}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise SessionBusy(session_id) from None
    return lock


class LaunchRecord(Struct, frozen=True):
    """What the launched process recorded about itself."""

    pid: int
    started: str
    boot: str
    command: list[str]
    session_id: str
    directory: str

    @property
    def identity(self) -> Identity:
        return Identity(self.pid, self.started, self.boot)


class RunFolder(Struct, frozen=True):
    """`sessions/<id>/<run>/`, 0700."""

    path: Path

    @property
    def fifo(self) -> Path:
        return self.path / "in"

    @property
    def lock(self) -> Path:
        return self.path / "in.lock"

    @property
    def spill(self) -> Path:
        """A line that is too long for one write, until writing starts."""
        return self.path / "spill"

    @property
    def begun_spill(self) -> Path:
        """The same line, until all of it is written."""
        return self.path / "spill.begun"

    @property
    def journal(self) -> Path:
        return self.path / "out.ndjson"

    @property
    def errors(self) -> Path:
        return self.path / "err.log"

    @classmethod
    def make(cls, path: Path) -> Self:
        """Creates the folder and its files, each private from the start."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
        folder = cls(path)
        os.mkfifo(folder.fifo, 0o600)
        for each in (folder.lock, folder.journal, folder.errors):
            os.close(os.open(each, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return folder

    def order(
        self, command: list[str], session_id: str, directory: str, sandbox: Mapping[str, Any] | None = None
    ) -> None:
        """Writes what to launch to a file, since a program's argument can have at most 128 KiB."""
        ordered = {"command": command, "session_id": session_id, "directory": directory, "sandbox": sandbox}
        with open(self.path / "launch.json", "x", opener=launcher.private) as file:
            json.dump(ordered, file)

    def record(self) -> LaunchRecord | None:
        """The process that was launched here; None if there is none yet: the launcher adds it to the order."""
        try:
            return msgspec.json.decode((self.path / "launch.json").read_bytes(), type=LaunchRecord)
        except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError):
            return None

    def last_errors(self) -> str:
        """The last lines of Claude's stderr."""
        try:
            with open(self.errors, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST_BYTES))
                text = file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-_LAST_LINES:])
