"""Push in a real browser: switched on by a click, shown by the real worker, answered there, and taken back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.async_api import Page, Route, expect

from browser.home import home
from browser.window import PAGE, PHONE, Window, needs_browser, window
from browser.worker import Screen, screen_of, subscribing
from handraise.demo.pieces import Script, say, use
from handraise.demo.told import Told
from handraise.model.asks import Permission
from handraise.model.tokens import Role
from handraise.serving import Serving
from handraise.surfaces.push.bell import Terms
from surfaces.push.vendor import Phone, Vendor, vendor
from surfaces.web.served import TESTER, Served, served

pytestmark = needs_browser

AT_ONCE = Terms(private_addresses=True, grace=timedelta(0))
NPM = Permission("Bash", {"command": "npm test"})


@dataclass
class Desk:
    """A hub, a push service, and a browser that can subscribe there."""

    hub: Served
    service: Vendor
    window: Window
    phone: Phone

    async def settings(self, role: Role = "admin", script: str = "", **context: Any) -> Page:
        """The page where it is switched on, of somebody with this role."""
        page = await self.window.stranger(self.hub.up, script=subscribing(self.phone) + script, **context)
        code = await self.hub.up.gate.make_code("ana", role, TESTER, "test")
        await page.goto(f"/login?code={code}")
        await page.goto("/admin/settings")
        await expect(page.get_by_text("When the page is closed")).to_be_visible()
        return page

    async def switched_on(self, role: Role = "admin") -> Screen:
        """A device that is on, and whose page was closed."""
        page = await self.settings(role, permissions=["notifications"])
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_text("On for this device")).to_be_visible()
        return await screen_of(page, self.hub.up.base)

    async def carry(self, screen: Screen, ask: str, kind: str = "ask") -> dict[str, Any]:
        """What the hub sent through the push service, handed to the worker."""
        got = await self.phone.until(lambda notice: (notice["kind"], notice.get("ask")) == (kind, ask))
        await screen.push(got.notice)
        return got.notice


@asynccontextmanager
async def desk(tmp: Path) -> AsyncIterator[Desk]:
    async with vendor() as service, served(tmp, page=PAGE, push=AT_ONCE) as hub, window(notifying=True) as opened:
        async with hub.client("viewer") as client:
            key = (await client.get("/api/push")).json()["key"]
        yield Desk(hub, service, opened, service.phone(key))


async def test_a_tap_that_was_on_its_way_when_the_notice_came_answers_nothing(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        screen = await at.switched_on()
        ask = await at.hub.ask(NPM, session=(await at.hub.session()).id)
        await at.carry(screen, ask.id)
        await screen.until(tag=ask.id)
        # As if it had come just now: how long a test takes to tap is not known.
        await screen.evaluate("Date.now = ((now) => () => now() - 3_600_000)(Date.now)")
        # A window is only opened for a person.
        await screen.evaluate("self.clients.openWindow = async (path) => { self.opened = path; return null; }")
        await screen.click(ask.id, "yes", calm=0)
        assert f"card-{ask.id}" in await screen.evaluate("self.opened")
        assert (await at.hub.up.hub.desk.ask(ask.id)).state == "open"


async def test_an_ask_is_shown_with_answers_and_the_one_that_is_tapped_reaches_the_hub(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
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
            told = (await client.get(f"/api/asks/{ask.id}")).json()["settlement"]
        assert (told["answer"]["allow"], told["answer"]["for"]) == (True, "once")
        assert (told["by"]["name"], told["from"]) == ("ana", "web")
        # Nobody runs Claude here, so that nobody takes it.
        assert await screen.ever_shown() == [
            ["Allowed · waiting for Claude", "Run npm test?"],
            ["Allowed · Claude has not taken it yet", "Run npm test?"],
        ]
        assert at.phone.shown == [("ask", ask.id)], "the device said itself that it shows nothing more"


def run_a_command(told: Told) -> Script:
    yield [use("Bash", command="touch done", description="Leave a mark")]
    yield [say("The end.")]


async def test_claude_takes_what_was_tapped_and_the_notification_has_the_words_of_the_card(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        home(tmp_path, run_a_command, push=AT_ONCE) as at,
        at.serve() as up,
        window(notifying=True) as opened,
        served_client(up) as client,
    ):
        phone = service.phone((await client.get("/api/push")).json()["key"])
        page = await opened.open(up, "/admin/settings", script=subscribing(phone), permissions=["notifications"])
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_text("On for this device")).to_be_visible()
        await up.hub.desk.start("Leave a mark.", str(at.work))
        notice = (await phone.until(lambda notice: notice["kind"] == "ask")).notice
        await page.goto("/")
        await expect(page.locator(".card h2")).to_have_text(notice["title"])
        screen = await screen_of(page, up.base)
        await screen.watch()
        await screen.push(notice)
        await screen.until(title="Run touch done?", actions=[["no", "Deny"], ["yes", "Allow once"]])
        await screen.click(notice["ask"], "yes")
        shown = [title for title, _ in await screen.ever_shown()]
        assert shown[0] == "Run touch done?"
        assert shown[-1] == "Allowed · delivered"
        assert (at.work / "done").exists()
        await screen.until_none(notice["ask"])


@asynccontextmanager
async def served_client(up: Serving) -> AsyncIterator[httpx2.AsyncClient]:
    token = (await up.gate.make("a viewer", "viewer", TESTER, "test")).secret
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=up.base, headers=headers, timeout=30) as client:
        yield client


async def test_what_is_answered_elsewhere_says_so_and_goes(tmp_path: Path) -> None:
    async with desk(tmp_path) as at, at.hub.neighbour() as owner:
        screen = await at.switched_on()
        ask, other = await at.hub.ask(NPM), await at.hub.ask()
        for each in (ask, other):
            await at.carry(screen, each.id)
            await screen.until(tag=each.id)
        await screen.watch()
        await owner.post(f"/api/asks/{ask.id}/answer", json={"answer": {"allow": False}})
        await at.carry(screen, ask.id, "settled")
        await screen.until_none(ask.id)
        assert await screen.ever_shown() == [["Run npm test?", "owner denied it · terminal"]]
        assert [each["tag"] for each in await screen.notifications()] == [other.id]


async def test_who_taps_too_late_is_told_who_was_first(tmp_path: Path) -> None:
    async with desk(tmp_path) as at, at.hub.neighbour() as owner:
        screen = await at.switched_on()
        ask = await at.hub.ask(NPM)
        await at.carry(screen, ask.id)
        await screen.until(tag=ask.id)
        await owner.post(f"/api/asks/{ask.id}/answer", json={"answer": {"allow": False, "message": "not today"}})
        await screen.click(ask.id, "yes")
        shown = await screen.until(title="Already answered")
        assert "by owner, from terminal: denied: not today." in shown["body"]
        assert "Yours was not used." in shown["body"]
        assert shown["actions"] == []
        told = (await owner.get(f"/api/asks/{ask.id}")).json()["settlement"]
        assert told["answer"]["allow"] is False
        # What the hub says of it by push changes nothing about that.
        await screen.push({"kind": "settled", "device": "d", "ask": ask.id, "title": "x", "body": "y", "waiting": 0})
        await screen.until(title="Already answered")


async def test_an_answer_to_something_else_than_what_waits_is_refused_and_told(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        screen = await at.switched_on()
        ask = await at.hub.ask(Permission("Bash", {"command": "rm -rf build"}))
        notice = dict((await at.phone.until(lambda notice: notice.get("ask") == ask.id)).notice)
        await screen.push({**notice, "title": "Run npm test?", "digest": "sha256:" + "0" * 64})
        await screen.until(title="Run npm test?")
        with at.window.trouble_expected():
            await screen.click(ask.id, "yes")
        shown = await screen.until(title="Not answered")
        assert shown["body"].startswith("What was shown is not what waits here")
        assert shown["body"].endswith("Tap to look at it.")
        assert (await at.hub.up.hub.desk.ask(ask.id)).settlement is None


async def test_an_answer_that_cannot_be_sent_says_so(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        screen = await at.switched_on()
        ask = await at.hub.ask(NPM)
        await at.carry(screen, ask.id)
        await screen.until(tag=ask.id)
        await screen.evaluate("() => { self.fetch = async () => { throw new TypeError('offline') } }")
        await screen.click(ask.id, "no")
        shown = await screen.until(title="Could not send it")
        assert shown["body"] == "The hub did not confirm it. Tap to open it."
        assert (await at.hub.up.hub.desk.ask(ask.id)).settlement is None


async def test_who_was_logged_out_meanwhile_is_told(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        screen = await at.switched_on()
        ask = await at.hub.ask(NPM)
        await at.carry(screen, ask.id)
        await screen.until(tag=ask.id)
        await screen.context.clear_cookies()
        await screen.click(ask.id, "yes")
        shown = await screen.until(title="Not sent")
        assert shown["body"] == "This browser is logged out. Tap to log in."
        assert (await at.hub.up.hub.desk.ask(ask.id)).settlement is None


async def test_who_may_only_look_gets_a_notification_without_answers(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        screen = await at.switched_on("viewer")
        ask = await at.hub.ask(NPM)
        notice = await at.carry(screen, ask.id)
        assert notice["answers"] == []
        assert (await screen.until(tag=ask.id))["actions"] == []


async def test_what_a_newer_hub_says_is_shown_all_the_same(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        screen = await at.switched_on()
        for message in ('{"kind":"tomorrow"}', "not json", "null"):
            await screen.push(message)
            await screen.until(title="Claude needs you")


async def test_a_tap_on_the_notification_leads_to_the_card(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        page = await at.settings(permissions=["notifications"])
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_text("On for this device")).to_be_visible()
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


async def test_a_page_that_is_open_calls_by_the_worker_and_puts_away_what_is_settled(tmp_path: Path) -> None:
    async with desk(tmp_path) as at, at.hub.neighbour() as owner:
        # Nobody looks at the page, so that it calls.
        hidden = "Object.defineProperty(document, 'hidden', { get: () => true }); document.hasFocus = () => false;"
        page = await at.settings(script=hidden, permissions=["notifications"])
        told: list[str] = []
        page.on("request", lambda request: told.append(request.url))
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_text("On for this device")).to_be_visible()
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
            while not (any(url.endswith("/closed") for url in told) or ("settled", ask.id) in at.phone.shown):
                await asyncio.sleep(0.02)


async def test_a_device_is_switched_on_tried_out_and_switched_off(tmp_path: Path) -> None:
    async with desk(tmp_path) as at, at.hub.client("admin") as admin:
        page = await at.settings(permissions=["notifications"])
        panel = page.locator(".devices")
        await expect(panel.get_by_text("Off for this device")).to_be_visible()
        await panel.get_by_role("button", name="Switch on").click()
        await expect(panel.get_by_text("On for this device")).to_be_visible()
        await expect(panel.get_by_text("this device", exact=False).first).to_be_visible()
        await panel.get_by_role("button", name="Send a test").click()
        await expect(panel.get_by_text("Sent. It should appear in a moment.")).to_be_visible()
        await at.phone.until(lambda notice: notice["kind"] == "trial")

        at.phone.refusals.append((429, {}))
        await panel.get_by_role("button", name="Send a test").click()
        await expect(panel.get_by_role("alert")).to_have_text("The push service is busy (429).")

        tick = panel.get_by_label("Also when a session that you started ends")
        await expect(tick).to_be_checked()
        await tick.click()
        await expect(tick).not_to_be_checked()
        await page.reload()
        await expect(panel.get_by_text("On for this device")).to_be_visible()
        await expect(tick).not_to_be_checked()
        await expect(panel.locator(".device-trouble")).to_have_text("The push service is busy (429).")

        await panel.get_by_role("button", name="Switch off").click()
        await expect(panel.get_by_text("Off for this device")).to_be_visible()
        await expect(panel.locator(".device")).to_have_count(0)
        noted = [each["what"] for each in (await admin.get("/api/audit")).json()["entries"] if "device" in each["what"]]
        assert noted[0] == "device added"
        assert noted[-1] == "device removed"


async def test_what_the_hub_forgot_is_told_to_it_again(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        page = await at.settings(permissions=["notifications"])
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_text("On for this device")).to_be_visible()
        at.phone.refusals.append((410, {}))
        await at.hub.ask()
        await at.phone.until_tried(1)
        await page.reload()
        await expect(page.get_by_text("On for this device")).to_be_visible()
        ask = await at.hub.ask()
        await at.phone.until(lambda notice: notice.get("ask") == ask.id)


async def test_a_page_that_does_not_know_yet_who_looks_at_it_switches_nothing_off(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        page = await at.settings(permissions=["notifications"])
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_text("On for this device")).to_be_visible()
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


async def test_whoever_logs_in_next_has_not_switched_it_on(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        page = await at.settings(permissions=["notifications"])
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_text("On for this device")).to_be_visible()
        await page.context.clear_cookies()
        code = await at.hub.up.gate.make_code("bob", "admin", TESTER, "test")
        await page.goto(f"/login?code={code}")
        await page.goto("/admin/settings")
        await expect(page.get_by_text("Off for this device")).to_be_visible()
        await expect(page.locator(".device")).to_have_count(0)
        assert await page.evaluate("localStorage.getItem('test.subscription')") is None


async def test_who_logs_out_is_switched_off(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        page = await at.settings(permissions=["notifications"])
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_text("On for this device")).to_be_visible()
        await page.get_by_role("button", name="Log out of this browser").click()
        await expect(page.get_by_text("Log in to your hub")).to_be_visible()
        assert await page.evaluate("localStorage.getItem('handraise.push')") is None
        assert '"endpoint"' not in (at.hub.state / "push" / "devices.json").read_text()


BLOCKED = "Object.defineProperty(Notification, 'permission', { get: () => 'denied' });"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.0 Mobile/15E148 Safari/604.1"
)


@pytest.mark.parametrize(
    ("script", "context", "says"),
    [
        (BLOCKED, {}, "Notifications are blocked for this page."),
        ("delete window.PushManager;", {}, "This browser cannot receive push messages."),
        ("Object.defineProperty(window, 'isSecureContext', { value: false });", {}, "It needs https, or localhost."),
        ("", {"user_agent": IPHONE, "viewport": PHONE}, "“Add to Home Screen”"),
    ],
)
async def test_why_it_cannot_be_is_told_honestly(
    tmp_path: Path, script: str, context: dict[str, Any], says: str
) -> None:
    async with served(tmp_path, page=PAGE) as hub, window(notifying=True) as screen:
        page = await screen.open(hub.up, "/admin/settings", script=script, **context)
        await expect(page.locator(".devices").get_by_text(says)).to_be_visible()
        await expect(page.get_by_role("button", name="Switch on")).to_have_count(0)


async def test_switched_off_by_the_hub_it_says_so_and_a_refusal_is_told(tmp_path: Path) -> None:
    off = Terms(enabled=False)
    async with served(tmp_path, page=PAGE, push=off) as hub, window(notifying=True) as screen:
        page = await screen.open(hub.up, "/admin/settings")
        await expect(page.get_by_text("It is switched off in the settings of this hub")).to_be_visible()
    # Chromium has no push service here: its own refusal is what a person sees who has none.
    other = tmp_path / "other"
    other.mkdir()
    async with served(other, page=PAGE) as hub, window(notifying=True) as screen:
        page = await screen.open(hub.up, "/admin/settings", permissions=["notifications"])
        with screen.trouble_expected():
            await page.get_by_role("button", name="Switch on").click()
            await expect(page.get_by_text("The browser could not reach its push service.")).to_be_visible()


async def test_the_page_is_installable(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window(notifying=True) as screen:
        page = await screen.open(hub.up)
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
