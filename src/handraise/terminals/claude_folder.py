"""Reads what a Claude in a terminal writes about itself: its state, and its transcript. Within Claude's folder only."""

import os
import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from stat import S_ISREG

import msgspec

from handraise.terminals.dialogs import LiveSession

_LARGEST_STATE = 64 * 1024
_MOST_STATES = 1000
_EARLIER = 1024 * 1024
"""How much of a transcript before the dialog is read."""
_AT_ONCE = 4 * 1024 * 1024
_ID = re.compile(r"[0-9A-Za-z-]{1,100}")
_STARTED = 19
"""Where a process's start time stands in `/proc/<pid>/stat`, after the name in parentheses."""


def folder_of(environment: Mapping[str, str]) -> Path | None:
    """Where a Claude with this environment keeps its files."""
    named = environment.get("CLAUDE_CONFIG_DIR") or ""
    home = environment.get("HOME") or ""
    if named:
        return Path(os.path.realpath(named))
    return Path(os.path.realpath(Path(home) / ".claude")) if home else None


def live_session(folder: Path, session: str) -> LiveSession | None:
    """The running Claude with this session; None if there is none."""
    try:
        with os.scandir(folder / "sessions") as entries:
            names = [entry.path for entry in islice(entries, _MOST_STATES) if entry.name.endswith(".json")]
    except OSError:
        return None
    for name in names:
        found = _state(name)
        if found is not None and found.session_id == session and _runs(found):
            return found
    return None


class Transcript:
    """The lines that are added to a session's transcript from here on."""

    def __init__(self, folder: Path, path: str, name: str, offset: int | None = None) -> None:
        """Any file that is called otherwise, or isn't among Claude's transcripts, counts as missing.

        Without an offset, reading begins with the last part of what is there.
        """
        real = Path(os.path.realpath(path)) if "\0" not in path else Path()
        is_ours = real.is_relative_to(folder / "projects") and real.name == f"{name}.jsonl"
        self._path = real if is_ours else None
        self._offset = offset

    @property
    def offset(self) -> int:
        """How far it was read."""
        return self._offset or 0

    @property
    def size(self) -> int:
        try:
            return self._path.stat().st_size if self._path is not None else 0
        except OSError:
            return 0

    def lines(self) -> list[bytes]:
        """The complete lines since the last time."""
        if self._path is None:
            return []
        try:
            with open(self._path, "rb", opener=_without_waiting) as file:
                about = os.fstat(file.fileno())
                if not S_ISREG(about.st_mode):
                    return []
                if self._offset is None:
                    self._offset = max(0, about.st_size - _EARLIER)
                if about.st_size <= self._offset:
                    return []
                file.seek(self._offset)
                text = file.read(_AT_ONCE)
        except (OSError, ValueError):
            return []
        whole = text.rpartition(b"\n")[0]
        # A line that is longer than we read at once is skipped.
        self._offset += len(whole) + 1 if whole or text.startswith(b"\n") else len(text) if len(text) == _AT_ONCE else 0
        return whole.split(b"\n") if whole else []


def transcript_of(folder: Path, session: str) -> str | None:
    """Where a session's transcript is; None if there is none."""
    if not _ID.fullmatch(session):
        return None
    return next((str(path) for path in (folder / "projects").glob(f"*/{session}.jsonl")), None)


def _state(name: str) -> LiveSession | None:
    try:
        with open(name, "rb", opener=_without_waiting) as file:
            return msgspec.json.decode(file.read(_LARGEST_STATE), type=LiveSession)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None


def _runs(found: LiveSession) -> bool:
    """Whether its process still exists: one that was killed leaves its state behind."""
    if found.pid <= 1:
        return False
    try:
        about = Path(f"/proc/{found.pid}/stat").read_bytes()
    except FileNotFoundError:
        return not Path("/proc/self/stat").exists() and _exists(found.pid)
    except OSError:
        return False
    fields = about.rpartition(b")")[2].split()
    return not found.proc_start or fields[_STARTED] == found.proc_start.encode()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
