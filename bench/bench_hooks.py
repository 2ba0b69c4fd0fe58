"""The cost of the hook for a Claude that people run themselves: without a hub, and with one that a rule answers in.

Each call is one that Claude asks about; the reference is the same Claude without the hook, in turns in the same run.
"""

import asyncio
import json
import socket
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import figures
from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.actors import Person
from handraise.model.rules import Rule
from handraise.serving.serve import ServeConfig, serving
from handraise.workspace.hook_entry import PATH, HookEntry
from handraise.workspace.user_settings import sync_user

CALLS = 30
ROUNDS = 5
MOST = 0.005
RULES = [Rule("r", "deny", tool="WebFetch", message="Not here.")]


class AskedCalls:
    """A model whose calls are all asked about and denied, and that records when it gets each result."""

    def __init__(self) -> None:
        self.heard: list[float] = []

    def script(self, _: Conversation) -> Script:
        for number in range(CALLS):
            yield [use("WebFetch", url=f"http://127.0.0.1:9/{number}", prompt="Read it")]
            self.heard.append(time.perf_counter())
        yield [say("Done.")]

    @property
    def seconds(self) -> list[float]:
        """From one result to the next."""
        return [after - before for before, after in pairwise(self.heard)]


def closed_port() -> int:
    """One on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@asynccontextmanager
async def hook(home: Path, *, kind: str) -> AsyncIterator[None]:
    """The user's settings with the hook, and a hub if there is to be one."""
    folder = home / ".claude"
    match kind:
        case "none":
            yield
        case "no hub":
            sync_user(folder, HookEntry(f"http://127.0.0.1:{closed_port()}{PATH}", "secret"))
            yield
        case _:
            config = ServeConfig(home / "state", locate(), {"HOME": str(home)}, port=0, rules=RULES)
            async with serving(config) as up:
                made = await up.auth.make("bench", "agent", Person("bench"), "bench")
                sync_user(folder, HookEntry(f"{up.base}{PATH}", made.secret))
                yield


async def seconds_of_calls(kind: str) -> list[float]:
    calls = AskedCalls()
    with tempfile.TemporaryDirectory() as folder:
        work, home = Path(folder) / "work", Path(folder) / "home"
        work.mkdir()
        home.mkdir()
        async with ScriptedModel({"script": calls.script}) as model, hook(home, kind=kind):
            around = environment(model.url("script"), str(home))
            words = ("-p", "--permission-mode", "default", "--output-format", "json", "Begin.")
            claude = await asyncio.create_subprocess_exec(
                locate(), *words, cwd=work, env=around, stdin=DEVNULL, stdout=DEVNULL
            )
            await claude.wait()
    assert len(calls.heard) == CALLS, json.dumps({"kind": kind, "calls": len(calls.heard)})
    return calls.seconds


async def main() -> None:
    measured: dict[str, list[float]] = {"none": [], "no hub": [], "hub": []}
    for _ in range(ROUNDS):
        for kind in measured:
            measured[kind] += await seconds_of_calls(kind)
    # The least: whatever else the machine does only adds to it, and by more than the hook.
    absent, there = (min(measured[kind]) - min(measured["none"]) for kind in ("no hub", "hub"))
    middle = statistics.median(measured["no hub"]) - statistics.median(measured["none"])
    verdict = "holds" if absent < MOST else "MISSED"
    figures.report_over(
        "a call with the hook and no hub, of one without", min(measured["none"]), min(measured["no hub"])
    )
    figures.report_over("a call with the hook and a hub, of one without", min(measured["none"]), min(measured["hub"]))
    sys.stdout.write(
        f"hooks: a call that is asked about takes {absent * 1000:+.2f} ms when there is no hub; target: under "
        f"{MOST * 1000:g} ms more: {verdict} (at the median {middle * 1000:+.2f} ms; with a hub and a rule that "
        f"answers: {there * 1000:+.2f} ms). The least of {len(measured['none'])} calls of each\n"
    )


if __name__ == "__main__":
    asyncio.run(main())
