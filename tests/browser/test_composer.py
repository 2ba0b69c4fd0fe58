"""Writing to Claude: commands, files, attachments, earlier messages, mode, model and what was used."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from api.served import served
from api.test_setup import program as stand_in
from browser.home import home
from browser.shared import SharedPage
from browser.window import PAGE, PHONE, WIDE, armed, needs_browser, window
from handraise.demo.pieces import Script, say
from handraise.demo.request import Conversation
from handraise.model.abilities import Abilities, SlashCommand
from handraise.model.answers import Deny
from handraise.model.asks import Expired, Permission
from handraise.session import abilities
from handraise.store.changes import SettleAsk

pytestmark = needs_browser

DROP = """
  (field, { name, type, text }) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], name, { type }));
    field.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: transfer }));
  }
"""
WITH_FILE = "Two.\n\nAttached file: picure.log\n```\nfirst line\n```"
SHOTS = os.environ.get("HANDRAISE_SHOTS")


def repeats(conversation: Conversation) -> Script:
    while True:
        conversation = yield [say(f"You said: {conversation.text}")]


async def shot(page: Page, name: str) -> None:
    """Only for people who want to look at it."""
    if not SHOTS:
        return
    for theme in ("light", "dark"):
        await page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        await page.screenshot(animations="disabled", path=f"{SHOTS}/{name}-{theme}.png")


@pytest.mark.limit(240)
async def test_the_first_session_and_everything_in_its_composer(tmp_path: Path) -> None:
    async with home(tmp_path, repeats) as at, at.serve() as up, window() as screen:
        (at.work / "my notes.md").write_text("x")
        page = await screen.open(up)
        await _starts_the_first_session(page, at.work)
        await _completes_commands_and_files(page)
        await _attaches_a_text_file(page)
        await _brings_back_what_was_said(page)
        await _chooses_mode_and_model(page)
        await _shows_what_was_used(page)
        await page.set_viewport_size(PHONE)
        await page.locator("#say").fill("/co")
        await expect(page.get_by_role("option").first).to_be_visible()
        await shot(page, "phone-commands")
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Mode: Accept edits").click()
        await shot(page, "phone-modes")
        await page.keyboard.press("Escape")
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def _starts_the_first_session(page: Page, work: Path) -> None:
    main, dialog = page.locator("main"), page.get_by_role("dialog")
    await expect(main.get_by_text("Nothing needs you.")).to_be_visible()
    await shot(page, "empty")
    await main.get_by_role("button", name="Start a session").click()
    await expect(dialog.get_by_text("is installed")).to_be_visible()
    await expect(dialog.get_by_text("Claude Code is signed in")).to_be_visible()
    await dialog.get_by_role("button", name="Explain what this project does").click()
    await expect(dialog.get_by_label("What should Claude do?")).to_have_value(
        "Explain what this project does and how it is organized."
    )
    place = dialog.get_by_role("combobox", name="Directory")
    await expect(place).to_have_value(str(Path.cwd()))
    await place.fill(f"{work.parent}/wo")
    await expect(dialog.locator(".completions [role=option]")).to_have_text(["work"])
    await shot(page, "directory")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(place).to_have_value(f"{work}/")
    await expect(dialog.locator(".completions [role=option]").first).to_contain_text("..")
    # Escape closes the list, not the dialog.
    await page.keyboard.press("Escape")
    await expect(dialog.locator(".completions [role=option]")).to_have_count(0)
    await shot(page, "first-session")
    await dialog.get_by_label("What should Claude do?").press("Enter")
    await expect(dialog).to_have_count(0)
    await expect(main.get_by_text("You said: Explain what this project does")).to_be_visible()


async def _completes_commands_and_files(page: Page) -> None:
    field, options = page.locator("#say"), page.get_by_role("option")
    await field.press_sequentially("/comp")
    await expect(options.first).to_contain_text("/compact")
    await expect(field).to_have_attribute("aria-activedescendant", await options.first.get_attribute("id") or "")
    await field.fill("/")
    await expect(options.nth(5)).to_be_visible()
    await shot(page, "commands")
    await page.keyboard.press("ArrowDown")
    await expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    await page.keyboard.press("Escape")
    await expect(options).to_have_count(0)
    await expect(field).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(field).not_to_be_focused()
    await field.fill("")
    await field.press_sequentially("/compac")
    await expect(options.first).to_contain_text("/compact")
    await page.keyboard.press("Tab")
    await expect(field).to_have_value("/compact ")
    await field.fill("Read @")
    await expect(options.first).to_be_visible()
    await shot(page, "files")
    await field.press_sequentially("notes")
    await expect(options).to_have_text(["my notes.md"])
    await page.keyboard.press("Enter")
    await expect(field).to_have_value('Read @"my notes.md" ')
    await field.press_sequentially("and @zzz")
    await expect(page.locator(".completions")).to_contain_text("No file matches zzz")
    # Nothing to insert: Enter sends.
    await field.fill("One.")
    await page.keyboard.press("Enter")
    await expect(page.locator("main").get_by_text("You said: One.")).to_be_visible()
    await expect(field).to_have_value("")


async def _attaches_a_text_file(page: Page) -> None:
    field, composer = page.locator("#say"), page.locator(".composer")
    await field.evaluate(DROP, {"name": "pic\u202eure.log", "type": "", "text": "first line"})
    await expect(composer.locator(".text-file")).to_contain_text("10 B")
    await field.evaluate(DROP, {"name": "big.txt", "type": "text/plain", "text": "x" * 300_000})
    await expect(composer.get_by_role("alert")).to_have_text("Text files can be up to 256 KB. big.txt is larger.")
    await field.evaluate(DROP, {"name": "what.bin", "type": "", "text": "a\0b"})
    await expect(composer.get_by_role("alert")).to_have_text("what.bin is neither an image nor a text file.")
    await shot(page, "attached")
    await field.fill("Two.")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator("main .history").get_by_text("first line").last).to_be_visible()
    await expect(composer.locator(".text-file")).to_have_count(0)


async def _brings_back_what_was_said(page: Page) -> None:
    field = page.locator("#say")
    await field.fill("Three.")
    await page.keyboard.press("Enter")
    await expect(page.locator("main").get_by_text("You said: Three.")).to_be_visible()
    await field.fill("not sent")
    await page.reload()
    await expect(field).to_have_value("not sent")
    await expect(page.locator(".said")).to_have_count(4)
    await field.press("Home")
    await page.keyboard.press("ArrowUp")
    await expect(field).to_have_value("Three.")
    await page.keyboard.press("ArrowUp")
    await expect(field).to_have_value(WITH_FILE)
    await page.keyboard.press("ArrowUp")
    await expect(field).to_have_value("One.")
    for expected in (WITH_FILE, "Three.", "not sent"):
        await page.keyboard.press("ArrowDown")
        await expect(field).to_have_value(expected)
    await field.fill("")


async def _chooses_mode_and_model(page: Page) -> None:
    await page.get_by_role("button", name="Mode: Ask first").click()
    await expect(page.get_by_role("menuitemradio", checked=True)).to_contain_text("Asks before each edit and command")
    await shot(page, "modes")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Mode: Accept edits")).to_be_focused()
    await page.get_by_role("button", name="Model:").click()
    await expect(page.get_by_role("menuitemradio", name="Sonnet").first).to_be_visible()
    await shot(page, "models")
    await page.get_by_role("menuitemradio", name="Haiku").click()
    await expect(page.get_by_role("button", name="Model: Haiku")).to_be_visible()
    await page.get_by_role("button", name="Model:").click()
    await page.get_by_role("menuitem", name="Another model…").click()
    await page.locator("dialog input").fill("claude-sonnet-x")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("button", name="Model: claude-sonnet-x")).to_be_visible()


async def _shows_what_was_used(page: Page) -> None:
    await page.get_by_role("button", name="Context").click()
    lines = page.locator(".meter-lines")
    await expect(lines).to_contain_text("tokens (")
    await expect(lines).to_contain_text("Last turn:")
    await expect(lines).to_contain_text("Cost so far: $")
    await shot(page, "meter")
    await page.keyboard.press("Escape")
    await expect(lines).to_have_count(0)


async def test_hostile_commands_and_files_are_shown_as_text(tmp_path: Path, shared: SharedPage) -> None:
    work = tmp_path.resolve() / "work"
    work.mkdir()
    (work / "<img src=x onerror=alert(1)>.txt").touch()
    hub = shared.hub
    store = hub.up.hub.store
    hostile = SlashCommand("x", "</p><script>alert(1)</script> \u202eback", "<args>")
    await store.apply(abilities.saved(Abilities((hostile,)), store.machine, str(work)))
    session = await shared.session("idle", directory=str(work), mode="<b>odd</b>")
    page = await shared.show(f"/sessions/{session.id}")
    field, option = page.locator("#say"), page.get_by_role("option")
    await field.press_sequentially("/")
    await expect(option).to_have_text("/x<args></p><script>alert(1)</script> ⟨U+202E⟩back")
    await field.fill("@img")
    await expect(option).to_have_text("<img src=x onerror=alert(1)>.txt")
    await page.keyboard.press("Enter")
    await expect(field).to_have_value('@"<img src=x onerror=alert(1)>.txt" ')


async def test_hints_go_away_for_good(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        page, other = await screen.open(hub.up), await screen.open(hub.up)
        hints = page.locator(".hints li")
        await expect(hints).to_have_count(3)
        await expect(hints.nth(2)).to_contain_text("handraise telegram setup")
        for width in (WIDE, PHONE):
            await page.set_viewport_size(width)
            await shot(page, f"hints-{width['width']}")
        for _ in range(2):
            await hints.last.get_by_role("button", name="Dismiss").click()
        await expect(hints).to_have_count(1)
        await other.reload()
        await expect(other.locator(".hints li")).to_have_count(1)


async def test_a_card_whose_time_runs_out_while_one_writes_stays_and_is_answered_late(shared: SharedPage) -> None:
    hub = shared.hub
    session = await shared.session("working")
    first = await hub.ask(Permission("Bash", {"command": "make one"}), session=session.id)
    await hub.ask(Permission("Bash", {"command": "make two"}), session=session.id)
    page = await shared.show()
    await armed(page, "permission")
    await page.keyboard.press("d")
    reason = page.locator(f"#card-{first.id} textarea")
    await expect(reason).to_be_focused()
    await page.keyboard.type("Not on a ")
    await hub.up.hub.store.apply([SettleAsk(first.id, Expired(datetime.now(UTC)))])
    card = page.locator(f"#card-{first.id}")
    await expect(card).to_contain_text("If you answer now, Claude gets it as a follow-up.")
    await expect(reason).to_be_focused()
    await page.keyboard.type("Friday.")
    await expect(reason).to_have_value("Not on a Friday.")
    await shot(page, "late")
    await expect(card).to_have_attribute("data-armed", "")
    await page.keyboard.press("Enter")
    await expect(page.locator(f"#card-{first.id}.line-card")).to_contain_text("late")
    settled = (await hub.up.hub.desk.ask(first.id)).settlement
    assert isinstance(settled, Expired)
    assert settled.late is not None
    assert settled.late.answer == Deny("Not on a Friday.")


async def test_an_answer_that_was_not_used_never_covers_the_composer(shared: SharedPage) -> None:
    hub, screen = shared.hub, shared.screen
    here, there = await shared.session("idle"), await shared.session("working")
    await hub.ask(Permission("Bash", {"command": "make"}), session=there.id)
    page = await shared.show(f"/sessions/{here.id}")
    refused = {"error": {"code": "conflict", "message": "Already answered by ana (web)."}}
    await page.route("**/answer*", lambda route: route.fulfill(status=409, json=refused))
    await armed(page, "permission")
    with screen.trouble_expected():
        await page.locator(".drawer").get_by_role("button", name="Allow once").click()
        await expect(page.locator(".toast")).to_contain_text("Already answered by ana")
    for size in (WIDE, PHONE):
        await page.set_viewport_size(size)
        toast, composer = await page.locator(".toast").bounding_box(), await page.locator(".say").bounding_box()
        assert toast is not None
        assert composer is not None
        assert toast["y"] + toast["height"] <= composer["y"]
        await shot(page, f"toast-{size['width']}")


async def test_escape_leaves_every_field(shared: SharedPage) -> None:
    session = await shared.session("idle")
    page = await shared.show(f"/sessions/{session.id}")
    for path, field in (
        (f"/sessions/{session.id}", "#say"),
        (f"/sessions/{session.id}", "#search"),
        ("/admin/projects", "main form input"),
        ("/admin/audit", "main select"),
    ):
        await shared.show(path)
        await page.locator(field).first.focus()
        await expect(page.locator(f"{field}:focus")).to_have_count(1)
        await page.keyboard.press("Escape")
        await expect(page.locator(":is(input, textarea, select):focus")).to_have_count(0)


async def test_who_is_not_signed_in_sees_the_command_and_goes_on_after_it(tmp_path: Path) -> None:
    claude = stand_in(tmp_path, logged_in="false")
    async with served(tmp_path, page=PAGE, program=claude) as hub, window() as screen:
        page = await screen.open(hub.up, viewport=PHONE)
        dialog = page.get_by_role("dialog")
        await page.get_by_role("button", name="Start a session").click()
        await expect(dialog.locator(".checks")).to_contain_text("Claude Code isn't signed in")
        await expect(dialog.locator(".checks code")).to_have_text(f"{claude} auth login")
        await shot(page, "signed-out")
        stand_in(tmp_path)
        await dialog.get_by_role("button", name="Check again").click()
        await expect(dialog.locator(".checks")).to_contain_text("Claude Code is signed in")
        await expect(dialog.get_by_role("button", name="Check again")).to_have_count(0)
        # What was typed, and where, stays although the dialog is closed by mistake.
        await dialog.get_by_label("What should Claude do?").fill("Look around.")
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        await page.get_by_role("button", name="Start a session").click()
        await expect(dialog.get_by_label("What should Claude do?")).to_have_value("Look around.")
