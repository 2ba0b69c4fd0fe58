"""Where the milliseconds go: follows asks of the real CLI through every step of a hub, and prints a table.

Each step's time is the median over all asks since the step before it, and since the beginning.
"""

import json
import statistics
import sys
import tempfile
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import uvloop

from asking import KINDS, REST, TimedModel, around, ask_once, bare, served, start, take_precedence

TRACED = Path(__file__).with_name("traced_hub.py")
ASKS = 40
WARM = 6
SENT, SHOWN, POSTED, HEARD = "the model's last byte", "the client has it", "the client posts it", "the model has it"

CHECKED = {
    "check inotify": "inotify reported the check of the call (hook_callback)",
    "check read": "read from the journal",
    "check taken": "taken by the runner, after what was before it",
    "check decoded": "decoded",
    "check line made": "answer made",
    "check line written": "answer in Claude's stdin",
}
ASKED = {
    "ask inotify": "inotify reported the request (can_use_tool)",
    "ask read": "read from the journal",
    "ask taken": "taken by the runner, after what was before it",
    "ask decoded": "decoded",
    "observed": "decided by the session machine",
    "considered": "considered: rules, dangers, offers",
    "ask ordered": "handed to the writer",
    "ask picked up": "the writer's thread has it",
    "ask executed": "statements executed",
    "ask committed": "committed",
    "ask on loop": "back on the event loop",
    "ask spread": "spread to followers",
    "ask follower": "the stream woke up",
    "ask encoded": "encoded, with its card",
    "ask sent": "written to the socket",
}
ANSWERED = {
    "answer received": "request received",
    "answer app": "parsed by uvicorn",
    "answer authenticated": "authenticated",
    "answer decoded": "body read, ask found, answer decoded",
    "answer ordered": "checked and handed to the writer",
    "answer picked up": "the writer's thread has it",
    "answer executed": "statements executed",
    "answer committed": "committed",
    "answer on loop": "back on the event loop",
    "answer woken": "the runner woke up",
    "answer line made": "line made",
    "answer line written": "line in Claude's stdin",
}
RESPONDED = {"answer responded": "response sent"}


class Mark(NamedTuple):
    """When a step was passed."""

    at: float
    step: str


class Course(NamedTuple):
    """What was seen from outside, of one ask of one kind; `checked` only at the floor."""

    kind: str
    sent: float
    checked: float
    shown: float
    posted: float
    heard: float


async def measure(asks: int) -> tuple[list[Course], list[Course], list[Mark]]:
    """The hub's and the floor's courses, in turns, and everything that the hub noted."""
    count = len(KINDS) * asks + WARM
    found: dict[str, list[Course]] = {"hub": [], "floor": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work").mkdir()
        async with AsyncExitStack() as stack:
            model = await stack.enter_async_context(TimedModel(("hub", "floor"), count))
            hub = await stack.enter_async_context(served("hub", around(model, "hub", folder), TRACED, str(folder)))
            run = await start(hub, folder / "work", folder / "state")
            await model.held("hub-0")
            floor = await stack.enter_async_context(bare("floor", run, model.url("floor"), folder / "floor"))
            for number in range(count):
                for way in (floor, hub):
                    timing, opened, posted, heard = await ask_once(model, way, number)
                    if number >= WARM:
                        sent = opened.at - timing.shown
                        found[way.name].append(Course(timing.kind, sent, floor.checked, opened.at, posted, heard))
        marks = [Mark(*each) for each in json.loads((folder / "marks.json").read_text())]
    return found["hub"], found["floor"], marks


class Steps:
    """All marks, by step."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        self._at: defaultdict[str, list[float]] = defaultdict(list)
        for each in marks:
            self._at[each.step].append(each.at)

    def last(self, step: str, until: float) -> float | None:
        """The last time it was passed, at or before `until`."""
        times = self._at[step]
        place = bisect_right(times, until)
        return times[place - 1] if place else None

    def count(self, step: str, since: float, until: float) -> int:
        return bisect_right(self._at[step], until) - bisect_right(self._at[step], since)

    def back_from(self, end: float, since: float, steps: Sequence[str]) -> dict[str, float]:
        """Each step's time: the last before the step after it. Those that weren't passed since then are left out."""
        found = {}
        for step in reversed(steps):
            at = self.last(step.partition(" ")[2] if step.endswith((" inotify", " taken")) else step, end)
            if at is not None and at >= since:
                found[step] = end = at
        return found


def row(name: str, since_before: Sequence[float], since_start: Sequence[float]) -> None:
    print(f"| {name} | {statistics.median(since_before) * 1000:.2f} | {statistics.median(since_start) * 1000:.2f} |")


def table(title: str, called: dict[str, str], courses: Sequence[dict[str, float]]) -> None:
    """`courses`: for each ask, the time of each step since the beginning, in seconds."""
    print(f"\n| {title} | ms | since the start |\n|---|---:|---:|")
    for number, (step, name) in enumerate(called.items()):
        earlier = list(called)[:number]
        passed = [each for each in courses if step in each]
        if len(passed) * 2 > len(courses):
            befores = [max([each[one] for one in earlier if one in each], default=0.0) for each in passed]
            row(
                name,
                [each[step] - start for each, start in zip(passed, befores, strict=True)],
                [each[step] for each in passed],
            )


def relative(times: dict[str, float], start: float) -> dict[str, float]:
    return {step: at - start for step, at in times.items()}


def report(kind: str, hub: Sequence[Course], floor: Sequence[Course], steps: Steps) -> None:
    mine, bare_ones = ([each for each in courses if each.kind == kind] for courses in (hub, floor))
    shown, answers, responses, commits = [], [], [], []
    for each in mine:
        # Until the answer, and a little longer at the end: a step may be noted just after the next has begun.
        there = steps.back_from(each.posted, each.sent, list(ASKED))
        checked = steps.back_from(there["ask read"], each.sent, list(CHECKED))
        shown.append(relative({**checked, **there, SHOWN: each.shown}, each.sent))
        back = steps.back_from(each.heard + REST / 2, each.posted, list(ANSWERED))
        answers.append(relative({**back, HEARD: each.heard}, each.posted))
        responses.append(relative(steps.back_from(each.heard + REST / 2, each.posted, list(RESPONDED)), each.posted))
        commits.append(steps.count("committed", each.sent, there["ask committed"]))
    table(f"{kind}, from {SENT}", {**CHECKED, **ASKED, SHOWN: SHOWN}, shown)
    print(f"\nOther commits before that of the request: {statistics.median(commits):g}. ", end="")
    checked = statistics.median(each.checked - each.sent for each in bare_ones)
    reached = statistics.median(each.shown - each.sent for each in bare_ones)
    print(f"The floor has read the check after {1000 * checked:.2f} ms, and the request after {1000 * reached:.2f} ms.")
    table(f"{kind}, from where {POSTED}", {**ANSWERED, HEARD: HEARD}, answers)
    table("meanwhile", RESPONDED, responses)
    print(f"\nThe floor's model has it after {1000 * statistics.median(e.heard - e.posted for e in bare_ones):.2f} ms.")


def timeline(kind: str, hub: Sequence[Course], marks: Sequence[Mark]) -> None:
    """Everything that happened in one ask: the one in the middle."""
    mine = sorted((each for each in hub if each.kind == kind), key=lambda each: each.shown - each.sent)
    one = mine[len(mine) // 2]
    for what, begun, end in (("to the client", one.sent, one.shown), ("to the model", one.posted, one.heard)):
        print(f"\n{kind}, the one in the middle, {what}, ms:")
        for at, step in marks:
            if begun - 0.005 <= at <= end + 0.003:
                print(f"  {(at - begun) * 1000:7.2f}  {step}")
        print(f"  {(end - begun) * 1000:7.2f}  {SHOWN if end == one.shown else HEARD}")


def main() -> None:
    asks = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else ASKS
    take_precedence()
    hub, floor, marks = uvloop.run(measure(asks))
    for kind in KINDS:
        report(kind, hub, floor, Steps(marks))
    if "--timeline" in sys.argv:
        for kind in KINDS:
            timeline(kind, hub, marks)


if __name__ == "__main__":
    main()
