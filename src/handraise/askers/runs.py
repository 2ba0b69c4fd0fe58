"""The runs of agents outside: a private file for each, by which the agent's MCP server reaches the hub.

The file is the record: a stream token is good as long as its file is there.
"""

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from handraise.askers import run_file
from handraise.askers.counter import Caller
from handraise.askers.run_file import BadRunFile, Run
from handraise.model.tools import ASK_USER_SECONDS

STALE = 3600.0
"""How long a run that nobody hears of is kept, in seconds."""


class Runs:
    """`now` is the time as files have it: seconds since 1970."""

    def __init__(self, folder: Path, api_url: str, entropy: Callable[[int], bytes], now: Callable[[], float]) -> None:
        self._folder = folder
        self._api_url = api_url
        self._entropy = entropy
        self._now = now

    def open(self, project: str, timeout: int | None = None) -> tuple[str, Path]:
        """A new run: its stream token, and the file to name in `ASK_USER_CONFIG`."""
        self.sweep()
        token = str(UUID(bytes=self._entropy(16), version=4))
        told = {
            "apiUrl": self._api_url,
            "streamToken": token,
            "userId": os.getuid(),
            "projectId": project,
            "csrfToken": "",
            "timeout": timeout or ASK_USER_SECONDS,
        }
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = self._path(token)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(file, "w") as opened:
            json.dump(told, opened)
        return token, path

    def find(self, token: object) -> Run | None:
        """The run that a stream token belongs to; None if there is none, or none any more. It is heard of by this."""
        if not run_file.is_stream_token(token):
            return None
        path = self._path(str(token))
        try:
            run = run_file.load(str(path))
            os.utime(path, (self._now(), self._now()))
        except (BadRunFile, OSError):
            return None
        return run if run.stream_token == token else None

    def close(self, token: str) -> bool:
        """The run has ended; whether there was one."""
        if self.find(token) is None:
            return False
        self._path(token).unlink(missing_ok=True)
        return True

    def sweep(self) -> None:
        """Removes what was left behind."""
        for path in self._folder.glob("*.json"):
            if self._now() - path.stat().st_mtime > STALE:
                path.unlink(missing_ok=True)

    def named(self, name: str) -> str | None:
        """The stream token of the run that people know by this name."""
        tokens = (path.stem for path in self._folder.glob("*.json"))
        return next((token for token in tokens if name_of(token) == name), None)

    def _path(self, token: str) -> Path:
        return self._folder / f"{token.lower()}.json"


def caller_in(run: Run, directory: str, conversation: str = "") -> Caller:
    """Who asks in a run. The token itself is not written down anywhere else."""
    hashed = sha256(run.stream_token.lower().encode()).hexdigest()
    return Caller(f"run/{hashed}{conversation}", name_of(run.stream_token), directory, run.timeout)


def name_of(token: str) -> str:
    """What people see of a run."""
    return f"run {sha256(token.lower().encode()).hexdigest()[:10]}"
