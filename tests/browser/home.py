"""The real CLI, a scripted model and a served hub: the page shows what Claude really does."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Scripted
from handraise.demo.project import SERVICE_FILES
from handraise.serving.serve import RunningHub, ServeConfig, serving


@dataclass
class Home:
    """`serve` may be entered repeatedly, at the same address."""

    service: ServeConfig
    work: Path
    model: ScriptedModel
    has_left_some: bool = False

    @asynccontextmanager
    async def serve(self, *, leaving: bool = False) -> AsyncIterator[RunningHub]:
        """Ends every Claude at the end, unless it is `leaving` them to the next hub."""
        async with serving(self.service) as up:
            self.has_left_some = True
            try:
                yield up
            finally:
                if not leaving:
                    await up.hub.pool.stop_all()
                    self.has_left_some = False


@asynccontextmanager
async def home(tmp: Path, script: Scripted, *, run: str = "1", **settings: Any) -> AsyncIterator[Home]:
    """Ends every Claude at the end. All of them share one script, unless `run` says otherwise."""
    work = tmp / "work"
    work.mkdir()
    for name, text in SERVICE_FILES.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    (tmp / "home").mkdir()
    async with ScriptedModel({"script": script}) as model:
        around = environment(model.url("script", run), str(tmp / "home"))
        made = Home(ServeConfig(tmp / "state", locate(), around, port=free_port(), **settings), work, model)
        try:
            yield made
        finally:
            if made.has_left_some:
                async with made.serve():
                    pass


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
