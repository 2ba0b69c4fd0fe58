"""`ask_user` in the chat: asked by the real CLI, answered in the browser, and received by Claude."""

from contextlib import suppress
from pathlib import Path

from playwright.async_api import Error, Page, expect

from browser.home import home
from browser.window import needs_browser, window
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.own_tools import ASK_USER, qualified

pytestmark = needs_browser
TOOL = qualified(ASK_USER)
STORES = [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}]


def ask_three_times(conversation: Conversation) -> Script:
    conversation = yield [say("Let me ask."), use(TOOL, question="Which database?", options=STORES)]
    heard = [conversation.result().text]
    conversation = yield [use(TOOL, question="Which of them later?", options=STORES, multiSelect=True)]
    heard.append(conversation.result().text.replace("\n", " and "))
    conversation = yield [use(TOOL, question="What name?")]
    yield [say(f"Heard {' / '.join([*heard, conversation.result().text])}.")]


async def test_questions_stand_in_the_chat_and_each_becomes_a_line_once_it_is_answered(tmp_path: Path) -> None:
    async with home(tmp_path, ask_three_times) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("Choose.", str(at.work))).session
        page = await screen.open(up, f"/sessions/{session.id}")
        main, lines = page.locator("main"), page.locator("main .line-card")

        await expect(main.get_by_text("Let me ask.")).to_be_visible()
        await expect(main.locator(".card")).to_contain_text("Which database?")
        await expect(main.locator(".card")).to_contain_text("one file")
        await page.get_by_role("radio", name="SQLite").click()
        await send(page, "Which database?", 1)
        await expect(lines.first).to_contain_text("You answered: SQLite")

        await expect(main.locator(".card")).to_contain_text("Which of them later?")
        for label in ("SQLite", "Postgres"):
            await page.get_by_role("checkbox", name=label).click()
        await main.get_by_text("Other").click()
        await page.get_by_label("Your own answer").fill("files")
        await send(page, "Which of them later?", 2)
        await expect(lines.nth(1)).to_contain_text("You answered: SQLite, Postgres")

        await expect(main.locator(".card")).to_contain_text("What name?")
        await expect(page.get_by_role("radio")).to_have_count(0)
        await main.locator(".card textarea").fill("Wren")
        await expect(main.locator(".card[data-armed]")).to_have_count(1)
        await page.keyboard.press("Enter")
        await expect(lines.nth(2)).to_contain_text("Wren")

        text = "Heard User selected: SQLite / User selected: SQLite, Postgres and files / Wren."
        await expect(main.get_by_text(text)).to_be_visible()
        await expect(main.locator(".card")).to_have_count(0)


async def send(page: Page, question: str, lines: int) -> None:
    """A card that has just come takes no click for a moment; it is sent when it has become a line."""
    button = page.locator(".card", has_text=question).get_by_role("button", name="Send answer")
    for _ in range(30):
        with suppress(Error):
            await button.click(timeout=1000)
        with suppress(AssertionError):
            await expect(page.locator("main .line-card")).to_have_count(lines, timeout=1000)
            return
    raise AssertionError("the answer was not sent")
