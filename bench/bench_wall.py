"""What the sandbox costs, as ratios to without it: the start of a session, a Bash call, and memory. With the real CLI.

Taken in turns, so that whatever else runs on the machine meets both alike; of several tries the fastest counts.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from handraise.claude.locate import locate
from handraise.claude.process_tree import descendants
from handraise.demo.environment import environment
from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.hub.hub import Hub, HubConfig, hub
from handraise.model.projects import Options
from stories.house import seen

TRIES = int(os.environ.get("TRIES", "5"))
CALLS = 20
MOST = 1.05


def script(told: Conversation) -> Script:
    """Two turns: a word, then many calls of Bash."""
    del told  # whatever is said
    yield [say("Ready.")]
    for _number in range(CALLS):
        yield [use("Bash", command="true", description="Nothing")]
    yield [say("Done.")]


class Figures:
    """Of one way: seconds to the end of the first turn, for one call, and bytes of all its processes."""

    def __init__(self) -> None:
        self.starts: list[float] = []
        self.calls: list[float] = []
        self.memory: list[float] = []

    def best(self) -> tuple[float, float, float]:
        return min(self.starts), min(self.calls), min(self.memory)


@asynccontextmanager
async def opened(tmp: Path, url: str, preset: str) -> AsyncIterator[Hub]:
    home, work = tmp / "home", tmp / "work"
    for each in (home, work):
        os.makedirs(each, exist_ok=True)
    options = Options(sandbox=preset, mode="bypassPermissions")
    async with hub(HubConfig(tmp / "state", locate(), environment(url, str(home)), options=options)) as up:
        yield up
        await up.pool.stop_all()


async def measure(up: Hub, work: Path, figures: Figures) -> None:
    begun = time.perf_counter()
    session = (await up.desk.start("Begin.", str(work))).session.id
    await turns(up, session, 1)
    figures.starts.append(time.perf_counter() - begun)
    runner = up.pool.runner(session)
    assert runner is not None
    figures.memory.append(sum(memory(each.pid) for each in (runner.identity, *descendants(runner.identity))))
    begun = time.perf_counter()
    await up.desk.say(session, "Go on.")
    await turns(up, session, 2)
    figures.calls.append((time.perf_counter() - begun) / CALLS)
    await up.desk.stop(session)
    await seen(up.desk, lambda each: type(each).__name__ == "SessionEnded", session)


async def turns(up: Hub, session: str, count: int) -> None:
    heard: list[str] = []

    def enough(content: object) -> bool:
        heard.append(type(content).__name__)
        return heard.count("TurnEnded") == count

    await seen(up.desk, enough, session)


def memory(pid: int) -> float:
    """The proportional share, so that pages which several have are counted once."""
    return float(next(line.split()[1] for line in Path(f"/proc/{pid}/smaps_rollup").open() if line.startswith("Pss:")))


async def main() -> None:
    figures = {preset: Figures() for preset in ("off", "open", "sealed")}
    async with ScriptedModel({"script": script}) as model:
        with tempfile.TemporaryDirectory() as folder:
            for turn in range(TRIES + 1):
                for preset, found in figures.items():
                    tmp = Path(folder, preset)
                    async with opened(tmp, model.url("script"), preset) as up:
                        await measure(up, tmp / "work", found if turn else Figures())
    without = figures["off"].best()
    for preset, found in figures.items():
        start, call, size = found.best()
        ratios = [each / plain for each, plain in zip(found.best(), without, strict=True)]
        over = "" if max(ratios) <= MOST else f"   over {MOST:.2f}"
        print(
            f"{preset:8} start {start * 1000:6.0f} ms {ratios[0]:5.2f}  Bash {call * 1000:6.1f} ms {ratios[1]:5.2f}"
            f"   memory {size / 1024:6.1f} MiB {ratios[2]:5.2f}{over}"
        )


if __name__ == "__main__":
    asyncio.run(main())
