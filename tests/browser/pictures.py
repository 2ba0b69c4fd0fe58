"""Pictures of every view, in both themes and sizes, into a folder: `dev/pictures FOLDER`. For people to look at."""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

from browser.showroom import BYPASS, Showroom
from browser.talk import LONG
from browser.window import PAGE, PHONE, WIDE, Window, window
from handraise.serving import Serving
from surfaces.web.served import served

VIEWS = {
    "inbox": "/",
    "sessions": "/sessions",
    "chat": f"/sessions/{LONG}",
    "card": "/sessions/s_data",
    "bypass": f"/sessions/{BYPASS}",
    "failed": "/sessions/s_end0",
    "projects": "/admin/projects",
    "rules": "/admin/rules",
    "tokens": "/admin/tokens",
    "audit": "/admin/audit",
    "statistics": "/admin/statistics",
    "settings": "/admin/settings",
}


async def each_card(page: Page, shoot: Callable[[str], Awaitable[None]]) -> None:
    """Every open card of the inbox, one after the other."""
    for number in range(8):
        await shoot(f"card{number}")
        await page.keyboard.press("j")
        await page.wait_for_timeout(300)


async def take(folder: Path, screen: Window, up: Serving, only: set[str]) -> None:
    for size, viewport in (("wide", WIDE), ("phone", PHONE)):
        for theme in ("light", "dark"):
            look: dict[str, Any] = {"color_scheme": theme, "viewport": viewport}
            phone: dict[str, Any] = (
                {"has_touch": True, "is_mobile": True, "device_scale_factor": 2} if size == "phone" else {}
            )
            page = await screen.open(up, **look, **phone)

            async def shoot(name: str, page: Page = page, size: str = size, theme: str = theme) -> None:
                await page.screenshot(path=folder / f"{name}-{size}-{theme}.png")

            for name, path in VIEWS.items():
                if only and name not in only:
                    continue
                await page.goto(up.base + path)
                await expect(page.locator(".connection.live").first).to_be_attached()
                await page.wait_for_timeout(400)
                await shoot(name)
                if name == "inbox":
                    await each_card(page, shoot)
            await page.context.close()


async def main(folder: Path, only: set[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as state:
        async with served(Path(state), page=PAGE) as hub, window() as screen:
            await Showroom(hub.up).fill()
            await take(folder, screen, hub.up, only)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), set(sys.argv[2:])))
