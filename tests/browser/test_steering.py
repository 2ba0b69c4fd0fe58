"""Steering: messages during a turn, interrupts, modes and models, and errors, with the real CLI."""

import re
from pathlib import Path

from playwright.async_api import expect

from browser.home import home
from browser.window import PHONE, WIDE, armed, needs_browser, window
from handraise.demo.pieces import Script, fail, hold, say, use
from handraise.demo.request import Conversation

pytestmark = needs_browser


def steered(conversation: Conversation) -> Script:
    conversation = yield [say("I look **right**."), hold("looking"), say("Nothing there.")]
    conversation = yield [say(f"You said: {conversation.text}"), hold("thinking"), say("never heard")]
    conversation = yield [fail(403, "permission_error", "no such luck")]
    conversation = yield [fail(429, "rate_limit_error", retry_after=0)]
    conversation = yield [fail(529, "overloaded_error", retry_after=0)]
    yield [say("Here I am.")]


async def test_what_is_said_waits_until_it_is_taken_and_what_went_wrong_is_told_once(tmp_path: Path) -> None:
    async with home(tmp_path, steered) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("Look around.", str(at.work))).session
        page = await screen.open(up, f"/sessions/{session.id}")
        main, waiting = page.locator("main"), page.locator(".not-taken")
        say_field = page.locator("#say")

        await at.model.held("looking")
        await expect(main.locator("strong", has_text="right")).to_be_visible()
        await page.get_by_role("textbox", name="Type to guide Claude").fill("Look left.")
        await page.keyboard.press("Enter")
        await expect(waiting).to_contain_text("Look left.")
        await expect(waiting).to_contain_text("not yet received by Claude")
        await expect(say_field).to_have_value("")
        await page.reload()
        await expect(waiting).to_contain_text("Look left.")
        at.model.release("looking")
        await expect(page.locator(".said").last).to_contain_text("Look left.")
        await expect(waiting).to_have_count(0)

        await at.model.held("thinking")
        await expect(main.get_by_text("You said: Look left.")).to_be_visible()
        await page.get_by_role("button", name="Interrupt").click()
        await expect(main.get_by_text("Interrupted. Send a message to continue.")).to_be_visible()
        await expect(page.locator(".session-head")).to_contain_text("idle")
        await expect(page.get_by_role("button", name="Interrupt")).to_have_count(0)
        await expect(page.locator(".failure")).to_have_count(0)

        await say_field.fill("Go on.")
        await page.keyboard.press("Enter")
        await expect(page.locator(".failure")).to_contain_text("The turn failed")
        await expect(main.get_by_text("no such luck")).to_have_count(1)
        await say_field.fill("And now?")
        await page.keyboard.press("Enter")
        await expect(main.get_by_text("Here I am.")).to_be_visible()
        await expect(page.locator(".event.warning")).to_contain_text("The model is overloaded (529")
        await expect(page.locator(".event.warning")).to_contain_text("try 2 of 10")
        await expect(page.locator(".event.turn")).to_have_count(4)
        await expect(page.locator(".event.turn").last).to_contain_text(re.compile(r"\$0\.(05|10)$"))


def never_asks_at_first(conversation: Conversation) -> Script:
    conversation = yield [use("Bash", command="touch first", description="Make a file")]
    conversation = yield [say(f"It is there: {not conversation.result().is_error}.")]
    conversation = yield [use("Bash", command='python3 -c \'open("second", "w")\'', description="Make another")]
    yield [say("Nobody hears this.")]


async def test_who_never_asks_is_marked_in_red_everywhere_until_it_asks_again(tmp_path: Path) -> None:
    async with home(tmp_path, never_asks_at_first) as at, at.serve() as up, window() as screen:
        page = await screen.open(up)
        main, mode = page.locator("main"), page.get_by_role("combobox", name="Mode", exact=True)
        await page.keyboard.press("n")
        await page.get_by_role("combobox", name="Directory").fill(str(at.work))
        await page.keyboard.press("Escape")
        await page.get_by_label("What should Claude do?").fill("Make a file.")
        await mode.select_option("Never ask")
        await expect(page.get_by_role("dialog")).to_contain_text(
            "Use this only with files and machines you can afford to lose."
        )
        await page.get_by_role("button", name="Start", exact=True).click()
        await expect(main.get_by_text("It is there: True.")).to_be_visible()
        await expect(page.locator("main.chat.bypass")).to_be_visible()
        await expect(page.locator(".bypass-sign")).to_contain_text("Claude does everything without asking")

        await page.get_by_role("link", name="Inbox").click()
        await expect(page.locator(".never-asks")).to_have_text("1 session does everything without asking")
        await expect(page.locator(".never-asks")).to_be_in_viewport()
        await page.set_viewport_size(PHONE)
        await expect(page.locator("header .never-asks")).to_be_in_viewport()
        await page.locator(".never-asks").click()
        await expect(page.locator(".bypass-sign")).to_be_in_viewport()
        await page.set_viewport_size(WIDE)
        await page.get_by_role("button", name="Ask first again").click()
        await expect(page.locator(".bypass-sign")).to_have_count(0)
        await expect(page.locator(".never-asks")).to_have_count(0)
        await expect(main.get_by_text("Mode changed to Ask first")).to_be_visible()
        # Claude would refuse it to one that asks.
        await page.get_by_role("button", name="Mode: Ask first").click()
        offered = page.get_by_role("menuitemradio").locator("strong")
        await expect(offered).to_have_text(["Ask first", "Accept edits", "Plan only"])
        await offered.nth(1).click()
        await expect(page.get_by_role("button", name="Mode: Accept edits")).to_be_visible()

        await page.get_by_role("button", name="Model:").click()
        await page.get_by_role("menuitem", name="Another model…").click()
        await page.locator("dialog input").fill("claude-haiku-4-5")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.locator("#say").fill("Make another.")
        await page.keyboard.press("Enter")
        await armed(page, "permission")
        await expect(page.locator(".session-head")).to_contain_text("claude-haiku-4-5")
        assert at.model.requests("script")[-1].model == "claude-haiku-4-5"
        await page.keyboard.press("Escape")
        await page.keyboard.press("i")
        await expect(page.locator(".line-card.stage-withdrawn")).to_contain_text("the turn was interrupted")
        await expect(main.get_by_text("Interrupted. Send a message to continue.")).to_be_visible()
        assert not (at.work / "second").exists()
