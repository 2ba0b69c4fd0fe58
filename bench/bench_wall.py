"""The cost of the sandbox, as ratios to none: the start of a session, a Bash call, and memory. With the real CLI.

Each round has a session of every preset. First each of them starts alone and is stopped again, twice. Then they take
turns with the calls. The order changes each time, so that other work on the machine affects all alike. What counts is
the median of the rounds' ratios, by the clock; the CPU time of Claude and everything it starts is printed too. `again`
is a second one without a sandbox: its distance from 1 is the noise of Claude and of the machine.
"""

import asyncio
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from msgspec import Struct, field

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import figures
from handraise.claude.locate import locate
from handraise.claude.process import descendants
from handraise.demo.model import EACH_SESSION, ScriptedModel, environment
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.hub.hub import Hub, HubConfig, hub
from handraise.model.projects import SANDBOXES, Options
from stories.house import seen

ROUNDS = int(os.environ.get("ROUNDS", "12"))
TURNS = 4
CALLS = 5
STARTS = 2
REST = 1.0
"""Seconds after which a Claude that was just started or stopped has cleaned up."""
MOST = 1.05
DRAWS = 1000
TICK = os.sysconf("SC_CLK_TCK")
COMMAND = "echo x >> calls"
WAYS = {"off": "off", "again": "off", **{each: each for each in SANDBOXES if each != "off"}}
"""What is compared: names and their presets."""


def script(conversation: Conversation) -> Script:
    """A first turn of one word, then turns with Bash calls."""
    del conversation  # whatever the message
    yield [say("Ready.")]
    for _turn in range(TURNS):
        for _call in range(CALLS):
            conversation = yield [use("Bash", command=COMMAND, description="Notes a call")]
            assert not conversation.result().is_error, conversation.result().text
        yield [say("Done.")]


class Figures(Struct):
    """Of one preset, a value for each round or turn: clock and CPU seconds, and KiB."""

    starts: list[float] = field(default_factory=list)
    start_work: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)
    call_work: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


class BenchHub:
    """A hub that starts its sessions in one preset."""

    def __init__(self, up: Hub, work: Path) -> None:
        self._hub = up
        self._work = work
        self._session = ""
        self._turns = 0
        self._spent = 0.0
        self.figures = Figures()

    async def measure_start(self) -> None:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        await self.start()
        self.figures.starts.append(time.perf_counter() - begun)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        launcher = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.figures.start_work.append(self._spent + launcher)
        await self.stop()

    async def start(self) -> None:
        self._turns = 0
        self._session = (await self._hub.desk.start("Begin.", str(self._work))).session.id
        await self._turn_ended()
        self._spent = self._worked()

    def weigh(self) -> None:
        self.figures.memory.append(sum(memory(each) for each in self._processes()))

    async def call(self) -> None:
        begun = time.perf_counter()
        await self._hub.desk.say(self._session, "Go on.")
        await self._turn_ended()
        self.figures.calls.append((time.perf_counter() - begun) / CALLS)

    def count_calls(self) -> None:
        calls = self._work / "calls"
        assert calls.read_text().count("x") == TURNS * CALLS, "not every call was run"
        calls.unlink()
        # Of all turns together: the system counts in hundredths of a second.
        self.figures.call_work.append((self._worked() - self._spent) / TURNS / CALLS)

    async def stop(self) -> None:
        await self._hub.desk.stop(self._session)
        await seen(self._hub.desk, lambda each: type(each).__name__ == "SessionEnded", self._session)

    async def _turn_ended(self) -> None:
        self._turns += 1
        heard: list[str] = []

        def enough(content: object) -> bool:
            heard.append(type(content).__name__)
            return heard.count("TurnEnded") == self._turns

        await seen(self._hub.desk, enough, self._session)

    def _processes(self) -> list[int]:
        runner = self._hub.pool.runner(self._session)
        assert runner is not None
        return [each.pid for each in (runner.identity, *descendants(runner.identity))]

    def _worked(self) -> float:
        return sum(worked(each) for each in self._processes())


@asynccontextmanager
async def opened(tmp: Path, url: str, preset: str) -> AsyncIterator[BenchHub]:
    home, work = tmp / "home", tmp / "work"
    for each in (home, work):
        os.makedirs(each, exist_ok=True)
    options = Options(sandbox=preset, mode="bypassPermissions")
    async with hub(HubConfig(tmp / "state", locate(), environment(url, str(home)), options=options)) as up:
        yield BenchHub(up, work)
        await up.pool.stop_all()


async def play(places: list[BenchHub]) -> None:
    """One round."""
    dice = random.Random()
    for _start in range(STARTS):
        for place in dice.sample(places, len(places)):
            await place.measure_start()
            await asyncio.sleep(REST / 2)
    for place in places:
        await place.start()
    await asyncio.sleep(REST)
    for place in places:
        place.weigh()  # only now: they share pages of the program
    for _turn in range(TURNS):
        for place in dice.sample(places, len(places)):
            await place.call()
    for place in places:
        place.count_calls()
        await place.stop()


def worked(pid: int) -> float:
    """CPU seconds of a process and of its children that have exited."""
    words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return sum(map(int, words[11:15])) / TICK


def memory(pid: int) -> float:
    """The proportional share, so that shared pages are counted once."""
    return float(next(line.split()[1] for line in Path(f"/proc/{pid}/smaps_rollup").open() if line.startswith("Pss:")))


def tell(name: str, what: str, ours: list[float], theirs: list[float], unit: str) -> None:
    """The median of the rounds, with its 90 % bootstrap interval."""
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    dice = random.Random(2)
    drawn = sorted(statistics.median(dice.choices(ratios, k=len(ratios))) for _ in range(DRAWS))
    least, median, most = drawn[DRAWS // 20], statistics.median(ratios), drawn[-DRAWS // 20]
    if name in ("open", "project", "sealed"):
        figures.report(f"{name}, {what}, of no sandbox", median)
    verdict = "holds" if median <= MOST else "MISSED" if least > MOST else "not decided, the machine is too busy"
    print(
        f"{name:8} {what:17} {statistics.median(ours):7.1f} {unit:3}  {median:.3f} ({least:.3f} to {most:.3f})"
        f"  least {min(ours) / min(theirs):.3f}  {verdict}"
    )


def thousandfold(seconds: list[float]) -> list[float]:
    return [each * 1000 for each in seconds]


def report(figures: dict[str, Figures]) -> None:
    plain = figures["off"]
    for name, found in figures.items():
        tell(name, "start", thousandfold(found.starts), thousandfold(plain.starts), "ms")
        tell(name, "start, processor", thousandfold(found.start_work), thousandfold(plain.start_work), "ms")
        tell(name, "Bash", thousandfold(found.calls), thousandfold(plain.calls), "ms")
        tell(name, "Bash, processor", thousandfold(found.call_work), thousandfold(plain.call_work), "ms")
        tell(name, "memory", [each / 1024 for each in found.memory], [each / 1024 for each in plain.memory], "MiB")


async def main() -> None:
    async with ScriptedModel({"script": script}) as model, AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        url = model.url("script", EACH_SESSION)
        places = {
            name: await stack.enter_async_context(opened(Path(folder, name), url, preset))
            for name, preset in WAYS.items()
        }
        for number in range(ROUNDS + 1):
            await play(list(places.values()))
            if not number:  # the first one reads everything from disk
                for place in places.values():
                    place.figures = Figures()
        assert not model.errors, model.errors
        report({name: place.figures for name, place in places.items()})


if __name__ == "__main__":
    asyncio.run(main())
