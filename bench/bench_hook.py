"""What it costs that every call is checked: the real CLI in a hub, with its calls checked and without, in turns."""

import asyncio
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from handraise.claude.locate import locate
from handraise.demo.environment import environment
from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.told import Told
from handraise.hub import hub
from handraise.model.items import ActionEnded, ActionStarted
from handraise.model.rules import Rule
from handraise.session import machine

CALLS = 40
ROUNDS = 3
MOST = 0.002
RULES = [Rule(f"r_{number}", "deny", path=f"/nowhere/{number}/**") for number in range(20)]
"""None of them touches what is read; all of them are tried."""


def script(told: Told) -> Script:
    for _ in range(CALLS):
        told = yield [use("Read", file_path=f"{told.directory}/a.txt")]
    yield [say("Done.")]


@contextmanager
def unchecked() -> Iterator[None]:
    """As if we had never registered the hook."""
    checked = machine._HOOKS  # noqa: SLF001 (there is no other way, and nobody else should have one)
    machine._HOOKS = {}  # noqa: SLF001
    try:
        yield
    finally:
        machine._HOOKS = checked  # noqa: SLF001


async def seconds_a_call() -> float:
    """From the moment that Claude names a call until its result, at the median."""
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        work = tmp / "work"
        work.mkdir()
        (tmp / "home").mkdir()
        (work / "a.txt").write_text("a\n")
        async with ScriptedModel({"script": script}) as model:
            around = environment(model.url("script"), str(tmp / "home"))
            async with hub(tmp / "state", locate(), around, rules=RULES) as opened:
                await opened.desk.start("Read.", str(work))
                delays = await _delays(opened.desk)
                await opened.crew.stop_all()
    return statistics.median(delays)


async def _delays(desk: object) -> list[float]:
    begun: dict[str, float] = {}
    delays: list[float] = []
    async with desk.follow(0) as follower:  # type: ignore[attr-defined]
        async for news in follower:
            for item in news if not hasattr(news, "message") else ():
                match item.read():
                    case ActionStarted(action=action):
                        begun[action] = item.at.timestamp()
                    case ActionEnded(action=action):
                        delays.append(item.at.timestamp() - begun[action])
            if len(delays) == CALLS:
                return delays
    raise SystemExit("hook: the session ended too early")


async def main() -> None:
    pairs = []
    for _ in range(ROUNDS):
        with unchecked():
            without = await seconds_a_call()
        pairs.append((await seconds_a_call(), without))
    difference = statistics.median(checked - without for checked, without in pairs)
    ratio = statistics.median(checked / without for checked, without in pairs)
    verdict = "holds" if difference < MOST else "MISSED"
    sys.stdout.write(
        f"hook: a call takes {ratio:.2f} of one that is not checked, {difference * 1000:+.2f} ms; "
        f"target: under {MOST * 1000:g} ms more: {verdict}\n"
    )


if __name__ == "__main__":
    asyncio.run(main())
