"""A house whose hub serves, so that commands reach it, with or without a terminal."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from handraise.claude.locate import locate
from handraise.demo import pieces
from handraise.demo.pieces import Scripted, say, use
from handraise.demo.request import Conversation
from handraise.model.asks import Ask, Body
from handraise.serving.serve import RunningHub, ServeConfig, serving
from stories.house import House
from surfaces.terminal.pseudo import Pseudo, handraise
from surfaces.terminal.ready import Started, start

READY = "Esc to postpone"
QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


class TerminalDesk:
    """A house whose hub serves, so that commands reach it."""

    def __init__(self, home: House) -> None:
        self.home = home
        self.state = home.tmp / "state"

    @asynccontextmanager
    async def serve(self, limit: int = 8) -> AsyncIterator[RunningHub]:
        async with serving(ServeConfig(self.state, locate(), self.home.environment, port=0, limit=limit)) as up:
            yield up

    @property
    def environment(self) -> dict[str, str]:
        record = {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
        record["ANTHROPIC_BASE_URL"] = self.home.environment["ANTHROPIC_BASE_URL"]  # for any Claude started here
        return {"HANDRAISE_STATE": str(self.state), "HOME": str(self.home.tmp), **record}

    def terminal(self, *arguments: str, environment: Mapping[str, str] | None = None, **size: int) -> Pseudo:
        fields = {**self.environment, **(environment or {})}
        return Pseudo(*handraise(*arguments), environment=fields, cwd=str(self.home.work), **size)

    async def stop_background_hub(self) -> None:
        """Ends the hub that a command started."""
        hub = int((self.state / "hub.lock").read_text())
        os.kill(hub, signal.SIGTERM)
        async with asyncio.timeout(60):
            while Path(f"/proc/{hub}").exists():
                await asyncio.sleep(0.05)

    async def script(self, *arguments: str, stdin: bytes | int = b"") -> tuple[int, str, str]:
        """Runs the command without a terminal: its exit code, output and errors."""
        async with self.running(*arguments, stdin=stdin) as script:
            return await script.end()

    @asynccontextmanager
    async def running(self, *arguments: str, stdin: bytes | int = b"") -> AsyncIterator["TypedScript"]:
        """The running command, without a terminal."""
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **self.environment}
        with TemporaryFile() as out, TemporaryFile() as err:
            reading = _reading(stdin)
            try:
                files = (reading, out.fileno(), err.fileno())
                started = await start(handraise(*arguments), environment, str(self.home.work), files)
            finally:
                os.close(reading)
            try:
                yield TypedScript(started, out, err)
            finally:
                await started.kill()


class TypedScript:
    """A command that runs without a terminal."""

    def __init__(self, started: Started, out: IO[bytes], err: IO[bytes]) -> None:
        self.pid = started.pid
        self._started = started
        self._out = out
        self._err = err

    async def until(self, text: str) -> None:
        """Waits until it has printed this."""
        async with asyncio.timeout(60):
            while text not in _written(self._out):
                await asyncio.sleep(0.05)

    async def end(self) -> tuple[int, str, str]:
        """Its exit code, output and errors."""
        async with asyncio.timeout(60):
            code = await self._started.wait()
        return code, _written(self._out), _written(self._err)


def _written(file: IO[bytes]) -> str:
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode()


def _reading(stdin: bytes | int) -> int:
    """The end of a pipe that this can be read from, or the one that was given."""
    if isinstance(stdin, int):
        return os.dup(stdin)
    reading, writing = os.pipe()
    os.write(writing, stdin)
    os.close(writing)
    return reading


@asynccontextmanager
async def desk(tmp: Path, script: Scripted, limit: int = 8) -> AsyncIterator[tuple[TerminalDesk, RunningHub]]:
    async with House(tmp, script) as home:
        laid = TerminalDesk(home)
        async with laid.serve(limit) as up:
            yield laid, up


async def opened(up: RunningHub, kind: type[Body]) -> Ask:
    """The first open ask of this kind."""
    async with asyncio.timeout(60), up.hub.desk.follow(0) as follower:
        async for _ in follower:
            for ask in await up.hub.desk.asks():
                if isinstance(ask.body, kind):
                    return ask
    raise AssertionError("the feed ended")


def choose_then_run(conversation: Conversation) -> pieces.Script:
    conversation = yield [say("Let me **ask** first."), use("AskUserQuestion", questions=[QUESTION])]
    conversation = yield [
        say(f"You said: {conversation.result().text}"),
        use("Bash", command="python3 -c 'print(6*7)'", description="Count"),
    ]
    conversation = yield [say(f"# Done\n\n- it said `{conversation.result().text}`")]
    while True:
        conversation = yield [say(f"Heard: {conversation.text}")]
