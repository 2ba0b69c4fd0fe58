"""A call that auto mode denied: why, all of its input, and Allow it, with the real CLI."""

from pathlib import Path

from playwright.async_api import expect

from browser.home import home
from browser.window import needs_browser, window
from handraise.demo.pieces import Script, checked, say, use, wait
from handraise.demo.request import Conversation

pytestmark = needs_browser
COMMAND = "python3 -c \"open('sent', 'w')\" # \u202etxt"


def denied_once(conversation: Conversation) -> Script:
    for _ in range(2):
        call = use("Bash", command=COMMAND, description="Send it")
        conversation = yield [checked(call, "It sends <b>data</b> away."), wait(6)]
        conversation = yield [say("Denied." if conversation.result().is_error else "Done.")]


async def test_a_denied_call_says_why_and_takes_two_presses_to_allow(tmp_path: Path) -> None:
    async with home(tmp_path, denied_once) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("Send it.", str(at.work), mode="auto")).session
        page = await screen.open(up, f"/sessions/{session.id}")
        await expect(page.locator(".action-state")).to_have_text("being checked", timeout=15_000)

        denied = page.locator(".denied")
        await expect(denied).to_contain_text("Auto mode's check denied this: It sends <b>data</b> away.")
        await expect(denied.locator(".danger-sign")).to_contain_text("Characters that reverse text")
        await expect(denied.locator(".machine")).to_contain_text("⟨U+202E⟩txt")
        await denied.get_by_role("button", name="Allow it…").click()
        assert not (at.work / "sent").exists()
        await denied.get_by_role("button", name="Allow this call once").click()

        await expect(denied.first).to_contain_text("allowed it, and Claude tried again", timeout=15_000)
        await expect(page.get_by_role("log").get_by_text("Done.", exact=True)).to_be_visible()
        await expect(denied.get_by_role("button")).to_have_count(0)
        assert (at.work / "sent").exists()
