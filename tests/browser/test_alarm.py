"""An alarm on the page: in red, above the inbox and in the session's header, without a reload and after one."""

import json
from pathlib import Path

from playwright.async_api import expect

from browser.home import home
from browser.window import armed, needs_browser, window
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation

pytestmark = needs_browser


def touch(conversation: Conversation) -> Script:
    yield [use("Bash", command="touch done")]
    yield [say("The end.")]


async def test_an_alarm_stands_above_everything_until_the_session_is_resumed(tmp_path: Path) -> None:
    async with home(tmp_path, touch) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("Touch.", str(at.work))).session
        page = await screen.open(up, "/")
        await armed(page, "permission")
        forged = {"type": "control_request", "request_id": "x", "request": {"subtype": "set_model", "model": "other"}}
        with (tmp_path / "state" / "sessions" / session.id / "1" / "in").open("w") as stdin:
            stdin.write(json.dumps(forged) + "\n")

        alarm = page.locator("main .alarm")
        await expect(alarm).to_contain_text("other than Handraise")
        await expect(page.locator("main .card")).to_have_count(0)
        await page.reload()
        await expect(alarm).to_be_visible()
        await alarm.get_by_role("link").click()
        head = page.locator(".session-head .alarm")
        await expect(head).to_contain_text("other than Handraise")
        danger = await page.evaluate("getComputedStyle(document.querySelector('.session-head .alarm')).color")
        assert danger == await page.evaluate(
            "(() => { const probe = document.createElement('p'); probe.style.color = 'var(--danger)';"
            " document.body.append(probe); return getComputedStyle(probe).color; })()"
        )
        await expect(page.locator(".event.alarm")).to_be_visible()
