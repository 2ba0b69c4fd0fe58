"""The page about webhooks: added, tested, seen failing, sent again, replaced and removed by a person."""

import os
from pathlib import Path
from typing import Literal

from playwright.async_api import Page, expect

from api.served import served
from browser.window import PAGE, go, log_in, needs_browser, window
from handraise.model.projects import Project
from handraise.store.changes import SaveProject
from surfaces.webhooks.hooked import PRIVATE, raised
from surfaces.webhooks.receiver import receiver, status

pytestmark = needs_browser

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

PICTURES = os.environ.get("WEBHOOK_PICTURES", "")
"""A folder for pictures, for people who change the page."""


async def picture(page: Page, name: str) -> None:
    if PICTURES:
        await page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


async def test_a_person_adds_tests_and_removes_a_webhook(tmp_path: Path) -> None:
    async with receiver() as there, served(tmp_path, page=PAGE, webhooks=PRIVATE) as hub, window() as screen:
        await hub.up.hub.store.apply([SaveProject(Project("p_1", "shop", "/work/shop"))])
        page = await screen.open(hub.up, "/admin/webhooks")
        main = page.locator("main")
        await expect(main.get_by_text("No webhooks yet.")).to_be_visible()
        await picture(page, "empty")

        await main.get_by_label("Address").fill("http://no-such-host.invalid/hook")
        with screen.trouble_expected():
            await main.get_by_role("button", name="Add webhook").click()
            await expect(main.get_by_role("alert")).to_contain_text("can't be found")
        await main.get_by_label("Address").fill(there.url("/events?key=1"))
        await main.get_by_label("Name").fill("Chat")
        await main.get_by_label("ask.opened").check()
        await main.get_by_label("ask.expired").check()
        await main.get_by_role("button", name="Add webhook").click()
        secret = await main.locator(".secret code").inner_text()
        assert secret.startswith("whsec_")
        one = main.get_by_role("region", name="Chat")
        await expect(one).to_contain_text("ask.opened and ask.expired")
        await expect(one).to_contain_text("without content")
        await expect(one.locator(".online")).to_have_text("On")

        await one.get_by_role("button", name="Test").click()
        await expect(one.get_by_role("status")).to_contain_text("The test event was accepted: 204 after")
        assert there.received[0].is_signed_with(secret)

        there.always = status(500, b"out of <b>order</b>")
        ask = await raised(hub)
        await there.until_about(("ask.opened", ask.id))
        await one.get_by_text("Last deliveries").click()
        listed = one.locator("li.delivery")
        await expect(listed).to_have_count(2)
        await page.reload()
        await expect(one.locator(".online")).to_contain_text("Failing · 1 event queued")
        await expect(one).to_contain_text("The response was 500.")
        await one.get_by_text("Last deliveries").click()
        await expect(listed.first).to_contain_text("ask.opened")
        await listed.first.get_by_text("Details").click()
        await expect(listed.first).to_contain_text("out of <b>order</b>")
        await expect(listed.first).to_contain_text(f'"id": "{ask.id}"')
        await picture(page, "failing")

        there.always = None
        await one.get_by_role("button", name="Send ask.opened again").click()
        await expect(listed.first).to_contain_text("Accepted")
        await expect(one.locator(".online")).to_have_text("On")
        assert there.received[-1].id == there.received[-2].id

        await one.get_by_role("button", name="Edit").click()
        await one.get_by_label("With content").check()
        await one.get_by_label("shop").check()
        await picture(page, "editing")
        await one.get_by_role("button", name="Save").click()
        await expect(one).to_contain_text("with content")
        await one.get_by_role("button", name="Turn off").click()
        await expect(one.locator(".online")).to_have_text("Off")
        await one.get_by_role("button", name="Turn on").click()
        await expect(one.locator(".online")).to_have_text("On")

        await one.get_by_role("button", name="New secret").click()
        await one.get_by_role("button", name="Replace the secret").click()
        fresh = await one.locator(".secret code").inner_text()
        assert fresh.startswith("whsec_")
        assert fresh != secret
        await expect(one).to_contain_text("the old secret also works until")

        await go(page, "/admin/audit")
        await expect(main).to_contain_text("webhook added")
        await go(page, "/admin/webhooks")
        await one.get_by_role("button", name="Remove").click()
        await one.get_by_role("button", name="Remove this webhook").click()
        await expect(main.get_by_text("No webhooks yet.")).to_be_visible()


async def test_who_may_only_look_sees_neither_secrets_nor_buttons(tmp_path: Path) -> None:
    async with receiver() as there, served(tmp_path, page=PAGE, webhooks=PRIVATE) as hub, window() as screen:
        async with hub.client("admin") as admin:
            await admin.post("/api/webhooks", json={"name": "Chat", "url": there.url("/private-path")})
        page = await screen.stranger(hub.up)
        await log_in(page, hub.up, "vera", "viewer")
        await page.goto(f"{hub.up.base}/admin/webhooks")
        one = page.locator("main").get_by_role("region", name="Chat")
        await expect(one).to_contain_text("127.0.0.1")
        await expect(one).not_to_contain_text("private-path")
        await expect(one.get_by_role("button")).to_have_count(0)
        await expect(page.get_by_role("button", name="Add webhook")).to_have_count(0)


async def test_it_fits_on_a_phone_in_both_themes(tmp_path: Path) -> None:
    async with receiver() as there, served(tmp_path, page=PAGE, webhooks=PRIVATE) as hub, window() as screen:
        async with hub.client("admin") as admin:
            long = "x" * 200
            made = await admin.post("/api/webhooks", json={"name": "Chat " + "y" * 60, "url": there.url(f"/{long}")})
            there.replies.append(status(500, b"z" * 400))
            await admin.post(f"/api/webhooks/{made.json()['webhook']['id']}/test")
        page = await screen.open(hub.up, "/admin/webhooks", viewport={"width": 360, "height": 740})
        await page.get_by_text("Last deliveries").click()
        await page.locator("li.delivery").get_by_text("Details").click()
        await expect(page.locator("li.delivery code").first).to_be_visible()
        for theme in THEMES:
            await page.emulate_media(color_scheme=theme)
            await picture(page, f"phone-{theme}")
            wide = await page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
            assert wide[0] <= wide[1]
