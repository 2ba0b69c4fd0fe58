"""The first visit is small: everything that the page loads by itself, in bytes as they are sent."""

from pathlib import Path

from playwright.async_api import expect

from api.served import served
from browser.showroom import OWNER, Showroom
from browser.wares import PLAN
from browser.window import PAGE, needs_browser, window
from handraise.model.answers import Approve
from handraise.model.asks import Plan

pytestmark = needs_browser

MOST = 100_000
LOADED = "performance.getEntries().map((each) => [each.name, each.encodedBodySize ?? 0])"


async def test_a_first_visit_loads_at_most_100_kb(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window(worker=True) as screen:
        await Showroom(hub.up).fill()
        # Colors for code are loaded with the first code.
        for ask in await hub.up.hub.desk.asks(state="open"):
            if ask.body == Plan(PLAN):
                await hub.up.hub.desk.seat(OWNER, "web").answer(ask.id, Approve())
        page = await screen.open(hub.up)
        await expect(page.locator(".card.current")).to_be_visible()
        sizes = {
            name.removeprefix(hub.up.base): size
            for name, size in await page.evaluate(LOADED)
            if name.startswith("http")
        }
        # A file may have come from the worker, which doesn't say how large it was.
        for path in sizes:
            twin = PAGE / f"{path.removeprefix('/') or 'index.html'}.br"
            sizes[path] = twin.stat().st_size if twin.is_file() else sizes[path]
        sizes["/worker.js"] = (PAGE / "worker.js.br").stat().st_size
        total = sum(sizes.values())
        shown = "\n".join(f"{size:>7} {path}" for path, size in sorted(sizes.items(), key=lambda each: -each[1]))
        assert any(path.startswith("/assets/index-") for path in sizes)
        assert total <= MOST, f"{total} bytes. Load what isn't needed at once with a dynamic import.\n{shown}"
