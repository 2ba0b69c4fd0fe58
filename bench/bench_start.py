"""A hub's start until it is healthy, and its memory at rest, against Python that imports its libraries."""

import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import figures

STARTS = 15
REST = 3.0
HEALTHY, MEMORY = 0.4, 45.0
"""Seconds, and megabytes."""
LIBRARIES = "import asyncio, msgspec, apsw, starlette.applications, uvicorn, uvloop"
_WAIT = "; import sys; print(flush=True); sys.stdin.read()"


def hub_until_healthy(state: Path) -> float:
    """Seconds, with a database that exists already, as in every start but the first."""
    port, began = free_port(), time.monotonic()
    with started(state, port) as hub:
        while not is_healthy(port):
            assert hub.poll() is None, "the hub did not start"
            time.sleep(0.002)
        took = time.monotonic() - began
        hub.send_signal(signal.SIGTERM)
        hub.wait()
    return took


def started(state: Path, port: int) -> subprocess.Popen[bytes]:
    handraise = Path(sys.executable).with_name("handraise")
    words = (handraise, "serve", "--state", state, "--port", str(port))
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def is_healthy(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        return client.recv(4096).startswith(b"HTTP/1.1 200")
    return False


def python(code: str) -> float:
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.monotonic() - began


def hub_memory(state: Path) -> tuple[float, float]:
    port = free_port()
    with started(state, port) as hub:
        while not is_healthy(port):
            time.sleep(0.05)
        time.sleep(REST)
        found = memory(hub.pid)
        hub.send_signal(signal.SIGTERM)
        hub.wait()
    return found


def python_memory(code: str) -> tuple[float, float]:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code + _WAIT], stdin=pipe, stdout=pipe) as process:
        assert process.stdout
        process.stdout.readline()
        return memory(process.pid)


def memory(pid: int) -> tuple[float, float]:
    """Megabytes: resident, and the share of it that this process has to itself or splits with others."""
    fields = dict(line.split(":") for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return tuple(int(fields[name].split()[0]) / 1024 for name in ("Rss", "Pss"))  # type: ignore[return-value]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "state")
        os.environ["HANDRAISE_STATE"] = str(state)
        hub_until_healthy(state)
        # In turns, so that other load affects all.
        rounds = [(hub_until_healthy(state), python(LIBRARIES), python("pass")) for _ in range(STARTS)]
        mine, libraries, nothing = (statistics.median(each) for each in zip(*rounds, strict=True))
        (resident, own), (resident_libraries, own_libraries) = hub_memory(state), python_memory(LIBRARIES)
    verdict = "holds" if mine <= HEALTHY else "MISSED"
    print(
        f"start: healthy after {mine:.2f} s, {mine / libraries:.2f} of Python that imports the libraries "
        f"({libraries:.2f} s), {mine / nothing:.1f} of one that imports nothing; target: {HEALTHY:g} s: {verdict}"
    )
    verdict = "holds" if resident <= MEMORY else "MISSED"
    print(
        f"start: at rest {resident:.1f} MB resident, {resident / resident_libraries:.2f} of the libraries alone "
        f"({resident_libraries:.1f} MB); target: {MEMORY:g} MB: {verdict}. "
        f"Its share (PSS): {own:.1f} and {own_libraries:.1f} MB"
    )
    figures.report("healthy, of Python with the libraries", mine / libraries)
    figures.report("memory, of Python with the libraries", resident / resident_libraries)


if __name__ == "__main__":
    main()
