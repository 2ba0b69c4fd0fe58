"""The page of one hub, and a session on the machine of another: started, left alone, answered, and back again."""

from pathlib import Path

from playwright.async_api import expect

from browser.window import PAGE, PAINTED, armed, needs_browser, window
from handraise.model.projects import Options
from handraise.serving.serve import ServeConfig, reachable
from hub.fleet import fleet_of, until_turns

pytestmark = needs_browser


async def test_a_session_elsewhere_is_started_answered_while_away_and_goes_on(tmp_path: Path) -> None:
    service = ServeConfig(tmp_path / "served", Path("/bin/false"), {}, port=0, page=PAGE)
    service.state.mkdir(mode=0o700)
    async with (
        fleet_of(tmp_path, "laptop", "server") as (laptop, server),
        reachable(laptop.hub, service) as up,
        window() as screen,
    ):
        desk = laptop.hub.desk
        project = await desk.add_project(str(laptop.work), "app", Options())
        await desk.change_project(project.id, None, None, str(server.work), "server")
        page = await screen.open(up)
        await page.keyboard.press("n")
        dialog = page.get_by_role("dialog")
        machine = dialog.get_by_label("Machine")
        await expect(machine.locator("option")).to_have_text(["Least busy", "laptop (this hub)", "server"])
        await machine.select_option("server")
        await dialog.get_by_label("What should Claude do?").fill("ask me")
        await dialog.get_by_role("button", name="Start").click()
        await expect(page.locator(".session-head")).to_contain_text("server")
        await armed(page, "question")
        session = page.url.rsplit("/", 1)[1]

        await server.stop()
        card = page.locator(".card.question")
        await expect(card).to_contain_text("Machine server is away. Your answer is stored")
        await expect(page.get_by_role("button", name="Interrupt")).to_be_disabled()
        await page.locator(".session-head .menu > button").click()
        await page.get_by_role("button", name="Stop…").click()
        await page.get_by_role("dialog").get_by_role("button", name="Stop").click()
        waiting = page.locator(".not-taken")
        await expect(waiting).to_contain_text("waiting for server")
        await waiting.get_by_role("button", name="Take back").click()
        await expect(waiting).to_have_count(0)
        await page.locator("#say").fill("And be quick")
        await page.keyboard.press("Enter")
        await expect(waiting).to_contain_text("And be quick")
        await waiting.get_by_role("button", name="Take back").click()
        await expect(waiting).to_have_count(0)
        # The card moved just now: an answer counts once it has stood still.
        await page.evaluate(PAINTED)
        await armed(page, "question")
        await card.get_by_role("radio", name="SQLite").click()
        await card.get_by_role("button", name="Send answer").click()
        await expect(page.locator(".line-card")).to_contain_text("stored; delivered when server returns")
        assert server.received("control_response") == []

        await server.open()
        await until_turns(laptop.hub, session)
        (line,) = server.received("control_response")
        assert line["response"]["response"]["updatedInput"]["answers"] == {"Which database?": "SQLite"}
        await expect(page.locator(".away-sign")).to_have_count(0)
        await expect(page.locator(".line-card")).not_to_contain_text("returns")
