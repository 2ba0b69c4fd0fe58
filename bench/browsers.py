"""A hub and a window of a real browser, for the benchmarks of the page."""

import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from playwright.async_api import Page, async_playwright

from handraise.serving.serve import RunningHub, ServeConfig, serving

_BUILT = Path(str(files("handraise.api"))) / "page"


def can_measure(name: str) -> bool:
    """Whether there is a browser and a page; says what is missing."""
    if _browser() is not None and (_BUILT / "index.html").is_file():
        return True
    print(f"{name}: needs Chromium (dev/browser) and the built page (make page)")
    return False


@asynccontextmanager
async def hub_and_page(script: str = "") -> AsyncIterator[tuple[RunningHub, Page]]:
    """A hub without sessions, and a window; the script runs before each page's own."""
    with tempfile.TemporaryDirectory() as folder:
        service = ServeConfig(Path(folder) / "state", Path("/bin/false"), {}, port=0)
        async with serving(service) as up, window_of(script) as page:
            yield up, page


@asynccontextmanager
async def window_of(script: str = "") -> AsyncIterator[Page]:
    """A window of a new browser; the script runs before each page's own."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=_browser(), args=["--no-sandbox", "--disable-gpu"])
        page = await browser.new_page(viewport={"width": 1280, "height": 800}, bypass_csp=True)
        if script:
            await page.add_init_script(script)
        yield page
        await browser.close()


def _browser() -> str | None:
    return next((found for name in ("chromium", "google-chrome") if (found := shutil.which(name))), None)
