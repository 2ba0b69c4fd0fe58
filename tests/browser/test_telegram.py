"""The Telegram bot on the page: whether it is connected, and what to do if not."""

import asyncio
import os
from pathlib import Path

from playwright.async_api import Page, expect

from api.served import Served, served
from browser.window import PAGE, go, needs_browser, window
from handraise.surfaces.telegram.people import Member, TelegramConfig
from surfaces.telegram.bot_api import BOT, TOKEN, bot_api

pytestmark = needs_browser

ANA = Member(1001, "ana", "admin")


async def until(hub: Served, key: str) -> None:
    """Waits for this part of the bot's state."""
    async with hub.client("viewer") as client:
        while not (await client.get("/api/telegram")).json()[key]:
            await asyncio.sleep(0.02)


async def shoot(page: Page, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        await page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


async def test_the_administration_says_how_a_bot_is_connected(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        page = await screen.open(hub.up, "/admin/settings")
        panel = page.get_by_role("region", name="Telegram")
        await expect(panel).to_contain_text("No bot is connected. On the hub's machine, run: handraise telegram setup")
        await expect(page.locator(".never-asks")).to_have_count(0)
        await shoot(page, "telegram-off")


async def test_a_bot_that_works_is_named_with_its_link(tmp_path: Path) -> None:
    async with bot_api() as api:
        config = TelegramConfig(TOKEN, (ANA,), api=api.base)
        async with served(tmp_path, page=PAGE, telegram=config) as hub, window() as screen:
            await until(hub, "bot")
            page = await screen.open(hub.up, "/admin/settings")
            panel = page.get_by_role("region", name="Telegram")
            await expect(panel).to_contain_text(f"Connected as @{BOT.username}")
            link = panel.get_by_role("link")
            await expect(link).to_have_attribute("href", f"https://t.me/{BOT.username}")
            await expect(page.locator(".never-asks")).to_have_count(0)
            await shoot(page, "telegram-connected")


async def test_a_token_that_fails_is_shown_on_every_page(tmp_path: Path) -> None:
    async with bot_api() as api:
        config = TelegramConfig("1:abcdefghijklmnopqrstuvwxyz", (ANA,), api=api.base)
        async with served(tmp_path, page=PAGE, telegram=config) as hub, window() as screen:
            await until(hub, "trouble")
            page = await screen.open(hub.up, "/")
            notice = page.locator(".never-asks")
            await expect(notice).to_contain_text("Telegram: Telegram rejects the bot's token. Run")
            await shoot(page, "telegram-trouble")
            await go(page, "/admin/settings")
            await expect(page.get_by_role("region", name="Telegram")).to_contain_text(
                "Telegram rejects the bot's token."
            )
            await shoot(page, "telegram-trouble-admin")
