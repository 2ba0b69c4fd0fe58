"""A removed session leaves every open page at once: the list, its conversation, the search; also after a reconnect."""

import re
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import expect

from api.served import served
from browser.window import PAGE, PHONE, go, needs_browser, window
from handraise.model.actors import Person
from handraise.model.answers import Allow
from handraise.model.asks import Answered, Permission
from handraise.store.changes import SettleAsk

pytestmark = needs_browser

ANN = Person("ann")


async def test_a_removed_session_leaves_the_list_its_conversation_and_the_search(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        first, second, third = [await hub.session() for _ in range(3)]
        for each in (first, second, third):
            await hub.publish(f"a walnut in {each.id}", session=each.id)
        page = await screen.open(hub.up, f"/sessions/{first.id}")
        phone = await screen.open(hub.up, f"/sessions/{second.id}", viewport=PHONE, has_touch=True, is_mobile=True)
        desk = hub.up.hub.desk.seat(ANN, "terminal")
        await expect(page.locator(".history")).to_contain_text("a walnut in s_1")
        ask = await hub.ask(Permission("Bash", {"command": "ls"}), session=first.id)
        settled = Answered(Allow(), ANN, "terminal", datetime.now(UTC))
        await hub.up.hub.store.apply([SettleAsk(ask.id, settled)])
        await expect(page.locator(f"#card-{ask.id}")).to_be_visible()

        with screen.trouble_expected():  # the page may just be asking for something of it
            await desk.remove(first.id)
            await expect(page.get_by_role("heading", name="This session was removed")).to_be_visible()
        await expect(page.locator("main")).to_contain_text("Session 1 · Removed by ann")
        await expect(page.locator(".side")).not_to_contain_text("Session 1")
        await page.get_by_role("button", name="Back to sessions").click()
        await expect(page).to_have_url(f"{hub.up.base}/sessions")
        await expect(page.locator(f"#card-{ask.id}")).to_have_count(0)

        # What was found disappears from the results, too.
        await page.keyboard.press("/")
        await page.locator(".side input[type=search]").fill("walnut")
        await page.keyboard.press("Enter")
        found = page.locator(".found > li")
        await expect(found).to_have_count(2)
        dialog = page.get_by_role("dialog")
        for name, option in {"State": "Running", "When": "Last 24 hours", "From": "Claude"}.items():
            await dialog.get_by_label(name, exact=True).select_option(option)
        await expect(dialog.get_by_text("Nothing found.")).to_be_visible()
        await dialog.get_by_label("State").select_option("Ended")
        await expect(found).to_have_count(2)
        await dialog.get_by_label("When").select_option("From … to …")
        await dialog.get_by_label("To", exact=True).fill("2020-01-01")
        await expect(dialog.get_by_text("Nothing found.")).to_be_visible()
        await dialog.get_by_role("button", name="Clear filters").click()
        await expect(found).to_have_count(2)
        await desk.remove(second.id)
        await expect(found).to_have_count(1)
        await expect(found).to_contain_text("Session 3")
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        # Back in the field that it was opened from, which is left the same way.
        await page.keyboard.press("Escape")
        await page.keyboard.press("f")
        await page.locator(".search-words").fill("walnut s_3")
        await expect(found).to_have_count(1)
        await page.keyboard.press("ArrowDown")
        await expect(found.get_by_role("link")).to_be_focused()
        await page.keyboard.press("ArrowUp")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(re.compile(f"/sessions/{third.id}#at-"))

        # On a phone, the tab doesn't lead there any more.
        await expect(phone.get_by_role("heading", name="This session was removed")).to_be_visible()
        await phone.get_by_role("button", name="Back to sessions").click()
        await expect(phone.locator(".session")).to_have_count(1)
        await expect(phone.locator(".tabs a").last).to_have_attribute("href", "/sessions")

        # Removed while the connection was down.
        await go(page, f"/sessions/{third.id}")
        await expect(page.locator(".history")).to_contain_text("a walnut in s_3")
        with screen.trouble_expected():
            await page.context.set_offline(True)
            await page.evaluate("dispatchEvent(new Event('online'))")
            await expect(page.locator(".connection.offline").first).to_be_attached()
            await desk.remove(third.id)
            await page.context.set_offline(False)
            await expect(page.get_by_role("heading", name="This session was removed")).to_be_visible()
        await expect(page.locator(".side .session")).to_have_count(0)
