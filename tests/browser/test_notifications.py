"""The page Notifications on a real hub, with an ntfy server on loopback: each part of it does what it says."""

import csv
import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import Locator, Page, expect

from api.served import Served, served
from browser import notified
from browser.showroom import Showroom
from browser.window import PAGE, PHONE, Window, go, log_in, needs_browser, window
from channels.ntfy_server import NtfyServer, ntfy_server
from handraise.model.asks import Permission
from handraise.model.projects import Options
from handraise.reach.model import ALL, ChainStep, QuietSettings, ToChannel, ToPerson, ToScreens
from handraise.reach.notifications import Notifications
from handraise.reach.words import link_to

pytestmark = needs_browser

HOSTILE = "<img src=x onerror=alert(1)>"


@asynccontextmanager
async def notifying(tmp_path: Path) -> AsyncIterator[tuple[Served, Notifications, NtfyServer, Window]]:
    async with (
        ntfy_server(NtfyServer()) as ntfy,
        served(tmp_path, page=PAGE, notifications=notified.CONFIG) as hub,
        window() as screen,
    ):
        assert hub.up.notifications is not None
        yield hub, hub.up.notifications, ntfy, screen


def part(page: Page, title: str) -> Locator:
    return page.locator("main section", has=page.get_by_role("heading", name=title, exact=True))


def typed(dialog: Locator, label: str) -> Locator:
    """The text field with this label, whatever hint follows it."""
    return dialog.get_by_role("textbox", name=re.compile(rf"^{label}\b"))


async def add_phone(all_of_it: Notifications, ntfy: NtfyServer, name: str = "My phone") -> str:
    fields = {"server": f"http://127.0.0.1:{ntfy.port}", "topic": "shop"}
    added = await all_of_it.settings.add_channel("owner", "owner", name, "ntfy", fields, with_content=False)
    return added.id


async def test_a_channel_is_added_tested_changed_and_removed(tmp_path: Path) -> None:
    async with notifying(tmp_path) as (hub, all_of_it, ntfy, screen):
        page = await screen.open(hub.up, "/admin/notifications")
        channels, dialog = part(page, "Channels"), page.get_by_role("dialog")
        await expect(channels).to_contain_text("No channels yet.")
        await expect(part(page, "If Claude asked now")).to_contain_text("You aren't notified outside of open pages")
        await channels.get_by_role("button", name="Add channel").click()
        await typed(dialog, "Name").fill(HOSTILE)
        await typed(dialog, "Server").fill(f"http://127.0.0.1:{ntfy.port}")
        suggested = await typed(dialog, "Topic").input_value()
        assert suggested.startswith("handraise-")
        await typed(dialog, "Topic").fill("no topic!")
        with screen.trouble_expected():
            await dialog.get_by_role("button", name="Add channel").click()
            await expect(dialog.get_by_role("alert")).to_contain_text("A topic has up to 64 letters")
        await typed(dialog, "Topic").fill(suggested)
        await dialog.get_by_role("button", name="Add channel").click()
        await expect(dialog).to_have_count(0)

        row = channels.locator(".channel")
        await expect(row).to_contain_text(HOSTILE)
        await expect(row).to_contain_text("Only you · Without content · nothing sent yet")
        picture = part(page, "If Claude asked now")
        await expect(picture.locator(".chain-row", has_text=HOSTILE)).to_contain_text("Sent")
        await row.get_by_role("button", name="Send test").click()
        await expect(row.get_by_role("status")).to_have_text("Sent. It should arrive in a moment.")
        [message] = ntfy.published
        assert (message["topic"], message["title"]) == (suggested, "Handraise can reach you here.")
        await row.get_by_role("button", name="Check").click()
        await expect(row.get_by_role("status")).to_contain_text("works")
        assert len(ntfy.published) == 1

        ntfy.token = "tk_secret"
        await row.get_by_role("button", name="Send test").click()
        await expect(row.get_by_role("alert")).to_contain_text("doesn't let this user publish to the topic")
        await page.reload()
        await expect(row).to_contain_text("Failing: The ntfy server")
        await expect(picture.locator(".chain-row", has_text=HOSTILE)).to_contain_text("this channel is failing")
        await row.get_by_role("button", name="Edit").click()
        await dialog.get_by_label("Access token").fill("tk_secret")
        await dialog.get_by_label("With content").check()
        await expect(dialog).to_contain_text("Sends what Claude asks to this service")
        await dialog.get_by_role("button", name="Save").click()
        await expect(row).to_contain_text("With content")
        await row.get_by_role("button", name="Send test").click()
        await expect(row.get_by_role("status")).to_be_visible()
        [stored] = all_of_it.settings.channels.values()
        assert stored.secrets.get("token") == "tk_secret"
        assert "tk_secret" not in await page.content()

        # A secret is never shown again, and stays unless another one is typed.
        await row.get_by_role("button", name="Edit").click()
        await expect(dialog.get_by_label("Access token")).to_have_value("")
        await expect(dialog.get_by_label("Access token")).to_have_attribute(
            "placeholder", "Saved. Leave empty to keep it."
        )
        await typed(dialog, "Name").fill("Phone")
        await dialog.get_by_role("button", name="Save").click()
        await expect(row).to_contain_text("Phone")
        [stored] = all_of_it.settings.channels.values()
        assert (stored.config.name, stored.secrets.get("token")) == ("Phone", "tk_secret")

        await row.get_by_role("button", name="Remove").click()
        await expect(row.get_by_role("button", name="Cancel")).to_be_focused()
        await row.get_by_role("button", name="Yes, remove").click()
        await expect(channels).to_contain_text("No channels yet.")
        assert not all_of_it.settings.channels


async def test_every_kind_of_channel_has_its_fields_and_may_be_shared(tmp_path: Path) -> None:
    async with notifying(tmp_path) as (hub, all_of_it, _, screen):
        page = await screen.open(hub.up, "/admin/notifications")
        channels, dialog = part(page, "Channels"), page.get_by_role("dialog")
        await channels.get_by_role("button", name="Add channel").click()
        await dialog.get_by_role("radio", name="Another service").check()
        await expect(dialog.get_by_label("Apprise URL")).to_have_attribute("type", "password")
        await dialog.get_by_role("radio", name="E-mail").check()
        await typed(dialog, "Name").fill("Team")
        await typed(dialog, "Mail server").fill("127.0.0.1")
        await dialog.get_by_role("combobox", name="Encryption").select_option("none")
        await typed(dialog, "From").fill("hub@example.com")
        await typed(dialog, "To").fill("ana")
        await dialog.get_by_label("Shared: a channel for everyone").check()
        with screen.trouble_expected():
            await dialog.get_by_role("button", name="Add channel").click()
            await expect(dialog.get_by_role("alert")).to_contain_text("isn't an e-mail address")
        await typed(dialog, "To").fill("ana@example.com")
        await dialog.get_by_role("button", name="Add channel").click()
        await expect(channels.locator(".channel")).to_contain_text("Shared · Without content")
        [stored] = all_of_it.settings.channels.values()
        assert (stored.owner, stored.config.kind) == (ALL, "email")

        # Someone else sees it, and can't change it.
        other = await screen.stranger(hub.up)
        await log_in(other, hub.up, "ann", "approver")
        await other.goto(f"{hub.up.base}/admin/notifications")
        row = part(other, "Channels").locator(".channel")
        await expect(row).to_contain_text("Team")
        await expect(row.get_by_role("button")).to_have_count(0)
        await expect(part(other, "Escalation")).to_contain_text("Changing steps requires the admin role.")
        await expect(part(other, "Escalation").locator(".steps-read")).to_contain_text("At once")
        await expect(part(other, "Escalation").get_by_role("button")).to_have_count(0)


async def test_quiet_hours_are_set_and_the_picture_follows(tmp_path: Path) -> None:
    async with notifying(tmp_path) as (hub, all_of_it, ntfy, screen):
        await add_phone(all_of_it, ntfy)
        page = await screen.open(hub.up, "/admin/notifications", timezone_id="Europe/Berlin")
        quiet, picture = part(page, "Quiet hours"), part(page, "If Claude asked now")
        phone = picture.locator(".chain-row", has_text="My phone")
        await expect(phone).to_contain_text("Sent")
        await expect(quiet).to_contain_text("Off. You can be notified at any time.")
        zone = quiet.get_by_role("combobox", name="Time zone")
        await expect(zone).to_have_value("Europe/Berlin")
        await zone.select_option("UTC")
        now = datetime.now(UTC)
        start, end = f"{now - timedelta(hours=3):%H:%M}", f"{now + timedelta(hours=3):%H:%M}"
        await quiet.get_by_label("From").fill(start)
        await quiet.get_by_label("To", exact=True).fill(start)
        with screen.trouble_expected():
            await quiet.get_by_role("button", name="Turn on quiet hours").click()
            await expect(quiet.get_by_role("alert")).to_have_text("Quiet hours can't start and end at the same time.")
        await quiet.get_by_label("To", exact=True).fill(end)
        await quiet.get_by_role("button", name="Turn on quiet hours").click()
        await expect(quiet.get_by_role("status")).to_have_text("Saved.")
        await expect(quiet).to_contain_text("Quiet hours until")
        await expect(phone).to_contain_text("Quiet hours until")
        assert all_of_it.settings.quiet["owner"] == QuietSettings(start, end, "UTC", urgent_gets_through=True)

        await picture.get_by_label("Dangerous command").check()
        await expect(picture.locator(".chain-urgent")).to_have_text("Urgent")
        await expect(phone).to_contain_text("Sent")
        await quiet.get_by_label("Urgent requests come through").uncheck()
        await quiet.get_by_role("button", name="Save").click()
        await expect(phone).to_contain_text("Quiet hours until")
        await picture.get_by_role("combobox", name="Request").select_option("Question")
        await expect(picture.get_by_label("Dangerous command")).to_be_disabled()
        await expect(picture.locator(".chain-urgent")).to_have_count(0)
        await quiet.get_by_role("button", name="Turn off").click()
        await expect(phone).to_contain_text("Sent")
        assert not all_of_it.settings.quiet


async def test_steps_are_edited_for_all_projects_and_for_one(tmp_path: Path) -> None:
    async with notifying(tmp_path) as (hub, all_of_it, ntfy, screen):
        phone = await add_phone(all_of_it, ntfy)
        await hub.up.hub.desk.add_project(str(tmp_path), "shop", Options())
        (project,) = await hub.up.hub.desk.projects()
        page = await screen.open(hub.up, "/admin/notifications")
        steps, picture = part(page, "Escalation"), part(page, "If Claude asked now")
        await expect(steps).to_contain_text("These are the default steps.")
        first, second = (steps.get_by_role("group", name=f"Step {number}") for number in (1, 2))
        for name in ("Everyone's devices", "Telegram", "All channels"):
            await first.get_by_role("button", name=f"Remove {name} from step 1").click()
        await steps.get_by_role("button", name="Add step").click()
        await second.get_by_label("Delay").fill("soon")
        await steps.get_by_role("button", name="Save").click()
        await expect(second.get_by_role("alert")).to_have_text(
            ["Enter a delay such as 30 s, 2 min or 1 h. At most 7 d.", "Choose at least one."]
        )
        await expect(second.get_by_label("Delay")).to_have_attribute("aria-invalid", "true")
        await second.get_by_label("Delay").fill("1 h 30 min")
        await second.get_by_role("combobox").select_option("Channel: My phone")
        await expect(second.get_by_role("alert")).to_have_count(0)
        await steps.get_by_role("button", name="Save").click()
        await expect(steps.get_by_role("status")).to_have_text("Saved.")
        assert all_of_it.settings.chains[ALL].steps == (
            ChainStep(0, (ToScreens(),)),
            ChainStep(5400, (ToChannel(phone),)),
        )
        await expect(picture.locator(".chain-step")).to_have_count(2)
        await expect(picture.locator(".chain-step").last).to_contain_text("After 1 h 30 min")

        await steps.get_by_role("button", name="Move step 2 up").press("Enter")
        # The focus follows the step, and leaves a button that has nothing left to do.
        await expect(steps.get_by_role("button", name="Move step 1 down")).to_be_focused()
        await steps.get_by_role("button", name="Save").click()
        await expect(picture.locator(".chain-step").first).to_contain_text("My phone")
        assert all_of_it.settings.chains[ALL].steps[0] == ChainStep(0, (ToChannel(phone),))

        await steps.get_by_role("combobox", name="Steps for").select_option("shop")
        await expect(steps).to_contain_text("This project uses the steps for all projects.")
        await steps.get_by_role("button", name="Set its own steps").click()
        await steps.get_by_role("button", name="Remove step 2").click()
        await first.get_by_role("combobox").select_option("owner: devices and channels")
        await steps.get_by_role("button", name="Save").click()
        await expect(steps.locator("option", has_text="shop (own steps)")).to_have_count(1)
        assert all_of_it.settings.chains[project.id].steps == (ChainStep(0, (ToChannel(phone), ToPerson("owner"))),)
        await picture.get_by_role("combobox", name="Project").select_option("shop")
        await expect(picture.locator(".chain-step")).to_have_count(1)
        await steps.get_by_role("button", name="Use the steps for all projects").click()
        await steps.get_by_role("button", name="Yes, remove its own steps").click()
        await expect(steps).to_contain_text("This project uses the steps for all projects.")

        # A channel that a step names can't be removed.
        row = part(page, "Channels").locator(".channel")
        await row.get_by_role("button", name="Remove").click()
        with screen.trouble_expected():
            await row.get_by_role("button", name="Yes, remove").click()
            await expect(row.get_by_role("alert")).to_contain_text("An escalation chain uses this channel.")
        await steps.get_by_role("combobox", name="Steps for").select_option("All projects")
        await steps.get_by_role("button", name="Reset to default").click()
        await steps.get_by_role("button", name="Yes, reset").click()
        await expect(steps).to_contain_text("These are the default steps.")
        assert not all_of_it.settings.chains


async def test_a_session_and_a_project_are_muted_and_unmuted(tmp_path: Path) -> None:
    async with notifying(tmp_path) as (hub, all_of_it, _, screen):
        session = await hub.session(phase="idle")
        await hub.up.hub.desk.add_project(str(tmp_path), "shop", Options())
        page = await screen.open(hub.up, f"/sessions/{session.id}")
        dialog = page.get_by_role("dialog")

        async def open_dialog() -> None:
            await page.get_by_label("More actions").click()
            await page.get_by_role("button", name="Mute notifications…").click()

        await open_dialog()
        before = datetime.now(UTC)
        await dialog.get_by_role("button", name="1 hour").click()
        await expect(dialog).to_have_count(0)
        [mute] = all_of_it.settings.mutes.values()
        assert (mute.session, mute.person) == (session.id, "owner")
        assert mute.until is not None
        assert timedelta(minutes=59) < mute.until - before
        await open_dialog()
        await expect(dialog.get_by_role("status")).to_contain_text("Muted until")
        await dialog.get_by_role("button", name="Unmute").click()
        await expect(dialog).to_have_count(0)
        assert not all_of_it.settings.mutes
        await open_dialog()
        await dialog.get_by_label("For everyone").check()
        await dialog.get_by_role("button", name="Until you unmute it").click()
        await expect(dialog).to_have_count(0)

        await go(page, "/admin/notifications")
        mutes = part(page, "Mutes")
        await expect(mutes.locator("tbody tr")).to_have_count(1)
        await expect(mutes.locator("tbody tr")).to_contain_text("everyone")
        form = mutes.get_by_role("form", name="Mute a project")
        await form.get_by_role("combobox", name="How long").select_option("Until you unmute it")
        await form.get_by_role("button", name="Mute").click()
        await expect(mutes.locator("tbody tr", has_text="Project: shop")).to_contain_text("unmuted")
        await mutes.get_by_role("button", name=f"Unmute: Session: {session.title}").click()
        await expect(mutes.locator("tbody tr")).to_have_count(1)
        await mutes.get_by_role("button", name="Unmute: Project: shop").click()
        await expect(mutes).to_contain_text("Nothing is muted.")
        assert not all_of_it.settings.mutes


async def test_the_log_says_what_was_sent_and_why_not_and_the_statistics_count_it(tmp_path: Path) -> None:
    async with notifying(tmp_path) as (hub, _, ntfy, screen):
        await Showroom(hub.up).fill()
        await notified.set_notifications(hub.up, ntfy.port)
        page = await screen.open(hub.up, "/admin/notifications")
        picture = part(page, "If Claude asked now")
        await expect(picture.locator(".chain-step")).to_have_count(4)
        await expect(picture.locator(".chain-row", has_text="onerror")).to_contain_text("Quiet hours until")
        one = part(page, "Log").locator("li", has=page.locator("summary", has_text="src/limiter.js"))
        await expect(one.locator("summary")).to_contain_text("1 failed, 2 not sent")
        await one.locator("summary").click()
        rows = one.locator(".log-row")
        await expect(rows.nth(0)).to_contain_text("Web Push")
        await expect(rows.nth(0)).to_contain_text("Not sent: you were looking at it")
        await expect(rows.nth(1)).to_contain_text("Sent")
        await expect(rows.nth(2)).to_contain_text("Not sent: quiet hours until")
        await expect(rows.nth(3)).to_contain_text(f"Failed: {notified.REFUSED}")
        await expect(one).to_contain_text("owner looked at it after 2 min")

        await page.get_by_role("link", name="Statistics").click()
        figures = part(page, "Notifications")
        await expect(figures.locator(".tile")).to_have_count(5)
        mail = figures.locator("tbody tr", has_text="On-call e-mail").locator("td")
        await expect(mail).to_have_text(["On-call e-mail", "3", "0", "1", "0", "0", "–", "–"])
        link = await figures.get_by_role("link", name="Export as CSV").get_attribute("href")
        exported = await page.context.request.get(f"{hub.up.base}{link}")
        assert "a_2" in {row["ask"] for row in csv.DictReader(io.StringIO(await exported.text()))}
        link = await figures.get_by_role("link", name="Export as JSON").get_attribute("href")
        assert (await (await page.context.request.get(f"{hub.up.base}{link}")).json())["rows"]


async def test_a_notification_that_failed_is_shown_until_someone_looks_into_it(tmp_path: Path) -> None:
    async with notifying(tmp_path) as (hub, all_of_it, _, screen):
        ask = await hub.ask()
        page = await screen.open(hub.up, "/")
        looker = await screen.stranger(hub.up)
        await log_in(looker, hub.up, "ann", "viewer")
        await looker.goto(hub.up.base)
        await expect(looker.locator(".connection.live").first).to_be_attached()
        all_of_it.report_sent(ask, "push", "owner", HOSTILE, "The push service refused the device.")
        notice = page.get_by_role("alert").get_by_role("link", name="A notification failed")
        await expect(notice).to_contain_text(HOSTILE)
        # Someone else's device is a matter for admins; what concerns nobody in particular is for all.
        all_of_it.report_sent(ask, "telegram", "", "The team", "The chat is gone.")
        await expect(looker.get_by_role("link", name="A notification failed: The team")).to_be_visible()
        await expect(looker.get_by_text(HOSTILE)).to_have_count(0)
        await notice.click()
        await expect(page.get_by_role("heading", name="Channels")).to_be_visible()
        await expect(notice).to_have_count(0)
        await page.get_by_role("link", name="Audit").click()
        await expect(notice).to_have_count(0)
        log = await all_of_it.log_of(ask.id)
        assert [each.state for each in log.entries if each.label] == ["failed", "failed"]


async def test_a_link_leads_to_the_very_card_after_signing_in_on_a_phone(tmp_path: Path) -> None:
    """Of two requests that wait, in a session and without one: the one that the link names is in view and current."""
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session(phase="working")
        await hub.publish(*(f"Paragraph {number}. " * 20 for number in range(12)), session=session.id)
        asks = [await hub.ask(Permission("Bash", {"command": f"make {number}"}), session=session.id) for number in "ab"]
        outside = await hub.ask(Permission("Bash", {"command": "make c"}))
        page = await screen.stranger(hub.up, viewport=PHONE, has_touch=True, is_mobile=True)
        for ask in (asks[1], asks[0], outside):
            with screen.trouble_expected():  # the hub refuses what it can't know
                await page.goto(link_to(hub.up.base, [ask]))
                await page.get_by_label("Token or one-time code").fill(await hub.token("approver"))
                await page.get_by_role("button", name="Sign in").click()
                await expect(page.locator(".connection.live").first).to_be_attached()
            card = page.locator(f"#card-{ask.id}")
            await expect(card).to_be_in_viewport()
            await expect(card.get_by_role("button", name="Allow once")).to_be_visible()
            with screen.trouble_expected():  # as a browser that was never here
                await page.evaluate("localStorage.clear()")
                await page.goto("about:blank")
                await page.context.clear_cookies()
