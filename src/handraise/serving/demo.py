"""The demo: a real hub and the real CLI, with a scripted model instead of an account. Leaves nothing behind."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from handraise.claude.locate import locate
from handraise.demo.model import EACH_SESSION, ScriptedModel, environment
from handraise.demo.project import RELEASE_FILES, SERVICE_FILES, servers
from handraise.demo.scenarios import SCENARIOS
from handraise.serving.serve import RunningHub, ServeConfig, serving, signals

SESSIONS = {
    "Add a health endpoint": "Add a health endpoint to this service, with a test.",
    "Ship it": "Ship it to staging.",
}


async def demonstrate(
    folder: Path, port: int, tell: Callable[[str], object], show: Callable[[str], object], *, private: bool
) -> None:
    """Serves until it is stopped. `show` opens a link; it is printed only if nobody else can read it (`private`)."""
    with signals() as stop:
        async with demonstration(folder, port) as served:
            tell(f"Handraise is up at {served.base}, with two sessions that will ask for you.")
            if served.hub.wall.missing:
                tell(f"Warning: no sandbox. {served.hub.wall.missing} {served.hub.wall.advice}")
            state = folder / "state"
            if private:
                link = await served.new_link()
                tell(f"Open this link to answer them:\n  {link}")
                show(link)
            else:
                tell(f"To answer them in the browser, get a link:\n  handraise token link --state {state}")
            tell(f"Or from another terminal:\n  handraise inbox --state {state}")
            await stop.wait()
            tell("Stopping.")


@asynccontextmanager
async def demonstration(folder: Path, port: int) -> AsyncIterator[RunningHub]:
    """A hub with the demo's sessions. They end with it, since their model does."""
    project = folder / "toy-service"
    project.mkdir()
    for name, text in {**SERVICE_FILES, **RELEASE_FILES}.items():
        (project / name).write_text(text)
    home = folder / "home"
    home.mkdir()
    (home / ".claude.json").write_text(servers(sys.executable))
    async with ScriptedModel(SCENARIOS) as model:
        claudes = environment(model.url("welcome", EACH_SESSION), str(home))
        async with serving(ServeConfig(folder / "state", locate(), claudes, port=port)) as served:
            for title, words in SESSIONS.items():
                await served.hub.desk.start(words, str(project), title=title)
            try:
                yield served
            finally:
                await served.hub.pool.stop_all()
