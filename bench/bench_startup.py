"""How long `handraise` takes for what a person waits for, as a ratio to `python -c pass`: the clock, and CPU time."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import figures

TRIES = 25
HELP_TARGET, INBOX_TARGET = 4, 8


class StartTime:
    """The least of several tries: other load only makes it slower. By the clock, and of the processor, in seconds."""

    def __init__(self, *command: str, **environment: str) -> None:
        self.clock = self.cpu = float("inf")
        for _ in range(TRIES):
            begun, before = time.perf_counter(), getrusage(RUSAGE_CHILDREN)
            subprocess.run(command, env={**os.environ, **environment}, check=False, capture_output=True)
            after = getrusage(RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            self.clock, self.cpu = min(self.clock, time.perf_counter() - begun), min(self.cpu, used)

    def row(self, name: str, python: "StartTime", target: int | None = None) -> str:
        ratio = self.clock / python.clock
        if name.startswith("handraise"):
            figures.report(f"{name}, CPU, of python -c pass", self.cpu / python.cpu)
        verdict = "" if target is None else f"; target: {target}: {'holds' if ratio <= target else 'MISSED'}"
        return f"{name:<34}{self.clock * 1000:5.0f} ms  {ratio:4.1f}   (CPU {self.cpu / python.cpu:4.1f}){verdict}"


def main() -> None:
    handraise = str(Path(sys.executable).with_name("handraise"))
    with (
        tempfile.TemporaryDirectory() as state,
        subprocess.Popen([handraise, "serve", "--state", state, "--port", "0"], stdout=subprocess.DEVNULL) as hub,
    ):
        while not (Path(state) / "hub.sock").exists():
            if hub.poll() is not None:
                sys.exit("the hub did not start")
            time.sleep(0.05)
        python = StartTime(sys.executable, "-c", "pass")
        rows = [
            python.row("python -c pass", python),
            StartTime(handraise, "--help").row("handraise --help", python, HELP_TARGET),
            StartTime(sys.executable, "-c", "import json, socket, datetime").row(
                "with json, socket and the like", python
            ),
            StartTime(handraise, "ps", HANDRAISE_STATE=state).row("handraise ps, asking a hub", python),
            StartTime(handraise, "inbox", "--json", HANDRAISE_STATE=state).row(
                "handraise inbox --json", python, INBOX_TARGET
            ),
            StartTime(sys.executable, "-c", "import asyncio, click, msgspec").row(
                "with asyncio, click and msgspec", python
            ),
            StartTime(handraise, "inbox", HANDRAISE_STATE=state).row("handraise inbox, in a pipe", python),
        ]
        hub.terminate()
    print("\n".join(rows))


if __name__ == "__main__":
    main()
