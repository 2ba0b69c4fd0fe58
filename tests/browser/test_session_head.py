"""A session's header: usage limits, an unsafe Claude Code, and what sub-agents write, with the real CLI."""

from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace
from playwright.async_api import expect

from browser.home import home
from browser.window import needs_browser, window
from handraise.demo.pieces import Script, agent, say
from handraise.demo.request import Conversation
from handraise.hub.hub import now
from handraise.model.usage import UsageLimit
from handraise.session import records

pytestmark = needs_browser


def scout(conversation: Conversation) -> Script:
    yield [say("Nobody is **here**.")]


def send(conversation: Conversation) -> Script:
    yield [agent("Look", "Look around", scout)]
    yield [say("That was all.")]


async def test_limits_and_sub_agents_are_shown_and_an_unsafe_claude_is_named(tmp_path: Path) -> None:
    async with home(tmp_path, send) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("Send somebody.", str(at.work))).session
        page = await screen.open(up, f"/sessions/{session.id}")
        await expect(page.locator("main").get_by_text("That was all.")).to_be_visible()
        await expect(page.locator(".session-usage")).to_have_count(0)
        await expect(page.locator(".never-asks")).to_have_count(0)

        await page.get_by_text("Sub-agent").click()
        await expect(page.locator(".action .sub-agent strong, .sub-agent strong").first).to_have_text("here")

        await expect(page.locator(".session-head")).to_contain_text("idle")
        idle = (await up.hub.desk.session(session.id)).session
        later = now() + timedelta(hours=2, minutes=5)
        limits = (UsageLimit("five_hour", 0.42, later), UsageLimit("seven_day", 1.0, now() - timedelta(hours=1)))
        await up.hub.store.apply(records.changed(replace(idle, usage=limits)))
        await expect(page.locator(".session-usage")).to_have_text("5-hour limit: 42% used, resets in 2 h")

        up.hub.pool.starter.versions.latest = "2.1.197"
        await page.reload()
        await expect(page.locator(".session-usage")).to_have_text("5-hour limit: 42% used, resets in 2 h")
        await expect(page.locator(".never-asks").first).to_contain_text("Claude Code 2.1.197 is unsafe")
