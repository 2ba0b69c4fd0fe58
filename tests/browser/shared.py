"""One hub and one page for all tests of a file that need no more: loading the page is most of what a test costs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import Page

from api.served import Served, served
from browser.window import PAGE, WIDE, Window, go, window
from handraise.model.asks import Withdrawn
from handraise.store.changes import SettleAsk


@dataclass
class SharedPage:
    """Each test finds it with nothing to answer. What earlier tests did may be listed under "Just now"."""

    hub: Served
    screen: Window
    page: Page

    async def show(self, path: str = "/") -> Page:
        """The page with this view."""
        await go(self.page, path)
        return self.page

    async def clear(self) -> None:
        """Withdraws remaining asks, and forgets drafts and routes."""
        now = datetime.now(UTC)
        for ask in await self.hub.up.hub.desk.asks(state="open"):
            await self.hub.up.hub.store.apply([SettleAsk(ask.id, Withdrawn("the test is over", now))])
        await self.page.unroute_all()
        await self.page.set_viewport_size(WIDE)
        await self.page.evaluate("() => { localStorage.clear(); document.activeElement?.blur(); }")


@asynccontextmanager
async def shared_page(tmp: Path) -> AsyncIterator[SharedPage]:
    async with served(tmp, page=PAGE, seconds=1200) as hub, window() as screen:
        yield SharedPage(hub, screen, await screen.open(hub.up))
