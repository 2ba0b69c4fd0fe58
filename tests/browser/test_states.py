"""Every state of a card, across reloads, restarts and time."""

import os
import signal
from contextlib import ExitStack
from pathlib import Path

from playwright.async_api import expect

from browser.home import home
from browser.window import PAINTED, armed, needs_browser, window
from handraise.demo.pieces import Script, hold, say, use
from handraise.demo.request import Conversation
from handraise.model.projects import Options, Patience
from handraise.session.machine import SessionLimits
from stories.timeline import claude_of

pytestmark = needs_browser

ASKED = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def ask_twice(conversation: Conversation) -> Script:
    conversation = yield [use("AskUserQuestion", questions=[ASKED])]
    conversation = yield [say(f"I heard: {conversation.result().text}"), use("Bash", command="touch done")]
    yield [say("The end.")]


async def test_a_hub_that_restarts_under_an_open_page_loses_nothing(tmp_path: Path) -> None:  # lessons 46, 50
    async with home(tmp_path, ask_twice) as at, window() as screen:
        with ExitStack() as quiet:
            async with at.serve(leaving=True) as up:
                session = (await up.hub.desk.start("Choose.", str(at.work))).session
                page = await screen.open(up, f"/sessions/{session.id}")
                await armed(page, "question")
                await page.evaluate("window.notReloaded = true")
                quiet.enter_context(screen.trouble_expected())
            await expect(page.locator(".connection.offline").first).to_be_attached()
            await page.keyboard.press("1")
            await page.keyboard.press("Enter")
            await expect(page.locator(".card.stage-queued")).to_contain_text("Not sent")
            async with at.serve() as up:
                await expect(page.locator(".connection.live").first).to_be_attached()
                await expect(page.locator(".line-card").first).to_contain_text("You answered: SQLite")
                await armed(page, "permission")
                assert await page.evaluate("window.notReloaded")
                await page.keyboard.press("a")
                await expect(page.locator("main").get_by_text("The end.")).to_be_visible()
                asks = await up.hub.desk.asks(state="answered")
                assert len(asks) == 2


async def test_a_reload_in_every_state_shows_the_same(tmp_path: Path) -> None:  # lesson 6
    """A question that a viewer only looks at, an answer that Claude does not take until it moves, a withdrawal."""

    def choose(conversation: Conversation) -> Script:
        conversation = yield [use("AskUserQuestion", questions=[ASKED])]
        yield [say(f"First: {conversation.result().text}"), use("AskUserQuestion", questions=[ASKED])]

    async with home(tmp_path, choose, limits=SessionLimits(move=0.5)) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("Choose.", str(at.work), title="Chooser")).session
        page = await screen.open(up, f"/sessions/{session.id}")
        head, line = page.locator(".session-head"), page.locator(".line-card")
        await armed(page, "question")
        await page.reload()
        await armed(page, "question")
        await page.keyboard.press("2")
        await page.reload()
        await armed(page, "question")
        await expect(page.get_by_role("radio", name="Postgres")).to_be_checked()

        viewer = await screen.stranger(up)
        secret = (await up.auth.make("watcher", "viewer", up.hub.desk.person, "test")).secret
        with screen.trouble_expected():  # the first request of a stranger is refused
            await viewer.goto(up.base)
            await viewer.get_by_label("Token or one-time code").fill(secret)
        await viewer.get_by_role("button", name="Sign in").click()
        await armed(viewer, "question")
        await expect(viewer.get_by_text("Read-only access")).to_be_visible()
        await expect(viewer.get_by_role("radio", name="SQLite")).to_be_disabled()
        await viewer.close()

        os.kill(claude_of(up.hub, session), signal.SIGSTOP)
        await page.bring_to_front()
        await armed(page, "question")
        await page.keyboard.press("Enter")
        await expect(line).to_contain_text("You answered: Postgres")
        await expect(line).to_contain_text("answered, waiting for Claude")
        await expect(head).to_contain_text("answered; no response from Claude for")
        await expect(page.locator("a.session")).to_contain_text("answered; no response from Claude for")
        await page.reload()
        await expect(line).to_contain_text("You answered: Postgres")
        await expect(head).to_contain_text("answered; no response from Claude for")
        os.kill(claude_of(up.hub, session), signal.SIGCONT)
        await expect(line).to_contain_text("delivered")
        await expect(page.locator("main").get_by_text("First: ")).to_contain_text("Postgres")
        await expect(head).not_to_contain_text("no response")

        await armed(page, "question")
        await page.get_by_label("More actions").click()
        await page.get_by_role("button", name="Stop…").click()
        await page.get_by_role("dialog").get_by_role("button", name="Stop").click()
        await expect(page.locator(".line-card.stage-withdrawn")).to_contain_text("No longer needed: owner stopped it")
        await expect(page.locator(".event").get_by_text("Stopped")).to_be_visible()
        await expect(page.get_by_role("button", name="Resume")).to_be_visible()
        await page.reload()
        await expect(page.get_by_role("button", name="Resume")).to_be_visible()


async def test_timed_out_questions_take_late_answers_and_claude_hears_them(tmp_path: Path) -> None:
    """From the inbox, and in the conversation."""

    def choose_twice(conversation: Conversation) -> Script:
        conversation = yield [use("AskUserQuestion", questions=[ASKED])]
        conversation = yield [say("Nobody answers."), hold("later")]
        conversation = yield [say(f"Then: {conversation.text}"), use("AskUserQuestion", questions=[ASKED])]
        yield [say("The end.")]

    options = Options(patience=Patience(question=1.0))
    async with home(tmp_path, choose_twice, options=options) as at, at.serve() as up, window() as screen:
        page = await screen.open(up)
        session = (await up.hub.desk.start("Choose.", str(at.work))).session
        missed = page.locator(".over", has=page.get_by_role("heading", name="Timed out; you can still answer"))
        await expect(missed.locator(".line-card")).to_contain_text("Which database? · No one answered in time")
        await page.reload()
        await missed.get_by_role("button", name="Answer late").click()
        card = missed.locator(".card.stage-expired")
        await expect(card).to_contain_text("If you answer now, Claude gets it as a follow-up.")
        await expect(card).to_have_attribute("data-armed", "")
        await card.get_by_text("Postgres").click()
        await card.get_by_role("button", name="Send answer").scroll_into_view_if_needed()
        await card.evaluate(PAINTED)
        await expect(card).to_have_attribute("data-armed", "")
        await card.get_by_role("button", name="Send answer").click()
        await expect(missed).to_have_count(0)
        await page.locator("a.session").click()
        at.model.release("later")
        await expect(page.locator("main .prose", has_text="Then: ")).to_contain_text("Postgres")
        line = page.locator("main .line-card").first
        await expect(line).to_contain_text("You answered: Postgres")
        await expect(line).to_contain_text("late; sent to Claude as a follow-up")
        assert session.id in page.url

        again = page.locator("main section.question").last
        await expect(page.locator("main .line-card.stage-expired")).to_contain_text("No one answered in time")
        await page.locator("main .line-card.stage-expired button").click()
        await expect(page.locator("main").get_by_text("Claude gets it as a follow-up")).to_be_visible()
        await expect(page.locator("main .card.question[data-armed]")).to_be_visible()
        await page.locator("main .card.question").get_by_text("SQLite").click()
        await page.locator("main").get_by_role("button", name="Send answer").click()
        await expect(again).to_contain_text("late; sent to Claude as a follow-up")
