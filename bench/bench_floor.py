"""The real CLI in a hub against the same CLI with its control channel answered immediately, ask by ask in one run.

A question or permission from the model's last byte until a client has it; an answer until the model has its result.
Beside them a bot made with claude-agent-sdk, which stores nothing.
"""

import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import uvloop

import figures
from asking import (
    PEER,
    SERVERS,
    TimedModel,
    Timing,
    Way,
    around,
    ask_once,
    bare,
    kind_of,
    served,
    start,
    take_precedence,
)

ASKS = 40
"""Of each kind, and each way."""
WARM = 4
"""The first ones of a process cost more, and nobody waits for a thousandth of a second there."""
GOALS = {("question", "shown"): 1.0, ("permission", "shown"): 1.5, ("question", "answered"): 0.7}
"""Milliseconds over the floor."""
CALLED = {
    ("question", "shown"): "a question reaches a client",
    ("permission", "shown"): "a permission reaches a client",
    ("question", "answered"): "an answer reaches the model",
    ("permission", "answered"): "an allowed call's result reaches the model",
}


async def measure(asks: int = ASKS) -> dict[str, list[Timing]]:
    """In turns: one ask of each way, then the next."""
    count = 2 * asks + WARM
    names = ("floor", "hub", "peer")
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        work = folder / "work"
        work.mkdir()
        model = await stack.enter_async_context(TimedModel(names, count))
        words = ("hub", str(folder), "claude")
        hub = await stack.enter_async_context(served("hub", around(model, "hub", folder), SERVERS, *words))
        run = await start(hub, work, folder / "state")
        await model.held("hub-0")
        floor = await stack.enter_async_context(bare("floor", run, model.url("floor"), folder / "floor"))
        peer = await stack.enter_async_context(served("peer", around(model, "peer", folder), PEER, str(work)))
        ways: Sequence[Way] = (floor, hub, peer)
        found: dict[str, list[Timing]] = {name: [] for name in names}
        for number in range(count):
            for way in ways:
                timing, *_ = await ask_once(model, way, number)
                assert timing.kind == kind_of(number)
                if number >= WARM:
                    found[way.name].append(timing)
    return found


def report(found: dict[str, list[Timing]]) -> None:
    for (kind, what), called in CALLED.items():
        of = {name: [getattr(each, what) * 1000 for each in found[name] if each.kind == kind] for name in found}
        middle = {name: statistics.median(each) for name, each in of.items()}
        more = middle["hub"] - middle["floor"]
        goal = GOALS.get((kind, what))
        verdict = "" if goal is None else f"; target: +{goal:g} ms: {'holds' if more <= goal else 'MISSED'}"
        print(
            f"floor: {called}: {middle['hub'] / middle['floor']:.2f} of the floor, {more:+.1f} ms "
            f"({middle['floor']:.1f} and {middle['hub']:.1f}){verdict}"
        )
        bot = middle["peer"] - middle["floor"]
        least = {name: tail(each, 10) for name, each in of.items()}
        undisturbed = least["hub"] - least["floor"], least["peer"] - least["floor"]
        print(
            f"  a bot with claude-agent-sdk: {bot:+.1f} ms; the tenth of a hundred, which other load disturbs least: "
            f"{undisturbed[0]:+.1f} ms, the bot {undisturbed[1]:+.1f} ms"
        )
        tails = [f"{name} {tail(each, 95):.1f} and {tail(each, 99):.1f} ms" for name, each in of.items()]
        print(f"  p95 and p99: {', '.join(tails)}")
        figures.report_over(called, middle["floor"], middle["hub"])


def tail(delays: Sequence[float], of_hundred: int) -> float:
    return statistics.quantiles(delays, n=100, method="inclusive")[of_hundred - 1]


if __name__ == "__main__":
    take_precedence()
    report(uvloop.run(measure(int(sys.argv[1]) if sys.argv[1:] else ASKS)))
