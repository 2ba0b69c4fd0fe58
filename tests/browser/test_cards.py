"""Every kind of card, raised by the real CLI, answered by mouse and by keyboard."""

from pathlib import Path

from playwright.async_api import expect

from api.served import served
from browser.home import home
from browser.wares import DATABASE, NPM_TEST
from browser.window import PAGE, armed, go, needs_browser, nothing_waits, window
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.demo.scenarios import SCENARIOS
from handraise.model.asks import Permission

pytestmark = needs_browser


async def test_the_whole_demo_by_keyboard_alone(tmp_path: Path) -> None:
    async with home(tmp_path, SCENARIOS["health_endpoint"]) as at, at.serve() as up, window() as screen:
        page = await screen.open(up)
        await up.hub.desk.start("Add a health endpoint.", str(at.work), title="Health")

        await armed(page, "question")
        await expect(page).to_have_title("(1) Handraise")
        await page.keyboard.press("2")
        await expect(page.locator(".card legend")).to_contain_text("What should it report")
        await page.keyboard.press("1")
        await armed(page, "question")
        await page.keyboard.press("Enter")
        await armed(page, "plan")
        await page.keyboard.press("a")
        for file in ("service.py", "test_health.py"):
            await expect(page.locator(".card .asked")).to_contain_text(file)
            await expect(page.locator(".card .diff")).to_contain_text("+")
            await armed(page, "permission")
            await page.keyboard.press("a")
        await expect(page.locator(".card .asked")).to_have_text("Run python3 -m unittest -v?")
        await armed(page, "permission")
        await page.keyboard.press("a")

        await nothing_waits(page)
        await page.keyboard.press("g")
        await page.keyboard.press("s")
        await page.locator("a.session").click()
        await expect(page.locator("main").get_by_text("all tests pass")).to_be_visible()
        await expect(page.locator(".line-card.permission")).to_have_count(0)
        await expect(page.locator(".action-allowed")).to_have_text(["· you allowed"] * 3)
        await expect(page.locator(".line-card").first).to_contain_text("You answered: /healthz · Uptime")
        await expect(page.locator(".line-card").last).to_contain_text("delivered")
        assert "/healthz" in (at.work / "service.py").read_text()


async def test_a_denial_an_edit_and_a_plan_sent_back_by_mouse(tmp_path: Path) -> None:
    async with home(tmp_path, SCENARIOS["health_endpoint"]) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("Add a health endpoint.", str(at.work), title="Health")).session
        page = await screen.open(up, f"/sessions/{session.id}")

        await armed(page, "question")
        await page.locator("main").get_by_text("Other").click()
        await page.get_by_label("Your own answer").fill("/alive")
        await page.reload()  # the draft survives
        await armed(page, "question")
        await expect(page.get_by_label("Your own answer")).to_have_value("/alive")
        await page.get_by_role("button", name="Next").click()
        await page.locator("main").get_by_text("Free disk space").click()
        await armed(page, "question")
        await page.get_by_role("button", name="Send answers").click()

        await armed(page, "plan")
        await page.get_by_role("button", name="Send back").click()
        await page.get_by_label("What should be different?").fill("Mention the port.")
        await page.get_by_role("button", name="Send back", exact=True).click()
        await expect(page.locator(".card.plan")).to_contain_text("Mention the port.")
        await armed(page, "plan")
        await page.get_by_role("button", name="Approve Claude asks before each edit").click()

        await expect(page.locator(".card .asked")).to_contain_text("service.py")
        await armed(page, "permission")
        await page.get_by_role("button", name="Edit", exact=True).click()
        await page.locator(".card textarea").fill("print('edited by a person')\n")
        await page.get_by_role("button", name="Review changes").click()
        await armed(page, "permission")
        await page.get_by_role("button", name="Allow edited version").click()
        await expect(page.locator(".card .asked")).to_contain_text("test_health.py")
        await armed(page, "permission")
        await page.get_by_role("button", name="Deny").click()
        await page.get_by_label("Tell Claude what to do instead").fill("Not without asking Ann.")
        await page.get_by_role("button", name="Deny", exact=True).click()

        await expect(page.locator("main").get_by_text("You denied Write")).to_contain_text("“Not without asking Ann.”")
        await expect(page.locator("main").get_by_text("I'll stop here rather than leave half a change")).to_be_visible()
        assert (at.work / "service.py").read_text() == "print('edited by a person')\n"


def run_three_times(conversation: Conversation) -> Script:
    conversation = yield [use("Bash", command="touch zero", description="Make a file")]
    conversation = yield [use("Bash", command="touch first", description="Make another")]
    conversation = yield [use("Bash", command="touch first", description="Make it again")]
    yield [say("Both done." if not conversation.result().is_error else "Not done.")]


async def test_two_browsers_answer_at_once_and_both_tell_the_truth(tmp_path: Path) -> None:  # lessons 30, 33
    """And what is then allowed for the session is a rule that can be revoked."""
    async with home(tmp_path, run_three_times) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("Run it.", str(at.work))).session
        one = await screen.open(up, f"/sessions/{session.id}")
        two = await screen.open(up, f"/sessions/{session.id}")
        await armed(one, "permission")
        await armed(two, "permission")
        await two.get_by_role("button", name="Deny").click()
        with screen.trouble_expected():  # a refusal is a line in the browser's own console
            await one.keyboard.press("a")
            await two.keyboard.press("Enter")
            settled = [
                page.locator(".line-card:has-text('delivered') .line-text, .action-allowed") for page in (one, two)
            ]
            for each in settled:
                await expect(each).to_have_count(1)
        lines = [(await each.inner_text()).removeprefix("· ") for each in settled]
        mine, theirs = sorted(lines, key=lambda line: not line.lower().startswith("you "))
        assert mine[len("You ") :] == theirs.removeprefix("owner ")

        await two.close()
        await expect(one.locator(".card .asked")).to_have_text("Run touch first?")
        await armed(one, "permission")
        await expect(one.locator(".offer").first).to_contain_text("touch")
        await one.locator(".offer").first.click()
        await expect(one.locator("main").get_by_text("Both done.")).to_be_visible()
        await expect(one.locator(".action-allowed").last).to_have_text("· allowed by a rule")
        await expect(one.get_by_text("· you allowed for this session")).to_be_visible()
        await go(one, "/admin/rules")
        await one.get_by_role("button", name="Revoke").click()
        await one.get_by_role("button", name="Yes, revoke").click()
        await expect(one.locator("main").get_by_text("No rules.")).to_be_visible()


async def test_a_question_keeps_its_place_whatever_else_arrives(tmp_path: Path) -> None:  # lesson 31
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session(phase="working")
        await hub.ask(DATABASE, session=session.id)
        page = await screen.open(hub.up, f"/sessions/{session.id}")
        await armed(page, "question")
        await page.keyboard.press("1")
        await expect(page.locator(".card legend")).to_contain_text("What has to be kept")
        await page.keyboard.press("2")

        await hub.publish("Meanwhile.", session=session.id)
        await expect(page.locator("main").get_by_text("Meanwhile.")).to_be_visible()
        await hub.ask(NPM_TEST, session=session.id)
        await expect(page.locator(".card.permission")).to_be_visible()
        await expect(page.locator(".card.question legend")).to_contain_text("What has to be kept")
        await expect(page.get_by_role("checkbox", name="Carts")).to_be_checked()


async def test_only_a_high_risk_is_red_and_says_why(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        await hub.ask(Permission("Read", {"file_path": "/work/a"}))
        await hub.ask(Permission("Bash", {"command": "echo a\u202eb"}))
        page = await screen.open(hub.up)
        await armed(page, "permission")
        await expect(page.locator(".card .risk")).to_have_count(0)
        await page.keyboard.press("j")
        await expect(page.locator(".card .risk")).to_have_text("Contains hidden characters")
