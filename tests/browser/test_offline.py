"""The page without its hub: the shell opens, says since when, and shows nothing that could be answered."""

from pathlib import Path

from playwright.async_api import expect

from browser.home import home
from browser.window import needs_browser, window
from handraise.demo.pieces import Script, say
from handraise.demo.request import Conversation
from handraise.hub.hub import now
from handraise.model.asks import Ask, Option, Origin, Prompt, Question
from handraise.store.changes import OpenAsk

pytestmark = needs_browser

WHICH = Question((Prompt("Which database?", "", (Option("SQLite"), Option("PostgreSQL"))),))
KEPT = """
  async () => {
    const cache = await caches.open("handraise-shell");
    return Boolean(await cache.match("/")) && (await cache.keys()).map((each) => new URL(each.url).pathname);
  }
"""


def speaks(conversation: Conversation) -> Script:
    yield [say("Hello.")]


async def test_the_shell_opens_without_the_hub_and_comes_back_with_it(tmp_path: Path) -> None:
    async with home(tmp_path, speaks) as at, window(worker=True) as screen:
        async with at.serve(leaving=True) as up:
            await up.hub.store.apply([OpenAsk(Ask("a_1", None, None, WHICH, "x", Origin("r_1"), now(), "agent"))])
            page = await screen.open(up)
            await expect(page.locator(".card.question")).to_be_visible()
            await page.wait_for_function(KEPT, timeout=30_000)
            files = await page.evaluate(KEPT)
            assert [path for path in files if not path.startswith("/assets/")] in (["/"], ["/", "/icon.svg"])

        screen.complaints.clear()
        await page.reload()
        main = page.locator("main")
        await expect(page.locator(".connection.offline").first).to_contain_text("Offline for")
        await expect(main.get_by_text("No connection to the hub since")).to_be_visible()
        # Nothing of what was there is shown as if it were still open.
        await expect(page.locator(".card, .waiting-row, a.session")).to_have_count(0)
        await page.goto(f"{page.url}sessions/s_1")
        await expect(main.get_by_text("No connection to the hub since")).to_be_visible()
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("button", name="Skip to the content")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(main).to_be_focused()

        async with at.serve():
            await expect(page.locator(".connection.live").first).to_be_attached()
            await page.goto(page.url.split("/sessions")[0])
            await expect(page.locator(".card.question")).to_be_visible()
        screen.complaints.clear()
