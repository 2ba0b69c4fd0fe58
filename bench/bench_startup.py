"""How long `handraise` takes for what a person waits for, as a ratio to `python -c pass`: the clock, and CPU time.

And how long a hub takes until it answers, with what it then holds in memory.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import figures

TRIES = 25
HELP_TARGET, INBOX_TARGET = 4, 8
HUBS = 7
REST = 5.0
UP_TARGET, MEMORY_TARGET = 0.4, 45
"""In seconds, and in MB."""


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


class HubStart:
    """One hub, from its command to its first answer: by the clock, of the processor, and in memory after a rest."""

    def __init__(self, handraise: str, rest: float = 0.0) -> None:
        with tempfile.TemporaryDirectory() as state:
            begun = time.perf_counter()
            with subprocess.Popen(
                [handraise, "serve", "--state", state, "--port", "0"], stdout=subprocess.DEVNULL
            ) as hub:
                while not healthy(Path(state) / "hub.sock"):
                    if hub.poll() is not None:
                        sys.exit("the hub did not start")
                    time.sleep(0.002)
                self.clock = time.perf_counter() - begun
                self.cpu = int(Path(f"/proc/{hub.pid}/schedstat").read_text().split()[0]) / 1e9
                time.sleep(rest)
                rows = Path(f"/proc/{hub.pid}/smaps_rollup").read_text().splitlines()[1:]
                self.memory = {row.split()[0].rstrip(":"): int(row.split()[1]) / 1024 for row in rows}
                hub.terminate()


def healthy(file: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as end:
        try:
            end.connect(str(file))
        except OSError:
            return False
        end.sendall(b"GET /api/health HTTP/1.1\r\nHost: hub\r\nConnection: close\r\n\r\n")
        return end.recv(100).startswith(b"HTTP/1.1 200")


def hub_rows(handraise: str) -> list[str]:
    hubs = [HubStart(handraise) for _ in range(HUBS)]
    clock, cpu, memory = (
        min(each.clock for each in hubs),
        min(each.cpu for each in hubs),
        HubStart(handraise, REST).memory,
    )
    in_time, in_bounds = clock <= UP_TARGET, memory["Rss"] <= MEMORY_TARGET
    return [
        f"{'handraise serve, until it answers':<34}{clock * 1000:5.0f} ms  (CPU {cpu * 1000:.0f} ms)"
        f"; target: {UP_TARGET} s: {'holds' if in_time else 'MISSED'}",
        f"{'its memory after 5 s':<34}{memory['Rss']:5.1f} MB  (its share of what is shared: {memory['Pss']:.1f} MB)"
        f"; target: {MEMORY_TARGET} MB: {'holds' if in_bounds else 'MISSED'}",
    ]


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
    print("\n".join([*rows, *hub_rows(handraise)]))


if __name__ == "__main__":
    main()
