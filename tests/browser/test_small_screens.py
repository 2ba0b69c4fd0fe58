"""Small screens: no view scrolls sideways, tables are cards, and audit entries are sentences."""

from pathlib import Path

import pytest
from playwright.async_api import ViewportSize, expect

from api.served import WHICH, served
from browser import notified
from browser.showroom import BYPASS, Showroom
from browser.talk import LONG
from browser.window import PAGE, PAINTED, go, needs_browser, window
from channels.ntfy_server import NtfyServer, ntfy_server
from handraise.model.asks import Permission

pytestmark = needs_browser

SMALL = ViewportSize(width=320, height=640)
VIEWS = (
    "/",
    "/sessions",
    f"/sessions/{LONG}",
    f"/sessions/{BYPASS}",
    "/sessions/s_data",
    *(f"/admin/{each}" for each in ("projects", "rules", "tokens", "audit", "statistics", "notifications", "settings")),
)
# What is wider than the screen, and what scrolls sideways although it isn't code.
TOO_WIDE = """
  () => {
    const isCode = (each) => each.closest("pre, .code, .diff, .prose table, .unseen, .skip") !== null;
    const slides = (each) => /auto|scroll/.test(getComputedStyle(each).overflowX);
    const scrolls = (each) => each.scrollWidth > each.clientWidth + 1 && slides(each);
    const leaves = ({ left, right, width, height }) => width > 0 && height > 0 && (right > innerWidth + 1 || left < -1);
    return [...document.querySelectorAll("body *")]
      .filter((each) => !isCode(each) && (scrolls(each) || leaves(each.getBoundingClientRect())))
      .map((each) => `${each.tagName}.${each.className}`).slice(0, 8);
  }
"""


# The controls and fields that are in view, but have something else in front of them.
COVERED = """
  () => {
    const frame = document.querySelector(".history").getBoundingClientRect();
    return [...document.querySelectorAll(".history :is(button, input, textarea, select)")]
      .map((each) => [each, each.getBoundingClientRect()])
      .map(([each, { left, top, width, height }]) => [each, left + width / 2, top + height / 2])
      .filter(([, , y]) => y > frame.top && y < frame.bottom)
      .filter(([each, x, y]) => !each.contains(document.elementFromPoint(x, y)) && each.checkVisibility())
      .map(([each]) => each.textContent);
  }
"""


async def test_the_way_to_the_end_covers_no_control_of_a_card(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session(phase="working")
        await hub.publish(*(f"Paragraph {number}. " * 9 for number in range(12)), session=session.id)
        await hub.ask(Permission("Bash", {"command": "npm test"}), session=session.id)
        await hub.ask(WHICH, session=session.id)
        page = await screen.open(hub.up, f"/sessions/{session.id}", viewport=SMALL, has_touch=True, is_mobile=True)
        await expect(page.locator(".card.question")).to_be_visible()
        frame, pill = page.locator(".history"), page.locator(".pill")
        seen = 0
        for step in range(0, 1200, 60):
            await frame.evaluate(
                "(each, step) => (each.scrollTop = each.scrollHeight - each.clientHeight - step)", step
            )
            await page.evaluate(PAINTED)
            assert await page.evaluate(COVERED) == [], step
            seen += await pill.count()
        assert seen > 10
        await expect(pill).to_have_text("Claude needs you")
        await pill.click()
        await expect(pill).to_have_count(0)
        assert await frame.evaluate("(each) => each.scrollHeight - each.scrollTop - each.clientHeight") < 2


@pytest.mark.limit(300)
async def test_nothing_goes_sideways_on_a_small_phone(tmp_path: Path) -> None:
    async with (
        ntfy_server(NtfyServer()) as ntfy,
        served(tmp_path, page=PAGE, notifications=notified.CONFIG) as hub,
        window(worker=True) as screen,
    ):
        await Showroom(hub.up).fill()
        await notified.set_notifications(hub.up, ntfy.port)
        page = await screen.open(hub.up, viewport=SMALL, has_touch=True, is_mobile=True)
        wide = {}
        for view in VIEWS:
            await go(page, view)
            await expect(page.locator("main")).to_be_visible()
            await expect(page.get_by_text("Loading…")).to_have_count(0)
            assert await page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"], view
            if found := await page.evaluate(TOO_WIDE):
                wide[view] = found
        assert wide == {}

        await go(page, "/admin/tokens")
        card = page.locator(".list tbody tr").first
        await expect(card.locator("td").nth(1)).to_have_attribute("data-label", "Role")
        await expect(card.get_by_role("button", name="Revoke")).to_be_visible()
        await go(page, "/admin/audit")
        entries = page.locator(".entry-list > li")
        await expect(entries.first).to_contain_text("owner signed in")
        await expect(page.locator("table")).to_have_count(0)
