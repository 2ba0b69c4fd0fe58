"""Starts a hub in the background for a command that needs one. The hub outlives the command."""

import subprocess
import sys
import time
from pathlib import Path

from handraise.cli.client import HubClient, NoHub
from handraise.cli.errors import FAILED, PORT_TAKEN

LOG = "hub.log"
BACKGROUND = "--background"
"""How a hub that a command started is recognized."""
_PATIENCE = 30.0
_GRACE = 2.0
"""If our hub could not start because another one was faster, the other one needs a moment."""


def start_hub(state: Path) -> None:
    """Starts `handraise serve`, detached, and returns when it answers; raises NoHub with the last line of its log."""
    log = state / LOG
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        code = _start(state, log)
        # Another program may have the usual port; a hub on another one is better than none.
        if code == PORT_TAKEN:
            code = _start(state, log, "--port", "0")
    except OSError as error:
        raise NoHub(f"Can't start a hub in {state}: {error.strerror}. Use --state to choose another folder.") from error
    if code is not None:
        raise NoHub(f"The hub did not start: {_last(log)}\nSee {log}, or start it yourself with: handraise serve")


def _start(state: Path, log: Path, *options: str) -> int | None:
    """None if a hub answers, ours or another one that was faster; otherwise the exit code of ours."""
    with log.open("ab") as output:
        hub = subprocess.Popen(
            [sys.executable, "-m", "handraise", "serve", BACKGROUND, "--no-link", "--state", str(state), *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            cwd="/",
        )
    client = HubClient(state)
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if client.is_there():
            return None
        if hub.poll() == PORT_TAKEN:
            return PORT_TAKEN
        if hub.poll() is not None:
            deadline = min(deadline, time.monotonic() + _GRACE)
        time.sleep(0.05)
    return hub.returncode or FAILED


def _last(log: Path) -> str:
    lines = [each for each in log.read_text(errors="replace").splitlines() if each.strip()]
    return lines[-1] if lines else "its log is empty"
