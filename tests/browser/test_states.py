"""Every state of a card, over reloads, restarts and time."""

from contextlib import ExitStack
from pathlib import Path

from playwright.async_api import expect

from browser.home import home
from browser.window import armed, needs_browser, window
from handraise.demo.pieces import Script, hold, say, use
from handraise.demo.told import Told
from handraise.model.projects import Options, Patience

pytestmark = needs_browser

ASKED = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def ask_twice(told: Told) -> Script:
    told = yield [use("AskUserQuestion", questions=[ASKED])]
    told = yield [say(f"I heard: {told.result().text}"), use("Bash", command="touch done")]
    yield [say("The end.")]


async def test_a_hub_that_restarts_under_an_open_page_loses_nothing(tmp_path: Path) -> None:  # lessons 46, 50
    async with home(tmp_path, ask_twice) as at, window() as screen:
        with ExitStack() as quiet:
            async with at.serve() as up:
                session = (await up.hub.desk.start("Choose.", str(at.work))).session
                page = await screen.open(up, f"/sessions/{session.id}")
                await armed(page, "question")
                await page.evaluate("window.notReloaded = true")
                quiet.enter_context(screen.trouble_expected())
            await expect(page.locator(".connection.offline").first).to_be_attached()
            await page.keyboard.press("1")
            await page.keyboard.press("Enter")
            await expect(page.locator(".card.stage-kept")).to_contain_text("Not sent")
            async with at.serve() as up:
                await expect(page.locator(".connection.live").first).to_be_attached()
                await expect(page.locator(".line-card").first).to_contain_text("You answered: SQLite")
                await armed(page, "permission")
                assert await page.evaluate("window.notReloaded")
                await page.keyboard.press("a")
                await expect(page.locator("main").get_by_text("The end.")).to_be_visible()
                asks = await up.hub.desk.asks(state="answered")
                assert len(asks) == 2


async def test_a_reload_in_every_state_shows_the_same(tmp_path: Path) -> None:
    def slow(told: Told) -> Script:
        yield [use("AskUserQuestion", questions=[ASKED])]
        yield [hold("later"), say("The end.")]

    async with home(tmp_path, slow) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("Choose.", str(at.work))).session
        page = await screen.open(up, f"/sessions/{session.id}")
        await armed(page, "question")
        await page.reload()
        await armed(page, "question")
        await page.keyboard.press("2")
        await page.reload()
        await armed(page, "question")
        await expect(page.get_by_role("radio", name="Postgres")).to_be_checked()
        await page.keyboard.press("Enter")
        await expect(page.locator(".line-card")).to_contain_text("You answered: Postgres")
        await page.reload()
        await expect(page.locator(".line-card")).to_contain_text("You answered: Postgres")
        await up.hub.desk.stop(session.id)
        await expect(page.locator(".event").get_by_text("Stopped")).to_be_visible()
        await expect(page.get_by_role("button", name="Resume")).to_be_visible()
        await page.reload()
        await expect(page.get_by_role("button", name="Resume")).to_be_visible()


async def test_a_timed_out_question_takes_a_late_answer_and_says_so(tmp_path: Path) -> None:
    def once_it_is_watched(told: Told) -> Script:
        yield [hold("watched"), use("AskUserQuestion", questions=[ASKED])]
        yield [say("The end.")]

    options = Options(patience=Patience(question=6.0))
    async with home(tmp_path, once_it_is_watched, options=options) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("Choose.", str(at.work))).session
        page = await screen.open(up, f"/sessions/{session.id}")
        at.model.release("watched")
        await expect(page.locator(".line-card.stage-expired")).to_contain_text("Timed out")
        await page.locator(".line-card.stage-expired button").click()
        await expect(page.locator("main").get_by_text("still reaches it, as guidance")).to_be_visible()
        await expect(page.locator(".card.question[data-armed]")).to_be_visible()
        await page.locator(".card.question").get_by_text("SQLite").click()
        await page.get_by_role("button", name="Send answer").click()
        await expect(page.locator("section.question")).to_contain_text("late, said to Claude as guidance")


async def test_a_withdrawn_card_says_why_and_a_viewer_cannot_answer(tmp_path: Path) -> None:
    async with home(tmp_path, ask_twice) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("Choose.", str(at.work))).session
        viewer = await screen.stranger(up)
        secret = (await up.gate.make("watcher", "viewer", up.hub.desk.person, "test")).secret
        with screen.trouble_expected():  # the first request of a stranger is refused
            await viewer.goto(up.base)
            await viewer.get_by_label("Token or one-time code").fill(secret)
        await viewer.get_by_role("button", name="Log in").click()
        await armed(viewer, "question")
        await expect(viewer.get_by_text("You may look, not answer.")).to_be_visible()
        await expect(viewer.get_by_role("radio", name="SQLite")).to_be_disabled()

        page = await screen.open(up, f"/sessions/{session.id}")
        await armed(page, "question")
        await page.get_by_label("More about this session").click()
        await page.get_by_role("button", name="Stop…").click()
        await page.get_by_role("dialog").get_by_role("button", name="Stop").click()
        await expect(page.locator(".line-card.stage-withdrawn")).to_contain_text("Withdrawn: owner stopped it")


async def test_what_is_said_waits_until_claude_takes_it(tmp_path: Path) -> None:
    def busy(told: Told) -> Script:
        told = yield [say("Working."), use("Bash", command="sleep 1; echo one")]
        told = yield [say("More."), use("Bash", command="echo two")]
        yield [say(f"Heard: {told.text}")]

    rules_free = Options(mode="bypassPermissions")
    async with home(tmp_path, busy, options=rules_free) as at, at.serve() as up, window() as screen:
        page = await screen.open(up)
        await page.keyboard.press("n")
        await page.get_by_role("combobox", name="Project", exact=True).select_option("")
        await page.get_by_label("Absolute path of a directory").fill(str(at.work))
        await page.get_by_label("What should Claude do?").fill("Begin.")
        await page.get_by_role("button", name="Start").click()
        await expect(page.locator(".said")).to_contain_text("Begin.")
        await expect(page.locator(".chat.bypass")).to_be_visible()
        await expect(page.locator(".bypass-sign")).to_contain_text("without asking")
        await page.get_by_role("textbox", name="Steer Claude").fill("Look left.")
        await page.keyboard.press("Enter")
        await expect(page.locator(".said")).to_have_count(2)
        await expect(page.locator(".not-taken")).to_have_count(0)
        await expect(page.locator(".event.turn").first).to_contain_text("Turn 1")
