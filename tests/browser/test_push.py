"""Push in a real browser: turned on with a click, shown by the real worker, answered there, and removed."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page, Route, expect

from api.served import Served, served
from browser.home import home
from browser.window import PAGE, PHONE, Window, log_in, needs_browser, window
from browser.worker import NotificationScreen, screen_of, subscribing
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.asks import Permission
from handraise.model.tokens import Role
from handraise.serving.serve import RunningHub
from handraise.surfaces.push.notifier import PushConfig
from surfaces.push.vendor import Phone, vendor

pytestmark = needs_browser

AT_ONCE = PushConfig(private_addresses=True, grace=timedelta(0))
NPM = Permission("Bash", {"command": "npm test"})


@dataclass
class PushDesk:
    """A hub, a push service, and a browser that can subscribe there: one page, for all tests."""

    hub: Served
    work: Path
    phone: Phone
    window: Window
    page: Page
    closed: NotificationScreen | None = None
    """What is left of the page, if a test has closed it."""

    async def settings(self, name: str = "ana", role: Role = "admin") -> Page:
        """The page where it is switched on, of this person."""
        self.closed = None
        if not await self.is_of(name):
            await self.page.context.clear_cookies()
            await log_in(self.page, self.hub.up, name, role)
        await self.page.goto("/admin/settings")
        await expect(self.page.get_by_text(re.compile("^O(n|ff) for this device$"))).to_be_visible()
        return self.page

    async def on(self, name: str = "ana", role: Role = "admin") -> Page:
        """The same, and it is switched on."""
        page = await self.settings(name, role)
        if await page.get_by_text("Off for this device").count():
            await page.get_by_role("button", name="Turn on").click()
        await expect(page.get_by_text("On for this device")).to_be_visible()
        return page

    async def switched_on(self, name: str = "ana", role: Role = "admin") -> NotificationScreen:
        """A device that is on, and whose page was closed. Nothing is shown yet."""
        if self.closed and await self.is_of(name):
            await self.closed.put_away()
        else:
            self.closed = await screen_of(await self.on(name, role), self.hub.up.base)
        return self.closed

    async def is_of(self, name: str) -> bool:
        """Whether this person is signed in."""
        me = await self.page.context.request.get("/api/me")
        return me.ok and (await me.json())["name"] == name

    async def carry(self, screen: NotificationScreen, ask: str, kind: str = "ask") -> dict[str, Any]:
        """What the hub sent through the push service, handed to the worker."""
        got = await self.phone.until(lambda notice: (notice["kind"], notice.get("ask")) == (kind, ask))
        await screen.push(got.notice)
        return got.notice


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PushDesk]:
    tmp = tmp_path_factory.mktemp("push")
    async with (
        vendor() as service,
        home(tmp, run_a_command, push=AT_ONCE) as around,
        around.serve() as up,
        window(notifying=True) as opened,
    ):
        hub = Served(up, tmp / "state")
        async with hub.client("viewer") as client:
            phone = service.phone((await client.get("/api/push")).json()["key"])
        page = await opened.stranger(up, script=subscribing(phone), permissions=["notifications"])
        yield PushDesk(hub, around.work, phone, opened, page)


@pytest.fixture
async def at(house: PushDesk) -> AsyncIterator[PushDesk]:
    yield house
    await house.page.unroute_all()
    assert house.window.complaints == []


def run_a_command(conversation: Conversation) -> Script:
    yield [use("Bash", command="touch done", description="Leave a mark")]
    yield [say("The end.")]


async def test_a_device_is_switched_on_tried_out_and_switched_off(at: PushDesk) -> None:
    async with at.hub.client("admin") as admin:
        page = await at.settings()
        panel = page.locator(".devices")
        await expect(panel.get_by_text("Off for this device")).to_be_visible()
        await panel.get_by_role("button", name="Turn on").click()
        await expect(panel.get_by_text("On for this device")).to_be_visible()
        await expect(panel.get_by_text("this device", exact=False).first).to_be_visible()
        await panel.get_by_role("button", name="Send a test").click()
        await expect(panel.get_by_text("Sent. It should appear in a moment.")).to_be_visible()
        await at.phone.until(lambda notice: notice["kind"] == "trial")

        at.phone.refusals.append((429, {}))
        await panel.get_by_role("button", name="Send a test").click()
        await expect(panel.get_by_role("alert")).to_have_text("The push service is busy (429).")

        tick = panel.get_by_label("Also notify me when a session I started ends")
        await expect(tick).to_be_checked()
        await tick.click()
        await expect(tick).not_to_be_checked()
        await page.reload()
        await expect(panel.get_by_text("On for this device")).to_be_visible()
        await expect(tick).not_to_be_checked()
        await expect(panel.locator(".device-trouble")).to_have_text("The push service is busy (429).")

        await panel.get_by_role("button", name="Turn off").click()
        await expect(panel.get_by_text("Off for this device")).to_be_visible()
        await expect(panel.locator(".device")).to_have_count(0)
        noted = [each["what"] for each in (await admin.get("/api/audit")).json()["entries"] if "device" in each["what"]]
        assert noted[0] == "device added"
        assert noted[-1] == "device removed"


async def test_an_ask_is_shown_with_answers_and_the_one_that_is_tapped_reaches_the_hub(at: PushDesk) -> None:
    screen = await at.switched_on()
    session = await at.hub.session()
    ask = await at.hub.ask(NPM, session=session.id)
    await at.carry(screen, ask.id)
    shown = await screen.until(tag=ask.id)
    assert (shown["title"], shown["body"]) == ("Run npm test?", session.title)
    assert shown["actions"] == [["no", "Deny"], ["yes", "Allow once"]]
    assert shown["icon"] == f"{at.hub.up.base}/icon-192.png"

    await screen.watch()
    await screen.click(ask.id, "yes")
    settled = await at.hub.up.hub.desk.ask(ask.id)
    assert settled.settlement is not None
    async with at.hub.client("viewer") as client:
        response = (await client.get(f"/api/asks/{ask.id}")).json()["settlement"]
    assert (response["answer"]["allow"], response["answer"]["for"]) == (True, "once")
    assert (response["by"]["name"], response["from"]) == ("ana", "web")
    # No Claude runs here, so nothing receives it.
    assert await screen.ever_shown() == [
        ["Allowed · waiting for Claude", "Run npm test?"],
        ["Allowed · not yet received by Claude", "Run npm test?"],
    ]
    assert [each for each in at.phone.shown if each[1] == ask.id] == [("ask", ask.id)], (
        "the device said itself that it shows nothing more"
    )


async def test_claude_takes_what_was_tapped_and_the_notification_has_the_words_of_the_card(at: PushDesk) -> None:
    page = await at.on()
    session = (await at.hub.up.hub.desk.start("Leave a mark.", str(at.work))).session
    notice = (await at.phone.until(lambda notice: notice.get("title") == "Run touch done?")).notice
    await page.goto(f"/sessions/{session.id}")
    await expect(page.locator(f"#card-{notice['ask']} h2")).to_have_text(notice["title"])
    screen = await screen_of(page, at.hub.up.base)
    await screen.watch()
    await screen.push(notice)
    await screen.until(title="Run touch done?", actions=[["no", "Deny"], ["yes", "Allow once"]])
    await screen.click(notice["ask"], "yes")
    shown = [title for title, _ in await screen.ever_shown()]
    assert shown[0] == "Run touch done?"
    assert shown[-1] == "Allowed · delivered"
    assert (at.work / "done").exists()
    await screen.until_none(notice["ask"])


async def test_what_is_answered_elsewhere_says_so_and_goes(at: PushDesk) -> None:
    async with at.hub.neighbour() as owner:
        screen = await at.switched_on()
        ask, other = await at.hub.ask(NPM), await at.hub.ask()
        for each in (ask, other):
            await at.carry(screen, each.id)
            await screen.until(tag=each.id)
        await screen.watch()
        await owner.post(f"/api/asks/{ask.id}/answer", json={"answer": {"allow": False}})
        await at.carry(screen, ask.id, "settled")
        await screen.until_none(ask.id)
        assert await screen.ever_shown() == [["Run npm test?", "owner denied npm test · terminal"]]
        assert [each["tag"] for each in await screen.notifications()] == [other.id]


async def test_who_taps_too_late_is_told_who_was_first(at: PushDesk) -> None:
    async with at.hub.neighbour() as owner:
        screen = await at.switched_on()
        ask = await at.hub.ask(NPM)
        await at.carry(screen, ask.id)
        await screen.until(tag=ask.id)
        await owner.post(f"/api/asks/{ask.id}/answer", json={"answer": {"allow": False, "message": "not today"}})
        await screen.click(ask.id, "yes")
        shown = await screen.until(title="Already answered")
        assert "by owner (terminal): denied: not today." in shown["body"]
        assert "Your answer wasn't used." in shown["body"]
        assert shown["actions"] == []
        response = (await owner.get(f"/api/asks/{ask.id}")).json()["settlement"]
        assert response["answer"]["allow"] is False
        # What the hub says of it by push changes nothing about that.
        await screen.push({"kind": "settled", "device": "d", "ask": ask.id, "title": "x", "body": "y", "waiting": 0})
        await screen.until(title="Already answered")


async def test_an_answer_to_something_else_than_what_waits_is_refused_and_told(at: PushDesk) -> None:
    screen = await at.switched_on()
    ask = await at.hub.ask(Permission("Bash", {"command": "rm -rf build"}))
    notice = dict((await at.phone.until(lambda notice: notice.get("ask") == ask.id)).notice)
    await screen.push({**notice, "title": "Run npm test?", "digest": "sha256:" + "0" * 64})
    await screen.until(title="Run npm test?")
    with at.window.trouble_expected():
        await screen.click(ask.id, "yes")
    shown = await screen.until(title="Not answered")
    assert shown["body"].startswith("This request has changed. Review it again.")
    assert shown["body"].endswith("Tap to review it.")
    assert (await at.hub.up.hub.desk.ask(ask.id)).settlement is None


async def test_an_answer_that_cannot_be_sent_says_so(at: PushDesk) -> None:
    screen = await at.switched_on()
    ask = await at.hub.ask(NPM)
    await at.carry(screen, ask.id)
    await screen.until(tag=ask.id)
    await screen.evaluate(
        "() => { self.fetched = self.fetch; self.fetch = async () => { throw new TypeError('offline') }; }"
    )
    await screen.click(ask.id, "no")
    await screen.evaluate("() => { self.fetch = self.fetched; }")
    shown = await screen.until(title="Couldn't send it")
    assert shown["body"] == "The hub didn't confirm it. Tap to open it."
    assert (await at.hub.up.hub.desk.ask(ask.id)).settlement is None


async def test_who_was_logged_out_meanwhile_is_told(at: PushDesk) -> None:
    screen = await at.switched_on()
    ask = await at.hub.ask(NPM)
    await at.carry(screen, ask.id)
    await screen.until(tag=ask.id)
    await screen.context.clear_cookies()
    await screen.click(ask.id, "yes")
    shown = await screen.until(title="Not sent")
    assert shown["body"] == "This browser is signed out. Tap to sign in."
    assert (await at.hub.up.hub.desk.ask(ask.id)).settlement is None


async def test_who_may_only_look_gets_a_notification_without_answers(at: PushDesk) -> None:
    screen = await at.switched_on("vic", "viewer")
    ask = await at.hub.ask(NPM)
    notice = await at.carry(screen, ask.id)
    assert notice["answers"] == []
    assert (await screen.until(tag=ask.id))["actions"] == []


async def test_what_a_newer_hub_says_is_shown_all_the_same(at: PushDesk) -> None:
    screen = await at.switched_on()
    for message in ('{"kind":"tomorrow"}', "not json", "null"):
        await screen.push(message)
        await screen.until(title="Claude needs you")


async def test_a_tap_on_the_notification_leads_to_the_card(at: PushDesk) -> None:
    page = await at.on()
    session = await at.hub.session(phase="working")
    first = await at.hub.ask(NPM, session=session.id)
    ask = await at.hub.ask(session=session.id)
    # As the worker tells it to a page that is open.
    worker = page.context.service_workers[-1]
    await worker.evaluate(
        "(path) => self.clients.matchAll({ type: 'window', includeUncontrolled: true })"
        ".then((pages) => pages.forEach((page) => page.postMessage({ open: path })))",
        f"/sessions/{session.id}#card-{ask.id}",
    )
    await expect(page).to_have_url(f"{at.hub.up.base}/sessions/{session.id}")
    await expect(page.locator(f"#card-{ask.id}")).to_be_in_viewport()
    # And as it opens a page where there is none.
    await page.goto(f"/#card-{ask.id}")
    await expect(page.locator(f"#card-{ask.id} .controls")).to_be_visible()
    await expect(page).to_have_url(f"{at.hub.up.base}/")
    assert (await at.hub.up.hub.desk.ask(first.id)).settlement is None


async def test_a_page_that_is_open_calls_by_the_worker_and_puts_away_what_is_settled(at: PushDesk) -> None:
    async with at.hub.neighbour() as owner:
        # Nobody looks at the page, so it notifies.
        hidden = "Object.defineProperty(document, 'hidden', { get: () => true }); document.hasFocus = () => false;"
        page = await at.on()
        await screen_of(page, at.hub.up.base)  # nothing is shown yet
        page = await at.on()
        await page.evaluate(hidden)
        calls: list[str] = []
        page.on("request", lambda request: calls.append(request.url))
        ask = await at.hub.ask(NPM)
        shown = (
            "navigator.serviceWorker.ready.then((it) => it.getNotifications()).then((all) => all.map((it) => it.title))"
        )
        await page.wait_for_function(f"() => {shown}.then((titles) => titles.join() === 'Run npm test?')")
        await at.phone.until(lambda notice: notice.get("ask") == ask.id)
        await owner.post(f"/api/asks/{ask.id}/answer", json={"answer": {"allow": True}})
        await page.wait_for_function(f"() => {shown}.then((titles) => titles.length === 0)")
        # It says so to the hub, which then need not take it back; on a slow machine it may have done so already.
        async with asyncio.timeout(60):
            while not (any(url.endswith("/closed") for url in calls) or ("settled", ask.id) in at.phone.shown):
                await asyncio.sleep(0.02)


async def test_what_the_hub_forgot_is_told_to_it_again(at: PushDesk) -> None:
    page = await at.on()
    at.phone.refusals.append((410, {}))
    tried = at.phone.tried
    await at.hub.ask()
    await at.phone.until_tried(tried + 1)
    await page.reload()
    await expect(page.get_by_text("On for this device")).to_be_visible()
    ask = await at.hub.ask()
    await at.phone.until(lambda notice: notice.get("ask") == ask.id)


async def test_a_page_that_does_not_know_yet_who_looks_at_it_switches_nothing_off(at: PushDesk) -> None:
    page = await at.on()
    known = asyncio.Event()

    async def hold(route: Route) -> None:
        await known.wait()
        await route.continue_()

    await page.route("**/api/me", hold)
    async with page.expect_request("**/api/me"):
        await page.reload()
    # The page asks the same on its own; whatever it makes of the answers has happened then.
    await page.evaluate("""async () => {
      await navigator.serviceWorker.ready;
      for (const path of ["/api/push", "/api/push/devices", "/api/push/devices"]) await (await fetch(path)).json();
    }""")
    assert await page.evaluate("localStorage.getItem('test.subscription')") == "yes"
    known.set()
    await expect(page.get_by_text("On for this device")).to_be_visible()


async def test_whoever_logs_in_next_has_not_switched_it_on(at: PushDesk) -> None:
    page = await at.on()
    await page.context.clear_cookies()
    await log_in(page, at.hub.up, "bob")
    await page.goto("/admin/settings")
    await expect(page.get_by_text("Off for this device")).to_be_visible()
    await expect(page.locator(".device")).to_have_count(0)
    assert await page.evaluate("localStorage.getItem('test.subscription')") is None


async def test_who_logs_out_is_switched_off(at: PushDesk) -> None:
    page = await at.on()
    await page.get_by_role("button", name="Sign out of this browser").click()
    await expect(page.get_by_text("Sign in to your hub")).to_be_visible()
    assert await page.evaluate("localStorage.getItem('handraise.push')") is None
    assert '"endpoint"' not in (at.hub.state / "push" / "devices.json").read_text()


ASKABLE = "Object.defineProperty(Notification, 'permission', { get: () => 'default' });"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.0 Mobile/15E148 Safari/604.1"
)
REASONS = {
    "Notifications are blocked for this page.": "",  # the light browser shows none, and says so by itself
    "This browser doesn't support push notifications.": f"{ASKABLE} delete window.PushManager;",
    "Push needs HTTPS": f"{ASKABLE} Object.defineProperty(window, 'isSecureContext', {{ value: false }});",
}


async def test_why_it_cannot_be_is_told_honestly(house: PushDesk, tmp_path: Path) -> None:
    up = house.hub.up
    async with window(worker=True) as screen:
        first = await screen.open(up)
        for says, script in REASONS.items():
            await cannot_be(screen, first.context, up, says, script)
        phone = await screen.stranger(up, user_agent=IPHONE, viewport=PHONE)
        await log_in(phone, up)
        await cannot_be(screen, phone.context, up, "“Add to Home Screen”", ASKABLE)
        async with served(tmp_path, page=PAGE, push=PushConfig(enabled=False)) as off:
            await log_in(first, off.up)
            says = "Push is turned off in this hub's settings"
            await cannot_be(screen, first.context, off.up, says, ASKABLE)


async def cannot_be(screen: Window, browser: BrowserContext, up: RunningHub, says: str, script: str) -> None:
    """In a new tab, where this holds from the beginning."""
    page = screen.listen(await browser.new_page())
    await page.add_init_script(script)
    await page.goto(f"{up.base}/admin/settings")
    await expect(page.locator(".devices").get_by_text(says)).to_be_visible()
    await expect(page.get_by_role("button", name="Turn on")).to_have_count(0)
    await page.close()


async def test_a_refusal_of_the_browser_is_told(at: PushDesk) -> None:
    # Chromium has no push service here: its own refusal is what a person sees who has none.
    page = await at.settings("eve")
    await expect(page.get_by_text("Off for this device")).to_be_visible()
    await page.evaluate("() => { PushManager.prototype.subscribe = subscribeReally; }")
    with at.window.trouble_expected():
        await page.get_by_role("button", name="Turn on").click()
        await expect(page.get_by_text("The browser couldn't reach its push service.")).to_be_visible()


async def test_the_page_is_installable(at: PushDesk) -> None:
    page = await at.settings()
    await page.goto("/")
    manifest = await page.evaluate("fetch('/page.webmanifest').then((answer) => answer.json())")
    sizes = {(each["sizes"], each["purpose"]) for each in manifest["icons"]}
    assert {("192x192", "any"), ("512x512", "any"), ("512x512", "maskable")} <= sizes
    sources = [each["src"] for each in manifest["icons"]] + ["/apple-touch-icon.png", "/badge-96.png"]
    for source in sources:
        size = await page.evaluate(
            "(src) => new Promise((done) => { const image = new Image(); image.onload = () => done(image.width);"
            " image.onerror = () => done(0); image.src = src; })",
            source,
        )
        assert size > 0, source
    cdp = await page.context.new_cdp_session(page)
    assert (await cdp.send("Page.getInstallabilityErrors"))["installabilityErrors"] in (
        [],
        # A window without a profile of its own cannot install anything.
        [{"errorId": "in-incognito", "errorArguments": []}],
    )
