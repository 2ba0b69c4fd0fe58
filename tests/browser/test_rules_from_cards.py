"""Standing answers made on a card: spelled out first, stored, and applied the next time."""

import json
import re
from pathlib import Path

from playwright.async_api import Locator, Page, Route, expect

from api.served import served
from browser.home import home
from browser.window import PAGE, armed, needs_browser, window
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.asks import Offer, Permission
from handraise.model.projects import Options
from handraise.model.rules import Rule

pytestmark = needs_browser


def make_four(conversation: Conversation) -> Script:
    conversation = yield [use("Bash", command="touch one", description="Make a file")]
    conversation = yield [use("Bash", command="touch two", description="Make another")]
    conversation = yield [use("Bash", command="mkdir three", description="Make a folder")]
    conversation = yield [use("Bash", command="mkdir four", description="Make another")]
    conversation = yield [say(f"Told: {conversation.result().text}")]
    conversation = yield [use("Write", file_path=f"{conversation.directory}/one.txt", content="one\n")]
    conversation = yield [use("Write", file_path=f"{conversation.directory}/two.txt", content="two\n")]
    yield [say("Both written." if not conversation.result().is_error else conversation.result().text)]


async def test_rules_are_made_from_cards_and_hold_from_the_next_time_on(tmp_path: Path) -> None:
    async with home(tmp_path, make_four) as at, at.serve() as up, window() as screen:
        await up.hub.desk.add_project(str(at.work), "shop", Options())
        session = (await up.hub.desk.start("Make files.", str(at.work), title="Files")).session
        page = await screen.open(up, f"/sessions/{session.id}")
        await armed(page, "permission")
        dialog = await make_a_rule(page)
        await expect(dialog.locator(".in-words")).to_have_text(
            "Allow commands like touch one in the project shop without asking."
        )
        await dialog.get_by_label("Command").fill("touch *")
        await dialog.get_by_label("Where").select_option("session Files")
        await expect(dialog.locator(".in-words")).to_contain_text("touch * in the session “Files”")
        await dialog.get_by_role("button", name="Create rule").click()
        await expect(dialog).to_have_count(0)
        # The ask itself still waits: a rule is no answer to what was asked before it.
        await expect(page.locator(".card .asked")).to_have_text("Run touch one?")
        await armed(page, "permission")
        await page.keyboard.press("a")

        await expect(page.locator(".card .asked")).to_have_text("Run mkdir three?")
        await expect(page.locator(".action", has_text="touch two")).to_contain_text("· allowed by a rule")
        await armed(page, "permission")
        dialog = await make_a_rule(page)
        await dialog.get_by_text("Deny", exact=True).click()
        await dialog.get_by_label("Command").fill("mkdir *")
        await dialog.get_by_label("Message to Claude").fill("Use the folders that there are.")
        await expect(dialog.locator(".in-words")).to_contain_text("Deny commands like mkdir * in the project shop")
        await dialog.get_by_role("button", name="Create rule").click()
        await expect(dialog).to_have_count(0)
        await armed(page, "permission")
        await page.keyboard.press("a")
        await expect(page.locator("main").get_by_text("Told: ")).to_contain_text("Use the folders that there are.")
        await expect(page.locator(".line-card").last).to_contain_text("A rule denied mkdir four")
        assert (at.work / "two").exists()
        assert (at.work / "three").exists()
        assert not (at.work / "four").exists()
        await page.locator(".line-card").last.get_by_role("button").click()
        await page.get_by_text("Why was I asked?").last.click()
        await page.get_by_role("link", name="Show the rule").click()
        await expect(page.locator("main")).to_contain_text("Use the folders that there are.")

        # What Claude suggests is granted as it is, and the line says so.
        await page.locator("a.session").click()
        await page.locator("#say").fill("Write files.")
        await page.keyboard.press("Enter")
        await armed(page, "permission")
        await page.locator(".card").get_by_text("Full input").click()
        await expect(page.locator(".card .unfolded pre")).to_contain_text('"content": "one\\n"')
        await page.locator(".card").get_by_text("Suggested by Claude").click()
        suggested = page.locator(".card .offer", has_text="Switch to the mode acceptEdits")
        await suggested.scroll_into_view_if_needed()
        await armed(page, "permission")
        await suggested.click()
        await expect(page.locator("main").get_by_text("Both written.")).to_be_visible()
        await expect(page.locator(".line-card")).to_have_count(1)
        await expect(page.get_by_text("· you allowed, with Claude's suggestion")).to_be_visible()
        await expect(page.locator("main").get_by_text("Mode changed to")).to_contain_text("Accept edits")
        assert (at.work / "two.txt").read_text() == "two\n"


async def make_a_rule(page: Page) -> Locator:
    await page.locator(".card").get_by_text("Why was I asked?").click()
    await page.locator(".card").get_by_role("button", name="Create a rule…").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_be_visible()
    return dialog


async def test_of_several_rules_those_that_were_made_are_not_made_twice(tmp_path: Path) -> None:
    made: list[str] = []
    drafts = tuple(Rule("", "allow", tool="Bash", command=each) for each in ("npm test", "tee *"))
    offered = Offer("session", "Allow exactly `npm test` and every `tee …` in this session.", drafts)

    async def second_time_lucky(route: Route) -> None:
        made.append(json.loads(route.request.post_data or "{}")["command"])
        await (route.abort() if len(made) == 2 else route.continue_())

    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session(phase="working")
        await hub.ask(Permission("Bash", {"command": "npm test | tee log"}, offers=(offered,)), session=session.id)
        page = await screen.open(hub.up)
        await page.route(re.compile("/api/rules$"), second_time_lucky)
        await armed(page, "permission")
        dialog = await make_a_rule(page)
        grant = dialog.get_by_role("button", name="Create rule")
        with screen.trouble_expected():
            await grant.click()
            await expect(dialog.get_by_role("alert")).to_contain_text("1 of 2 rules created. Can't reach the hub.")
        await grant.click()
        await expect(dialog).to_have_count(0)
        assert made == ["npm test", "tee *", "tee *"]
        assert [rule.command for rule in await hub.up.hub.desk.rules()] == ["npm test", "tee *"]
