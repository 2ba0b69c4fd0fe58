"""A real browser on a real hub. Anything the page complains about fails the test."""

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    ViewportSize,
    async_playwright,
    expect,
)

from handraise.model.actors import TheHub
from handraise.model.tokens import Role
from handraise.serving.serve import RunningHub

PROGRAM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
SHELL = shutil.which("chromium-headless-shell")
"""The same engine without the browser around it: twice as fast, but without notifications."""
PAGE = Path(str(files("handraise.api"))) / "page"
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

WITHOUT_WORKER = "delete Navigator.prototype.serviceWorker"
"""A page that doesn't register its worker, which is a third of what the first visit of a browser costs."""

needs_browser = pytest.mark.skipif(
    PROGRAM is None or not (PAGE / "index.html").is_file(),
    reason="needs Chromium (dev/browser) and the built page (make page)",
)

expect.set_options(timeout=PATIENCE)


READ = """
  async (card) => {
    const around = card.closest(".scrolls");
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)));
    await painted();
    if (card.hasAttribute("data-seen")) return;
    card.scrollIntoView({ block: "start" });
    for (let tries = 0; tries < 100 && card.isConnected && !card.hasAttribute("data-seen"); tries += 1) {
      await painted();
      around.scrollBy(0, around.clientHeight / 3);
    }
    await painted();
  }
"""


PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))))"
"""Returns when the page was painted, and has checked where its cards are."""

GO = "(path) => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')); }"
"""Moves about as a link inside the page does."""


async def armed(page: Page, kind: str) -> None:
    """A card of this kind exists, all of it was on the screen, and it accepts keys and clicks."""
    card = page.locator(f".card.{kind}.stage-open")
    await expect(card).to_have_count(1)
    if kind != "question":
        await card.evaluate(READ)
    await expect(page.locator(f".card.{kind}.stage-open[data-armed]")).to_have_count(1)


async def go(page: Page, path: str) -> None:
    """To another view without loading the page again, which costs as much as everything in most views."""
    await page.evaluate(GO, path)
    await page.evaluate(PAINTED)


async def nothing_waits(page: Page) -> None:
    """The inbox says so."""
    await expect(page.locator("main").get_by_text("Nothing needs you.")).to_be_visible()


async def log_in(page: Page, up: RunningHub, name: str = "owner", role: Role = "admin") -> None:
    """With a link, as a browser would follow it, but without drawing the page behind it."""
    code = await up.auth.make_code(name, role, TheHub(), "test")
    entered = await page.context.request.get(f"{up.base}/login?code={code}", max_redirects=0)
    assert entered.status == 303


class Reachable(Protocol):
    """Something that knows a running hub."""

    @property
    def base(self) -> str: ...


@dataclass
class Window:
    """A browser, and what its pages complained about."""

    browser: Browser
    has_worker: bool = False
    records: bool = False
    complaints: list[str] = field(default_factory=list)
    requested: set[str] = field(default_factory=set)
    """URLs, if it records them."""
    contexts: list[BrowserContext] = field(default_factory=list)
    _quiet: bool = False

    async def open(self, up: RunningHub, path: str = "/", *, script: str | None = None, **context: Any) -> Page:
        """A signed-in page at this URL."""
        page = await self.stranger(up, script=script, **context)
        await log_in(page, up)
        await page.goto(up.base + path)
        await expect(page.locator(".connection.live").first).to_be_attached()
        return page

    async def stranger(self, up: Reachable, *, script: str | None = None, **context: Any) -> Page:
        """A page of a browser that the hub doesn't know."""
        context.setdefault("viewport", WIDE)
        # Drawing what fades and slides is a sixth of what a page costs. Where it matters, tests ask for it.
        context.setdefault("reduced_motion", "reduce")
        made = await self.browser.new_context(base_url=up.base, **context)
        self.contexts.append(made)
        made.set_default_timeout(PATIENCE)
        for each in (script, "" if self.has_worker else WITHOUT_WORKER):
            if each:
                await made.add_init_script(each)
        return self.listen(await made.new_page())

    def listen(self, page: Page) -> Page:
        """Records what it complains about, and maybe what it requests."""
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._hear)
        if self.records:
            page.on("request", lambda request: self.requested.add(request.url))
        return page

    @contextmanager
    def trouble_expected(self) -> Iterator[None]:
        """While the hub is away or refuses, the browser itself reports errors."""
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not self._quiet:
            self.complaints.append(f"{message.text} ({message.location['url']})")


_running: dict[str, Browser] = {}
"""Browsers by program, shared by all tests of this process. Each window has its own contexts."""


@asynccontextmanager
async def shared_browsers() -> AsyncIterator[None]:
    """While this is entered, windows share browsers that are started once. Inside of another one, it is that one."""
    if _drivers:
        yield
        return
    async with async_playwright() as playwright:
        _drivers.append(playwright)
        try:
            yield
        finally:
            _drivers.clear()
            for browser in _running.values():
                await browser.close()
            _running.clear()


_drivers: list[Playwright] = []


@asynccontextmanager
async def window(*, notifying: bool = False, worker: bool = False, records: bool = False) -> AsyncIterator[Window]:
    """Closed at the end; the test fails if a page complained.

    `notifying`: a browser that can show notifications. `worker`: pages register their worker, as they do for people.
    `records`: what pages request is recorded, which costs some time for each request.
    """
    program = PROGRAM if notifying else SHELL or PROGRAM
    assert program is not None
    if not _drivers:
        async with shared_browsers(), window(notifying=notifying, worker=worker, records=records) as opened:
            yield opened
        return
    if program not in _running or not _running[program].is_connected():
        _running[program] = await _drivers[0].chromium.launch(executable_path=program, args=list(FLAGS))
    opened = Window(_running[program], has_worker=notifying or worker, records=records)
    try:
        yield opened
    finally:
        with opened.trouble_expected():  # complaints of a page that is being closed don't count
            for context in opened.contexts:
                await context.close()
    assert opened.complaints == [], opened.complaints
