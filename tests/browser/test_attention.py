"""How an open page notifies: a notification and a sound when the card isn't visible, and not otherwise."""

from pathlib import Path

from playwright.async_api import Page, expect

from api.served import served
from browser.window import PAGE, armed, needs_browser, window
from handraise.model.actors import Person
from handraise.model.answers import Allow
from handraise.model.asks import Permission

pytestmark = needs_browser

# What is shown and heard is the browser's own; this only writes down that it was.
LISTENING = """
  window.shown = [];
  window.heard = 0;
  const Real = Notification;
  window.Notification = class extends Real {
    constructor(title, options) {
      super(title, options);
      const told = { title, body: options.body, tag: options.tag, open: true };
      window.shown.push(told);
      this.addEventListener("close", () => (told.open = false));
      window.last = this;
    }
  };
  const start = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (...all) {
    window.heard += 1;
    return start.apply(this, all);
  };
"""


async def test_a_card_that_nobody_sees_calls_once_and_is_taken_back_when_it_is_over(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window(notifying=True) as screen:
        session = await hub.session(phase="working")
        before = await hub.ask(Permission("Bash", {"command": "before"}), session=session.id)
        page = await screen.open(hub.up, script=LISTENING, permissions=["notifications"])
        await armed(page, "permission")
        await wish(page)

        # What waited when the page was opened calls nobody; what comes while another page is looked at does.
        ask = await hub.ask(Permission("Bash", {"command": "npm test"}), session=session.id)
        await page.wait_for_function("() => window.shown.length === 1")
        assert await page.evaluate("window.shown") == [
            {"title": "Run npm test?", "body": "Session 1", "tag": ask.id, "open": True}
        ]
        assert await page.evaluate("window.heard") == 1
        await hub.up.hub.desk.seat(Person("ann"), "terminal").answer(ask.id, Allow())
        await page.wait_for_function("() => !window.shown[0].open")

        second = await hub.ask(Permission("Bash", {"command": "ls"}), session=session.id)
        await page.wait_for_function("() => window.shown.length === 2")
        await page.evaluate("window.last.onclick(new Event('click'))")
        await expect(page).to_have_url(f"{hub.up.base}/sessions/{session.id}")
        await expect(page.locator(f"#card-{second.id}.current[data-armed]")).to_be_in_viewport()

        # Now they are looked at: this one is seen as it comes, in the conversation and in silence.
        third = await hub.ask(Permission("Bash", {"command": "pwd"}), session=session.id)
        await expect(page.locator(f"#card-{third.id}[data-armed]")).to_be_visible()
        await expect(page).to_have_title("(3) Handraise")
        assert await page.evaluate("window.shown.length") == 2
        assert await page.evaluate("window.heard") == 2
        assert before.id not in await page.evaluate("window.shown.map((each) => each.tag)")


async def wish(page: Page) -> None:
    """Switches both on, as a person would; at night, too."""
    await page.get_by_role("link", name="Administration").click()
    await page.get_by_role("link", name="This browser").click()
    await page.get_by_label("Show a notification when Claude needs someone").check()
    await page.get_by_label("Play a short sound with it").check()
    await page.get_by_label("No sound between 10:00 PM and 7:00 AM").uncheck()


async def test_at_night_and_unasked_the_page_is_silent(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        page = await screen.open(hub.up, "/admin/settings", script=LISTENING)
        await page.clock.install(time="2026-03-01T23:30:00")
        # The light browser allows none, as if someone had denied it.
        notify = page.get_by_label("Show a notification when Claude needs someone")
        await notify.click()
        await expect(page.get_by_text("The browser doesn't allow notifications for this page.")).to_be_visible()
        await expect(notify).not_to_be_checked()
        await page.get_by_label("Play a short sound with it").check()
        await hub.ask(Permission("Bash", {"command": "npm test"}))
        await expect(page).to_have_title("(1) Handraise")
        assert await page.evaluate("[window.shown.length, window.heard]") == [0, 0]
        await page.get_by_label("No sound between 10:00 PM and 7:00 AM").uncheck()
        await hub.ask(Permission("Bash", {"command": "npm run lint"}))
        await page.wait_for_function("() => window.heard === 1")
        assert await page.evaluate("window.shown.length") == 0
