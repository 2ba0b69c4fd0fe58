"""Many tabs of one browser: one stream for all, as tabs come and go."""

import asyncio
from pathlib import Path

from playwright.async_api import expect

from api.served import served
from browser.wares import BRANCH, NPM_TEST
from browser.window import PAGE, armed, needs_browser, window

pytestmark = needs_browser

TABS = 7
"""More than a browser opens connections to one hub."""


async def test_any_number_of_tabs_share_a_stream_and_none_misses_anything(tmp_path: Path) -> None:  # lesson 47
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        first = await screen.open(hub.up)
        streams: list[str] = []
        first.context.on("request", lambda request: streams.append(request.url) if "/api/feed" in request.url else None)
        tabs = [await first.context.new_page() for _ in range(TABS - 1)]
        for tab in tabs:
            await tab.goto(hub.up.base)
            await expect(tab.locator(".connection.live").first).to_be_attached()
        assert streams == []

        asked = await hub.ask(BRANCH)
        for tab in (first, *tabs):
            await expect(tab.locator(f"#card-{asked.id}")).to_be_visible()

        await first.close()  # it held the stream: another one takes it up
        async with asyncio.timeout(60):
            while not streams:
                await asyncio.sleep(0.02)
        more = await hub.ask(NPM_TEST)
        for tab in tabs:
            await expect(tab.locator("main").get_by_role("button", name="Run npm test?")).to_be_visible()
        assert len(streams) == 1

        await tabs[0].bring_to_front()
        await armed(tabs[0], "question")
        await tabs[0].keyboard.press("1")
        await tabs[0].keyboard.press("Enter")
        for tab in tabs:
            await expect(tab.locator(f"#card-{asked.id}.stage-open")).to_have_count(0)
            await expect(tab.locator(f"#card-{more.id}.stage-open")).to_be_visible()


async def test_a_tab_whose_stream_is_held_by_one_that_sleeps_opens_its_own(tmp_path: Path) -> None:
    asleep = "navigator.locks.request('handraise.feed', () => new Promise(() => {}))"
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        page = await screen.open(hub.up, script=asleep)
        asked = await hub.ask(BRANCH)
        await expect(page.locator(f"#card-{asked.id}")).to_be_visible()
