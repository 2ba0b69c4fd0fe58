"""One hub and one page for all tests of a file that need no more: loading the page is most of what a test costs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from playwright.async_api import Page

from api.served import Served, served
from browser.window import PAGE, WIDE, Window, go, window
from handraise.model.asks import Withdrawn
from handraise.model.sessions import Phase, Session
from handraise.session import records
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

    async def session(self, phase: Phase, **changes: Any) -> Session:
        """One without a process. The page is told, since it reads the list of sessions only once."""
        session = replace(await self.hub.session(phase=phase), **changes)
        await self.hub.up.hub.store.apply(records.changed(session))
        return session

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
