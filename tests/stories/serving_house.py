"""A hub as a person starts it: `handraise serve` in its own process, with the real CLI and the scripted model.

It is forked from a process that has everything imported; `test_serve.py` and `test_no_namespaces.py` also start it from
scratch.
"""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from handraise.cli.client import HubClient
from handraise.demo.model import environment
from handraise.desk.remote import RemoteDesk
from surfaces.terminal.pseudo import handraise
from surfaces.terminal.ready import Started, start

DEADLINE = 60.0
OURS = os.pathsep.join(sys.path)
"""Where this version is imported from."""


class HubProcess:
    """As asyncio has it, but forked from a process that has everything imported."""

    def __init__(self, started: Started, stdout: asyncio.StreamReader) -> None:
        self.stdout = stdout
        self.pid = started.pid
        self.send_signal = started.send_signal
        self.wait = started.wait

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@dataclass
class HubChild:
    """A running hub. `output` is everything on stdout until it was up."""

    child: HubProcess
    output: str
    errors: Path
    neighbour: HubClient

    @property
    def link(self) -> str:
        """A link that signs one browser in, as `handraise token link` prints it: a new one each time."""
        return str(self.neighbour.post("/api/login-link")["link"])

    def token(self, name: str, role: str) -> str:
        """As `handraise token create` creates it."""
        made = self.neighbour.post("/api/tokens", {"name": name, "role": role, "expires_at": None, "project": None})
        return str(made["secret"])

    @property
    def base(self) -> str:
        found = re.search(r"up at (\S+)", self.output)
        assert found, self.output
        return found[1]

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> float:
        """Returns the seconds until it exited cleanly."""
        began = asyncio.get_running_loop().time()
        self.child.send_signal(number)
        async with asyncio.timeout(DEADLINE):
            code = await self.child.wait()
        assert code == 0, (code, self.errors.read_text())
        return asyncio.get_running_loop().time() - began


def surroundings(tmp: Path, model_url: str = "http://127.0.0.1:9") -> dict[str, str]:
    """The environment of a person whose Claude talks to the scripted model."""
    (tmp / "home").mkdir(exist_ok=True)
    return {
        **environment(model_url, str(tmp / "home")),
        "HANDRAISE_STATE": str(tmp / "state"),
        "HANDRAISE_CONFIG": str(tmp / "handraise.toml"),
        "PYTHONPATH": OURS,
    }


def settle_in(tmp: Path, settings: str = "") -> None:
    """Writes the settings; the scripted model needs a key."""
    (tmp / "handraise.toml").write_text(f"[claude]\nuse_api_billing = true\n{settings}")


@asynccontextmanager
async def serve(tmp: Path, environ: dict[str, str], *options: str) -> AsyncIterator[HubChild]:
    """Up while this is entered; killed when it is left, unless it has exited."""
    words = handraise("serve", "--port", "0", *options)
    if environ["PYTHONPATH"] != OURS:  # another version, which nobody has imported yet
        words = ("env", *words)
    errors = tmp / "errors.txt"
    loop, stdout = asyncio.get_running_loop(), asyncio.StreamReader()
    ours, theirs = os.pipe()
    pipe = open(ours, "rb", 0)  # noqa: SIM115 (closed with its transport)
    reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdout), pipe)
    with errors.open("ab") as stderr, open(theirs, "wb") as output, open(os.devnull) as nothing:
        files = (nothing.fileno(), output.fileno(), stderr.fileno())
        started = await start(words, environ, os.getcwd(), files)
    child = HubProcess(started, stdout)
    try:
        text = ""
        async with asyncio.timeout(DEADLINE):
            while "token link" not in text:
                line = await child.stdout.readline()
                assert line, errors.read_text()
                text += line.decode()
        assert "code=" not in text, "what is no terminal may be a file"
        yield HubChild(child, text, errors, HubClient(environ["HANDRAISE_STATE"]))
    finally:
        await started.kill()
        reading.close()


async def command(environ: dict[str, str], *words: str) -> tuple[int, str]:
    """Runs a command as typed: its exit code and output."""
    with TemporaryFile() as text, open(os.devnull) as nothing:
        files = (nothing.fileno(), text.fileno(), text.fileno())
        started = await start(handraise(*words), environ, os.getcwd(), files)
        async with asyncio.timeout(DEADLINE):
            code = await started.wait()
        text.seek(0)
        return code, text.read().decode()


def desk(tmp: Path) -> RemoteDesk:
    """The owner's desk, on the Unix socket."""
    return RemoteDesk(tmp / "state" / "hub.sock")


async def stop_all(tmp: Path, environ: dict[str, str]) -> None:
    """Ends everything that a story left running."""
    async with serve(tmp, environ, "--stop-sessions") as last:
        await last.stop()
