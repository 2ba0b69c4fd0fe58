"""From the model's question to its card on the screen: the real CLI, a hub and a real browser, by one clock.

One Claude asks again and again, first to a page that only shows the request's name, then to the inbox, then to its
conversation. The browser says when it received the event and when the card's text was painted; its clock is compared
with ours before each round.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Page

import figures
from bench_page import WATCH, enter
from browsers import can_measure, window_of
from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Script, hold, say, use
from handraise.demo.request import Conversation
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Ask
from handraise.serving.serve import RunningHub, ServeConfig, serving

QUESTIONS, ROUNDS = 40, 3
MEDIAN_MS, P99_MS = 24, 40
# Everything has come to rest: nothing else happens while a question is on its way.
REST = 0.3
DEADLINE = 20.0
# Milliseconds since the epoch, by the browser.
_NOW = "performance.timeOrigin + performance.now()"
# The least a page can do with an ask.
_BARE = """async () => {
  document.body.innerHTML = "<main></main>";
  const { cursor } = await (await fetch("/api/sessions")).json();
  new EventSource(`/api/feed?after=${cursor}`).addEventListener("message", (event) => {
    const { type, ask } = JSON.parse(event.data);
    const words = ask && `<h2 elementtiming="${ask.id}">${ask.id}</h2>`;
    if (type === "ask.opened") document.querySelector("main").innerHTML = words;
  });
}"""
_WHEN = """(name) => {
  const [heard, painted] = [window.heard[name], window.painted[name]];
  return painted === undefined ? null : [performance.timeOrigin + heard, performance.timeOrigin + painted];
}"""


def question(number: int) -> dict[str, object]:
    options = [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}]
    return {"question": f"Which database for part {number}?", "header": "Store", "options": options}


def asking(conversation: Conversation) -> Script:
    """A model that asks when it is released."""
    del conversation
    for number in range(QUESTIONS * ROUNDS):
        yield [hold(str(number)), use("AskUserQuestion", questions=[{**question(number), "multiSelect": False}])]
    yield [say("Done.")]


class Paints:
    """Lets the model ask, and records what became of each question."""

    def __init__(self, model: ScriptedModel, up: RunningHub, page: Page) -> None:
        self._model, self._up, self._page = model, up, page
        self._next = 0

    async def measure(self) -> tuple[list[float], list[float]]:
        """Milliseconds until the event was received, and until the card was painted."""
        ahead = await self._ahead()
        heard, painted = [], []
        for _ in range(QUESTIONS):
            await asyncio.sleep(REST)
            wrote = time.time() * 1000
            self._model.release(str(self._next))
            self._next += 1
            ask, (received, shown) = await self._shown()
            heard.append(received - ahead - wrote)
            painted.append(shown - ahead - wrote)
            await self._up.hub.desk.answer(ask.id, Choices((Choice(("SQLite",)),)), ask.digest)
        return heard, painted

    async def _shown(self) -> tuple[Ask, tuple[float, float]]:
        async with asyncio.timeout(DEADLINE):
            while True:
                # Nobody looks until it must be over: looking takes time in the browser.
                await asyncio.sleep(REST)
                for ask in await self._up.hub.desk.asks():
                    if times := await self._page.evaluate(_WHEN, ask.id):
                        return ask, (times[0], times[1])

    async def _ahead(self) -> float:
        """How far the browser's clock is ahead of ours, in milliseconds: by the quickest of many answers."""
        answers = []
        for _ in range(50):
            before = time.time() * 1000
            there = float(await self._page.evaluate(_NOW))
            after = time.time() * 1000
            answers.append((after - before, there - (before + after) / 2))
        return min(answers)[1]


@asynccontextmanager
async def asking_hub() -> AsyncIterator[tuple[ScriptedModel, RunningHub, Page, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        work, home = Path(folder) / "work", Path(folder) / "home"
        work.mkdir()
        home.mkdir()
        async with ScriptedModel({"asking": asking}) as model:
            service = ServeConfig(Path(folder) / "state", locate(), environment(model.url("asking"), str(home)), port=0)
            async with serving(service) as up, window_of(WATCH) as page:
                yield model, up, page, work
                await up.hub.pool.stop_all()


def percentile(times: list[float], of_hundred: int) -> float:
    return statistics.quantiles(times, n=100, method="inclusive")[of_hundred - 1]


async def measure() -> None:
    async with asking_hub() as (model, up, page, work):
        session = (await up.hub.desk.start("Ask.", str(work))).session
        await model.held("0")
        paints = Paints(model, up, page)
        await enter(up, page, "/")
        await page.goto(up.base + "/page.webmanifest")
        await page.evaluate(_BARE)
        _, bare = await paints.measure()
        least, slowest = statistics.median(bare), percentile(bare, 99)
        for where, path in (("the inbox", "/"), ("its conversation", f"/sessions/{session.id}")):
            await enter(up, page, path)
            heard, painted = await paints.measure()
            middle, late = statistics.median(painted), percentile(painted, 99)
            verdict = "holds" if middle <= MEDIAN_MS and late <= P99_MS else "MISSED"
            print(
                f"paint: a question is in {where} {middle:.0f} ms after the model wrote it, 99 of 100 within "
                f"{late:.0f} ({middle / least:.1f} x a bare page's {least:.0f}, {late / slowest:.1f} x "
                f"its {slowest:.0f}); its event came after {statistics.median(heard):.0f}; "
                f"target: {MEDIAN_MS} and {P99_MS}: {verdict}"
            )
            figures.report(f"question painted in {where}, times a bare page", middle / least)


async def main() -> None:
    if can_measure("paint"):
        await measure()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
