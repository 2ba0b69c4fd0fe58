"""How long `handraise ps` and `handraise inbox` take, as a ratio to `python -c pass`: a person waits for them."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TRIES = 15


def fastest(*command: str, **environment: str) -> float:
    """The fastest of several tries: other load only makes it slower."""
    took = []
    for _ in range(TRIES):
        begun = time.perf_counter()
        subprocess.run(command, env={**os.environ, **environment}, check=False, capture_output=True)
        took.append(time.perf_counter() - begun)
    return min(took)


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
        python = fastest(sys.executable, "-c", "pass")
        standard = fastest(sys.executable, "-c", "import json, socket, datetime")
        ps = fastest(handraise, "ps", HANDRAISE_STATE=state)
        libraries = fastest(sys.executable, "-c", "import asyncio, click, msgspec")
        inbox = fastest(handraise, "inbox", HANDRAISE_STATE=state)
        hub.terminate()
    print(f"python -c pass                 {python * 1000:5.0f} ms   1.0")
    print(f"with json, socket and the like {standard * 1000:5.0f} ms  {standard / python:4.1f}")
    print(f"handraise ps, asking a hub     {ps * 1000:5.0f} ms  {ps / python:4.1f}")
    print(f"with asyncio, click and msgspec{libraries * 1000:5.0f} ms  {libraries / python:4.1f}")
    print(f"handraise inbox, in a pipe     {inbox * 1000:5.0f} ms  {inbox / python:4.1f}")


if __name__ == "__main__":
    main()
