"""The documentation in a browser, from a folder: search, menu and themes; no barrier, and nothing sideways."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.async_api import expect

from browser.test_accessible import AXE
from browser.window import PHONE, WIDE, needs_browser, window

pytestmark = needs_browser

ROOT = Path(__file__).parents[2]
PAGES = ("index", "guide", "rules", "phones", "settings", "architecture", "api", "machines", "operations")
LOOKED_AT = ("index", "guide", "phones")
VIOLATIONS = """
  async () => {
    const look = async (wanted) => {
      const { violations } = await axe.run(document, { ...wanted, preload: false, resultTypes: ["violations"] });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160))}`);
    };
    const found = await look({});
    document.documentElement.dataset.theme = "dark";
    return [...found, ...await look({ runOnly: ["color-contrast"] })];
  }
"""


class FolderSite:
    """The built site, as a browser opens it."""

    def __init__(self, folder: Path) -> None:
        self.base = f"file://{folder}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> FolderSite:
    folder = tmp_path_factory.mktemp("docs") / "site"
    subprocess.run([sys.executable, ROOT / "dev" / "docs", folder], check=True, stdout=subprocess.DEVNULL, timeout=120)
    return FolderSite(folder)


async def test_people_find_their_way_by_menu_and_search_in_both_themes(site: FolderSite) -> None:
    async with window(records=True) as opened:
        page = await opened.stranger(site, color_scheme="dark", viewport=WIDE)
        await page.goto(f"{site.base}/index.html")
        await expect(page.locator("html[data-theme=dark]")).to_have_count(1)
        await page.get_by_role("button", name="Light").click()
        await page.get_by_role("link", name="Read the guide").click()
        await expect(page.get_by_role("heading", name="Guide", exact=True)).to_be_visible()
        await expect(page.locator("html[data-theme=light]")).to_have_count(1)

        await page.keyboard.press("/")
        await page.keyboard.type("<img src=x> nowhere")
        await expect(page.get_by_text("Nothing found")).to_be_visible()
        await page.get_by_role("searchbox").fill("Restore")
        await expect(page.locator(".results a").first).to_have_attribute("href", "operations.html#restore")
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{site.base}/operations.html#restore")

        phone = await opened.stranger(site, viewport=PHONE)
        await phone.goto(f"{site.base}/decisions/0014-backup.html")
        await expect(phone.get_by_role("navigation", name="Pages")).to_be_hidden()
        await phone.get_by_role("button", name="Menu").click()
        await phone.get_by_role("navigation", name="Pages").get_by_role("link", name="Operations").click()
        await expect(phone).to_have_url(f"{site.base}/operations.html")
        assert opened.requested
        assert all(each.startswith(("file://", "data:")) for each in opened.requested)


async def test_no_page_has_a_barrier_or_is_wider_than_the_screen(site: FolderSite) -> None:
    async with window() as opened:
        page = await opened.stranger(site, color_scheme="light", viewport=PHONE)
        for name in PAGES:
            await page.goto(f"{site.base}/{name}.html")
            for size in (WIDE, PHONE):
                await page.set_viewport_size(size)
                assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth"), (name, size)
            if name in LOOKED_AT:
                await page.add_script_tag(path=AXE)
                assert await page.evaluate(VIOLATIONS) == [], name
