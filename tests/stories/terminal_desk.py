"""A house whose hub serves, so that commands reach it: in a terminal, or without one."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from handraise.claude.locate import locate
from handraise.demo.pieces import Script, Scripted, say, use
from handraise.demo.told import Told
from handraise.model.asks import Ask, Body
from handraise.serving import Service, Serving, serving
from stories.house import House
from surfaces.terminal.pseudo import Pseudo, handraise

READY = "Esc to postpone"
QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


class Desk:
    """A house whose hub serves, so that commands reach it."""

    def __init__(self, home: House) -> None:
        self.home = home
        self.state = home.tmp / "state"

    @asynccontextmanager
    async def serve(self, limit: int = 8) -> AsyncIterator[Serving]:
        async with serving(Service(self.state, locate(), self.home.environment, port=0, limit=limit)) as up:
            yield up

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
        kept["ANTHROPIC_BASE_URL"] = self.home.environment["ANTHROPIC_BASE_URL"]  # whatever starts a Claude here
        return {"HANDRAISE_STATE": str(self.state), "HOME": str(self.home.tmp), **kept}

    def terminal(self, *arguments: str, environment: Mapping[str, str] | None = None, **size: int) -> Pseudo:
        told = {**self.environment, **(environment or {})}
        return Pseudo(*handraise(*arguments), environment=told, cwd=str(self.home.work), **size)

    async def stop_background_hub(self) -> None:
        """Ends the hub that a command started."""
        hub = int((self.state / "hub.lock").read_text())
        os.kill(hub, signal.SIGTERM)
        async with asyncio.timeout(60):
            while Path(f"/proc/{hub}").exists():
                await asyncio.sleep(0.05)

    async def script(self, *arguments: str, stdin: bytes | int = b"") -> tuple[int, str, str]:
        """The command without a terminal."""
        started = await asyncio.create_subprocess_exec(
            *handraise(*arguments),
            stdin=stdin if isinstance(stdin, int) else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.home.work,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **self.environment},
        )
        async with asyncio.timeout(60):
            out, err = await started.communicate(None if isinstance(stdin, int) else stdin)
        return started.returncode or 0, out.decode(), err.decode()


@asynccontextmanager
async def desk(tmp: Path, script: Scripted, limit: int = 8) -> AsyncIterator[tuple[Desk, Serving]]:
    async with House(tmp, script) as home:
        laid = Desk(home)
        async with laid.serve(limit) as up:
            yield laid, up


async def opened(up: Serving, kind: type[Body]) -> Ask:
    """The first open ask of this kind."""
    async with asyncio.timeout(60), up.hub.desk.follow(0) as follower:
        async for _ in follower:
            for ask in await up.hub.desk.asks():
                if isinstance(ask.body, kind):
                    return ask
    raise AssertionError("the feed ended")


def choose_then_run(told: Told) -> Script:
    told = yield [say("Let me **ask** first."), use("AskUserQuestion", questions=[QUESTION])]
    told = yield [
        say(f"You said: {told.result().text}"),
        use("Bash", command="python3 -c 'print(6*7)'", description="Count"),
    ]
    told = yield [say(f"# Done\n\n- it said `{told.result().text}`")]
    while True:
        told = yield [say(f"Heard: {told.text}")]
