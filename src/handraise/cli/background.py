"""A hub in the background, for a command that needs one and finds none. It outlives the command."""

import subprocess
import sys
import time
from pathlib import Path

from handraise.cli.client import HubClient, NoHub
from handraise.cli.errors import FAILED, PORT_TAKEN

LOG = "hub.log"
_PATIENCE = 30.0
_GRACE = 2.0
"""When ours could not start because another one was faster, that one needs a moment."""


def start_hub(state: Path) -> None:
    """Starts `handraise serve`, detached, and returns when it answers; raises NoHub with what its log says."""
    log = state / LOG
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        code = _start(state, log)
        # Another program may have the usual port; a hub on another one is better than none.
        if code == PORT_TAKEN:
            code = _start(state, log, "--port", "0")
    except OSError as error:
        raise NoHub(f"{state} can't hold a hub: {error.strerror}. Choose another with --state.") from error
    if code is not None:
        raise NoHub(f"The hub did not start. It said: {_last(log)}\nMore is in {log}; or start it: handraise serve")


def _start(state: Path, log: Path, *options: str) -> int | None:
    """None when a hub answers, ours or one that was faster; else what ours ended with."""
    with log.open("ab") as written:
        started = subprocess.Popen(
            [sys.executable, "-m", "handraise", "serve", "--no-link", "--state", str(state), *options],
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            start_new_session=True,
            cwd="/",
        )
    client = HubClient(state)
    ends = time.monotonic() + _PATIENCE
    while time.monotonic() < ends:
        if client.is_there():
            return None
        if started.poll() == PORT_TAKEN:
            return PORT_TAKEN
        if started.poll() is not None:
            ends = min(ends, time.monotonic() + _GRACE)
        time.sleep(0.05)
    return started.returncode or FAILED


def _last(log: Path) -> str:
    lines = [each for each in log.read_text(errors="replace").splitlines() if each.strip()]
    return lines[-1] if lines else "nothing"
