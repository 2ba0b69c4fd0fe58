"""Runs of external agents: each has a private file that tells the agent's MCP server how to reach the hub.

The file is the record: a stream token is valid while its file exists.
"""

import asyncio
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from handraise.agents import run_file
from handraise.agents.calls import Caller
from handraise.agents.run_file import BadRunFile, Run
from handraise.model.own_tools import ASK_USER_SECONDS

STALE = 3600.0
"""After how many seconds without a sign of life a run is removed."""


class Runs:
    """`now` is the time in seconds since 1970, as files have it. `socket` is the hub's own."""

    def __init__(
        self, folder: Path, api_url: str, socket: Path, entropy: Callable[[int], bytes], now: Callable[[], float]
    ) -> None:
        self._folder = folder
        self._api_url = api_url
        self._socket = socket
        self._entropy = entropy
        self._now = now
        self._alive: dict[str, set[asyncio.Event]] = defaultdict(set)
        """Set for each connection when its run ends."""

    def open(self, project: str, timeout: int | None = None) -> tuple[str, Path]:
        """A new run: its stream token, and the file for `ASK_USER_CONFIG`. Raises BadRunFile."""
        self.sweep()
        token = str(UUID(bytes=self._entropy(16), version=4))
        fields = {
            "apiUrl": self._api_url,
            "streamToken": token,
            "userId": os.getuid(),
            "projectId": project,
            "csrfToken": "",
            "timeout": timeout or ASK_USER_SECONDS,
            "socket": str(self._socket),
        }
        text = json.dumps(fields)
        run_file.read(text.encode())
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = self._path(token)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(file, "w") as opened:
            opened.write(text)
        return token, path

    def find(self, token: object) -> Run | None:
        """The run of a stream token; None if there is none. Counts as a sign of life."""
        if not run_file.is_stream_token(token):
            return None
        self.sweep()
        path = self._path(str(token))
        try:
            run = run_file.load(str(path))
        except BadRunFile:
            return None
        self._hear(path)
        return run if run.stream_token == token else None

    def close(self, token: str) -> bool:
        """Ends the run. Returns whether there was one."""
        if self.find(token) is None:
            return False
        path = self._path(token)
        path.unlink(missing_ok=True)
        self._end(path)
        return True

    @contextmanager
    def alive(self, token: str) -> Iterator[asyncio.Event]:
        """A connection of this run is open while this is entered: the run doesn't become stale.

        The event is set when the run ends.
        """
        path = self._path(token)
        ended = asyncio.Event()
        self._alive[path.name].add(ended)
        if not path.exists():
            ended.set()
        try:
            yield ended
        finally:
            self._hear(path)
            self._alive[path.name].discard(ended)
            if not self._alive[path.name]:
                del self._alive[path.name]

    def sweep(self) -> None:
        """Removes stale runs; ends the connections of runs whose file is gone."""
        for name in list(self._alive):
            path = self._folder / name
            self._hear(path)
            if not path.exists():
                self._end(path)
        for path in self._folder.glob("*.json"):
            with suppress(FileNotFoundError):
                if self._now() - path.stat().st_mtime > STALE:
                    path.unlink()

    def named(self, name: str) -> str | None:
        """The stream token of the run that people know by this name."""
        tokens = (path.stem for path in self._folder.glob("*.json"))
        return next((token for token in tokens if name_of(token) == name), None)

    def _end(self, path: Path) -> None:
        for ended in self._alive.get(path.name, ()):
            ended.set()

    def _hear(self, path: Path) -> None:
        with suppress(FileNotFoundError):
            os.utime(path, (self._now(), self._now()))

    def _path(self, token: str) -> Path:
        return self._folder / f"{token.lower()}.json"


def caller_in(run: Run, directory: str, conversation: str = "") -> Caller:
    """Who asks in a run. The token itself is stored nowhere else."""
    hashed = sha256(run.stream_token.lower().encode()).hexdigest()
    return Caller(f"run/{hashed}{conversation}", name_of(run.stream_token), directory, run.timeout)


def name_of(token: str) -> str:
    """What people see of a run."""
    return f"run {sha256(token.lower().encode()).hexdigest()[:10]}"
