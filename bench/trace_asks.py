"""Where the milliseconds go: follows asks of the real CLI through every step of a hub, and prints a table.

Each step's times are medians over all asks: since the step before it, and since the start. Medians don't add up.
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
    "answer woken": "the session has it",
    "answer line made": "line made",
    "answer line written": "line in Claude's stdin",
}
RESPONDED = {"answer responded": "meanwhile, the response is written"}


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


class StepTime(NamedTuple):
    """Medians of a step, in milliseconds: since the step before it, and since the start."""

    own: float
    total: float


def rows(steps: Sequence[str], courses: Sequence[dict[str, float]]) -> dict[str, StepTime]:
    """`courses`: for each ask, the seconds from the start to each step. Leaves out what most of them don't pass."""
    found = {}
    for number, step in enumerate(steps):
        passed = [each for each in courses if step in each]
        if len(passed) * 2 > len(courses):
            own = [
                each[step] - max([each[one] for one in steps[:number] if one in each], default=0.0) for each in passed
            ]
            found[step] = StepTime(
                1000 * statistics.median(own), 1000 * statistics.median(each[step] for each in passed)
            )
    return found


def table(title: str, called: dict[str, str], kinds: dict[str, dict[str, StepTime]]) -> None:
    print(f"\n| {title} | {' | '.join(f'{kind}, ms | since the start' for kind in kinds)} |")
    print(f"|---|{'---:|---:|' * len(kinds)}")
    for step, name in called.items():
        cells = [
            f"{found[step].own:.2f} | {found[step].total:.2f}" if step in found else "– | –" for found in kinds.values()
        ]
        print(f"| {name} | {' | '.join(cells)} |")


def since(start: float, times: dict[str, float]) -> dict[str, float]:
    return {step: at - start for step, at in times.items()}


def to_client(course: Course, steps: Steps) -> dict[str, float]:
    # Until the answer: a step may be noted just after the next one has begun. On a busy machine, Claude may even act on
    # a reply before the model has sent the end of it.
    begun = course.sent - REST / 2
    there = steps.back_from(course.posted, begun, list(ASKED))
    checked = steps.back_from(there.get("ask read", course.shown), begun, list(CHECKED))
    return since(course.sent, {**checked, **there, SHOWN: course.shown})


def to_model(course: Course, steps: Steps) -> dict[str, float]:
    back = steps.back_from(course.heard + REST / 2, course.posted, list(ANSWERED))
    responded = steps.back_from(course.heard + REST / 2, course.posted, list(RESPONDED))
    return since(course.posted, {**back, **responded, HEARD: course.heard})


def report(hub: Sequence[Course], floor: Sequence[Course], steps: Steps) -> None:
    there, back = {**CHECKED, **ASKED, SHOWN: SHOWN}, {**ANSWERED, HEARD: HEARD}
    shown, answered = {}, {}
    for kind in KINDS:
        mine = [each for each in hub if each.kind == kind]
        shown[kind] = rows(list(there), [to_client(each, steps) for each in mine])
        courses = [to_model(each, steps) for each in mine]
        answered[kind] = {**rows(list(back), courses), **rows(list(RESPONDED), courses)}
    table(f"from {SENT}", there, shown)
    table(f"from where {POSTED}", {**back, **RESPONDED}, answered)
    print()
    for kind in KINDS:
        mine, bare_ones = ([each for each in courses if each.kind == kind] for courses in (hub, floor))
        checked, reached, heard = (
            1000 * statistics.median(each)
            for each in zip(
                *((e.checked - e.sent, e.shown - e.sent, e.heard - e.posted) for e in bare_ones), strict=True
            )
        )
        commits = statistics.median(steps.count("committed", each.sent, each.shown) for each in mine)
        print(
            f"{kind}: the floor has read the check after {checked:.2f} ms and the request after {reached:.2f} ms, and "
            f"its model has the answer after {heard:.2f} ms. The hub commits {commits:g} other batches meanwhile."
        )


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
    report(hub, floor, Steps(marks))
    if "--timeline" in sys.argv:
        for kind in KINDS:
            timeline(kind, hub, marks)


if __name__ == "__main__":
    main()
