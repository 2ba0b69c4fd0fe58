"""A real browser before a real hub. Whatever the page complains about fails the test."""

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.async_api import Browser, ConsoleMessage, Page, ViewportSize, async_playwright, expect

from handraise.model.actors import TheHub
from handraise.serving import Serving

PROGRAM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
PAGE = Path(str(files("handraise.surfaces.web"))) / "page"
WIDE = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)
PATIENCE = 45_000
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

needs_browser = pytest.mark.skipif(
    PROGRAM is None or not (PAGE / "index.html").is_file(),
    reason="needs Chromium (dev/browser) and the built page (make page)",
)

expect.set_options(timeout=PATIENCE)


async def armed(page: Page, kind: str) -> None:
    """A card of this kind is there, and takes keys and clicks."""
    await expect(page.locator(f".card.{kind}.stage-open")).to_have_count(1)
    await expect(page.locator(f".card.{kind}.stage-open[data-armed]")).to_have_count(1)


async def nothing_waits(page: Page) -> None:
    """The inbox says so."""
    await expect(page.locator("main").get_by_text("Nothing needs you.")).to_be_visible()


class Reachable(Protocol):
    """Somewhere that a hub is up."""

    @property
    def base(self) -> str: ...


@dataclass
class Window:
    """A browser, and what its pages complained about."""

    browser: Browser
    complaints: list[str] = field(default_factory=list)
    requested: set[str] = field(default_factory=set)
    _quiet: bool = False

    async def open(self, up: Serving, path: str = "/", *, script: str | None = None, **context: Any) -> Page:
        """A page that is logged in, at this address."""
        page = await self.stranger(up, script=script, **context)
        code = await up.gate.make_code("owner", "admin", TheHub(), "test")
        await page.goto(f"{up.base}/login?code={code}")
        await page.goto(up.base + path)
        await expect(page.locator(".connection.live").first).to_be_attached()
        return page

    async def stranger(self, up: Reachable, *, script: str | None = None, **context: Any) -> Page:
        """A page of a browser that the hub does not know."""
        context.setdefault("viewport", WIDE)
        made = await self.browser.new_context(base_url=up.base, **context)
        made.set_default_timeout(PATIENCE)
        if script:
            await made.add_init_script(script)
        page = await made.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._hear)
        page.on("request", lambda request: self.requested.add(request.url))
        return page

    @contextmanager
    def trouble_expected(self) -> Iterator[None]:
        """While the hub is away, or refuses, a browser says so by itself."""
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not self._quiet:
            self.complaints.append(message.text)


@asynccontextmanager
async def window() -> AsyncIterator[Window]:
    """Closed at the end, and the test fails if a page complained."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=PROGRAM, args=list(FLAGS))
        opened = Window(browser)
        try:
            yield opened
        finally:
            await browser.close()
    assert opened.complaints == []
