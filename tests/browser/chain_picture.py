"""The picture in docs/notifications.md, from a real hub: `dev/pictures --notifications`."""

import asyncio
import tempfile
from pathlib import Path

from playwright.async_api import expect

from browser import notified
from browser.showroom import Showroom
from browser.window import PAGE, WIDE, window
from channels.ntfy_server import NtfyServer, ntfy_server
from handraise.serving.serve import ServeConfig, serving

TARGET = Path(__file__).parents[2] / "docs" / "pictures" / "notifications.png"


async def main() -> None:
    with tempfile.TemporaryDirectory() as state:
        service = ServeConfig(Path(state), Path("/bin/false"), {}, port=0, page=PAGE, notifications=notified.CONFIG)
        async with ntfy_server(NtfyServer()) as ntfy, serving(service) as up, window(worker=True) as screen:
            await Showroom(up).fill()
            await notified.set_notifications(up, ntfy.port, other="Ann's phone")
            page = await screen.open(
                up, "/admin/notifications", viewport=WIDE, device_scale_factor=2, color_scheme="light", locale="en-GB"
            )
            chain = page.locator("main section").first
            await expect(chain.locator(".chain-step")).to_have_count(4)
            await expect(page.locator("main .empty")).to_have_count(0)
            await chain.screenshot(path=TARGET)


if __name__ == "__main__":
    asyncio.run(main())
