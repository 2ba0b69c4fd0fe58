"""One hub and one browser for all tests about hands. Remaining asks are withdrawn after each test."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, ViewportSize, expect

from api.served import Served, served
from browser.window import PAGE, PATIENCE, Window, log_in, window
from handraise.model.answers import Answer
from handraise.model.asks import Answered, Ask, Body, Origin, Permission, Withdrawn
from handraise.store.changes import OpenAsk, SettleAsk

TICK = 4
LOW = ViewportSize(width=1366, height=650)
_WATCH = """(control) => {
    window.wasHit = false;
    const note = (event) => { window.wasHit = control.contains(event.target); };
    document.addEventListener("pointerdown", note, { capture: true, once: true });
}"""


@dataclass
class HandsDesk:
    """A hub, a browser, and the asks opened there."""

    hub: Served
    screen: Window
    asks: list[str] = field(default_factory=list)
    pages: dict[str, Page] = field(default_factory=dict)
    """One for each kind of browser; each test finds it as if just opened."""
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    async def sit(self, path: str = "/", **context: Any) -> Page:
        """A page whose clock only moves when a test says so: a slow machine makes no difference."""
        context.setdefault("viewport", LOW)
        context.setdefault("reduced_motion", "no-preference")
        page = self.pages.get(str(context))
        if page:
            await page.evaluate("localStorage.clear()")
            await page.set_viewport_size(context["viewport"])
            await page.clock.resume()
        else:
            page = self.pages[str(context)] = await self.screen.stranger(self.hub.up, **context)
            await page.clock.install()
            await log_in(page, self.hub.up)
        await page.goto(path)
        await expect(page.locator(".connection.live").first).to_be_attached()
        await page.clock.pause_at(await page.evaluate("Date.now() / 1000 + 1"))
        return page

    async def put(self, body: Body, *, session: str | None = None, before: float = 0) -> Ask:
        """Opens an ask; `before` puts it above the existing ones by this many seconds."""
        name = f"h_{next(self._numbers)}"
        opened = datetime.now(UTC) - timedelta(seconds=before)
        ask = Ask(name, session, None, body, "ask_user", Origin(name), opened, "session" if session else "agent")
        await self.hub.up.hub.store.apply([OpenAsk(ask)])
        self.asks.append(ask.id)
        return ask

    async def run(self, command: str, **more: Any) -> Ask:
        """An ask to run a command."""
        return await self.put(Permission("Bash", {"command": command}), **more)

    async def answer_to(self, ask: Ask) -> Answer | None:
        found = (await self.hub.up.hub.desk.ask(ask.id)).settlement
        return found.answer if isinstance(found, Answered) else None

    async def answered(self, page: Page, ask: Ask) -> Answer | None:
        """Time passes, and the page knows that the ask was answered."""
        await page.clock.run_for(450)
        await until(page, page.locator(f"#card-{ask.id}.line-card"))
        return await self.answer_to(ask)

    async def still_open(self, page: Page, ask: Ask) -> bool:
        """After the card stood still for long enough that every act has had its effect."""
        await until(page, card_of(page, ask))
        await page.clock.run_for(1500)
        return (await self.hub.up.hub.desk.ask(ask.id)).settlement is None

    async def clear_asks(self) -> None:
        """Withdraws the remaining asks."""
        now = datetime.now(UTC)
        for name in self.asks:
            if (await self.hub.up.hub.desk.ask(name)).settlement is None:
                await self.hub.up.hub.store.apply([SettleAsk(name, Withdrawn("the test is over", now))])
        self.asks.clear()


@asynccontextmanager
async def desk(tmp: Path) -> AsyncIterator[HandsDesk]:
    async with served(tmp, page=PAGE, seconds=1200) as hub, window() as screen:
        yield HandsDesk(hub, screen)


def card_of(page: Page, ask: Ask) -> Locator:
    return page.locator(f"#card-{ask.id}.stage-open")


def allow_of(page: Page, ask: Ask) -> Locator:
    return card_of(page, ask).locator('[data-control="a"]')


async def calm(page: Page, ask: Ask, *, seen: bool = False) -> None:
    """Time passes, and its card accepts an act; with `seen`, all of it was on the screen too."""
    await until(page, card_of(page, ask))
    await page.clock.run_for(800)
    await expect(page.locator(f"#card-{ask.id}.stage-open[data-armed]{'[data-seen]' if seen else ''}")).to_be_visible()


async def until(page: Page, shown: Locator) -> int:
    """Lets as little time pass as needed until this is on the page; returns the milliseconds."""
    passed, pause = 0, 0.005
    async with asyncio.timeout(PATIENCE / 1000):
        while not await shown.count():
            await page.clock.run_for(TICK)
            passed += TICK
            # For what comes from the hub, whose clock runs. A slow hub must not make the page's clock race.
            await asyncio.sleep(pause)
            pause = min(pause * 1.1, 0.5)
    return passed


async def middle(control: Locator) -> tuple[float, float]:
    box = await control.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


async def hit(page: Page, control: Locator) -> None:
    """One click on a control that may be moving: a click beside it was none."""
    async with asyncio.timeout(PATIENCE / 1000):
        while True:
            await control.evaluate(_WATCH)
            await page.mouse.click(*await middle(control))
            if await page.evaluate("window.wasHit"):
                return
