"""The administration pages, with what really happened on them."""

from collections.abc import Sequence
from datetime import UTC, timedelta
from pathlib import Path
from typing import get_args

import httpx2
from playwright.async_api import Locator, Page, expect

from api.served import served
from browser.home import home
from browser.showroom import Showroom
from browser.wares import NOW
from browser.window import PAGE, armed, go, needs_browser, window
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.actors import ByRule, Person
from handraise.model.asks import Answered, Ask
from handraise.model.audit import Entry, What
from handraise.model.projects import Options, Patience
from handraise.model.rules import ProjectRule
from handraise.store.changes import Record

pytestmark = needs_browser

RUN = "touch counted"


def pushes_and_runs(conversation: Conversation) -> Script:
    conversation = yield [use("Bash", command="git push origin main", description="Publish")]
    refused = "pull request" in conversation.result().text
    conversation = yield [use("Bash", command=RUN, description="Count")]
    conversation = yield [use("Bash", command=RUN, description="Count again")]
    yield [say(f"Refused: {refused}. Counted: {not conversation.result().is_error}.")]


async def test_a_projects_options_and_rules_hold_and_who_did_what_is_on_record(tmp_path: Path) -> None:
    async with home(tmp_path, pushes_and_runs) as at, at.serve() as up, window() as screen:
        page = await screen.open(up, "/admin/projects")
        main, alert = page.locator("main"), page.locator("main").get_by_role("alert")
        await expect(main.get_by_text("No projects yet.")).to_be_visible()
        await page.get_by_label("Absolute path of a directory").fill(f"{at.work}/nowhere")
        await page.keyboard.press("Escape")
        with screen.trouble_expected():
            await page.get_by_role("button", name="Add project").click()
            await expect(alert).to_contain_text("nowhere")
        await page.get_by_label("Absolute path of a directory").fill(str(at.work))
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Add project").click()
        await expect(main.get_by_role("heading", name="work", exact=True)).to_be_visible()
        await expect(alert).to_have_count(0)

        await unfold(main, "Options")
        form = main.locator("form", has_text="Tools allowed without asking")
        await form.get_by_label("Name", exact=True).fill("shop")
        await form.get_by_role("combobox", name="Mode", exact=True).select_option("Ask first")
        await form.get_by_label("Model").fill("claude-haiku-4-5")
        await form.get_by_label("Parallel sessions").fill("2")
        await form.get_by_label("Cost limit per session (USD)").fill("7.5")
        await form.get_by_label("Tools allowed without asking").fill("Read\nGrep")
        await form.get_by_label("Additional directories").fill(str(tmp_path))
        await form.get_by_label("Added to Claude's system prompt").fill("Be kind.")
        await form.get_by_role("combobox", name="Agents can ask (ask_user)", exact=True).select_option("yes")
        await form.get_by_label("ask_user timeout").fill("5")
        await form.get_by_label("Question").fill("3600")
        with screen.trouble_expected():
            await form.get_by_role("button", name="Save").click()
            await expect(alert).to_have_text("ask_user_timeout must be from 30 to 900 seconds, not 5.")
        await expect(alert).to_be_in_viewport()
        await form.get_by_label("ask_user timeout").fill("60")
        await form.get_by_role("button", name="Save").click()
        await expect(main.get_by_text("Saved. Applies to new sessions.")).to_be_visible()
        await expect(main.get_by_role("heading", name="shop", exact=True)).to_be_visible()
        await expect(main.locator(".project-head")).to_contain_text("Ask first · claude-haiku-4-5 · 2 at once")
        await expect(main.get_by_text("Saved. Applies to new sessions.")).to_be_visible()

        await unfold(main, "Project rules")
        rules = main.locator(".rule-form")
        await rules.get_by_label("Deny").check()
        await rules.get_by_label("Command").fill("git push *")
        await rules.get_by_label("Message to Claude").fill("Open a pull request.")
        await rules.get_by_role("button", name="Create rule").click()
        await expect(main.locator(".own-rules li")).to_contain_text("git push *")
        (project,) = await up.hub.desk.projects()
        assert (project.name, project.options) == (
            "shop",
            Options(
                mode="default",
                model="claude-haiku-4-5",
                allowed_tools=("Read", "Grep"),
                append_system_prompt="Be kind.",
                add_dirs=(str(tmp_path),),
                ask_user_enabled=True,
                ask_user_timeout=60,
                patience=Patience(question=3600),
                parallel=2,
                cost_limit_usd=7.5,
                rules=(ProjectRule("deny", command="git push *", message="Open a pull request."),),
            ),
        )
        await unfold(main, "Files for Claude outside Handraise")
        await page.get_by_role("button", name="Sync files").click()
        await expect(main.get_by_text("Changed: ")).to_contain_text(".mcp.json")
        assert (at.work / ".mcp.json").exists()
        async with page.expect_response("**/sync"):
            await page.get_by_role("button", name="Remove Handraise's entries").click()
        assert not (at.work / ".mcp.json").exists()

        session = (await up.hub.desk.start("Publish.", "shop", title="Publish it")).session
        await expect(page.locator(".group.needs-you a.session")).to_contain_text(RUN)
        assert at.model.requests("script")[-1].model == "claude-haiku-4-5"
        await why_and_who(page)
        await audit(page, session.id)


async def why_and_who(page: Page) -> None:
    """A project's rule has denied, nobody has answered yet: a rule is made where it says why it asked."""
    main, dialog = page.locator("main"), page.get_by_role("dialog")
    await page.get_by_role("link", name="Rules").click()
    denied = main.locator("tbody tr", has_text="git push *")
    await expect(denied).to_contain_text("project options")
    await expect(denied).to_contain_text("1 time, last")
    await expect(denied.get_by_role("button")).to_have_count(0)
    asked = main.locator(".asked-list li").first
    await expect(asked).to_contain_text(f"Run {RUN}?")
    await expect(asked.locator("p").last).to_contain_text("No rule")
    await asked.get_by_role("button", name="Create a rule…").click()
    await dialog.get_by_role("button", name="Create rule").click()
    await expect(dialog).to_have_count(0)

    await asked.get_by_role("link", name="Publish it").click()
    await armed(page, "permission")
    await page.get_by_role("button", name="Allow once").click()
    await expect(main.get_by_text("Refused: True. Counted: True.")).to_be_visible()
    await expect(main.locator(".action-allowed").last).to_have_text("· allowed by a rule")
    await go(page, "/admin/rules")
    made = main.locator("tbody tr", has_text="touch")
    await expect(made).to_contain_text("owner")
    await expect(made).to_contain_text("1 time, last")
    await made.get_by_role("button", name="Revoke").click()
    await expect(made.get_by_role("button", name="Cancel")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(made.get_by_role("button", name="Revoke")).to_be_focused()
    await page.keyboard.press("Enter")
    await made.get_by_role("button", name="Yes, revoke").click()
    await expect(made).to_have_count(0)


async def audit(page: Page, session: str) -> None:
    await page.get_by_role("link", name="Audit").click()
    main, rows = page.locator("main"), page.locator("table.audit tbody tr")
    what = main.get_by_role("combobox", name="Event", exact=True)
    await expect(what).to_be_visible()
    assert await what.locator("option").evaluate_all("all => all.map((each) => each.value)") == ["", *get_args(What)]
    await what.select_option("project changed")
    await expect(rows).to_have_count(2)
    await expect(rows.first).to_contain_text("owner")
    await what.select_option("rule made")
    await expect(rows).to_have_count(1)
    await what.select_option("answered")
    await expect(rows).to_have_count(3)
    await main.get_by_label("By", exact=True).fill("owner")
    await page.keyboard.press("Enter")
    await expect(rows).to_have_count(1)
    await expect(rows.locator("summary")).to_contain_text("allowed once · Bash")
    await rows.locator("summary").click()
    await expect(rows.get_by_label("Details")).to_contain_text("sha256:")
    await main.get_by_label("By", exact=True).fill("")
    await page.keyboard.press("Enter")
    await what.select_option("Any")
    await main.get_by_role("combobox", name="Session", exact=True).select_option("Publish it")
    await expect(rows).to_have_count(4)
    await main.get_by_role("searchbox").fill("git push")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("denied: “Open a pull request.”")
    await main.get_by_role("searchbox").fill("nobody did this")
    await expect(main.get_by_text("No matches.")).to_be_visible()


async def test_a_token_is_shown_once_and_revoked_at_once_and_the_audit_goes_back_page_by_page(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        await hub.up.hub.desk.add_project(str(tmp_path), "shop", Options())
        page = await screen.open(hub.up, "/admin/tokens")
        main, form = page.locator("main"), page.locator("form.panel")
        await form.get_by_label("Name").fill("phone")
        await form.get_by_role("combobox", name="Role", exact=True).select_option(
            "Approver: can also answer and send messages"
        )
        await form.get_by_role("combobox", name="Expires", exact=True).select_option("1 day")
        await form.get_by_role("button", name="Create token").click()
        await expect(form.get_by_text("Copy this now. It won't be shown again.")).to_be_visible()
        secret = await form.locator(".secret code").inner_text()
        assert await asks(hub.up.base, secret) == 200
        row = main.locator("tbody tr", has_text="phone")
        await expect(row).to_contain_text("approver")
        await form.get_by_label("Name").fill("nightly")
        await form.get_by_role("combobox", name="Role", exact=True).select_option("Agent: can only ask")
        await form.get_by_role("combobox", name="Project of the agent", exact=True).select_option("shop")
        await form.get_by_role("button", name="Create token").click()
        await expect(main.locator("tbody tr", has_text="nightly")).to_contain_text("project shop")
        await expect(form.locator(".secret code")).not_to_have_text(secret)

        await page.reload()
        await expect(row).to_be_visible()
        await expect(main.locator(".secret")).to_have_count(0)
        await row.get_by_role("button", name="Revoke").click()
        await row.get_by_role("button", name="Yes, revoke").click()
        await expect(row).to_have_count(0)
        assert await asks(hub.up.base, secret) == 401
        await page.get_by_label("Show revoked and expired tokens").check()
        await expect(row).to_contain_text("revoked")
        await expect(row.get_by_role("button")).to_have_count(0)

        old = [Entry(NOW - timedelta(days=40 + n), "login", Person(f"p{n:03}"), "web") for n in range(230)]
        await hub.up.hub.store.apply([Record(each) for each in old])
        await page.get_by_role("link", name="Audit").click()
        rows, more = main.locator("tbody tr"), page.get_by_role("button", name="Show more")
        await main.get_by_role("combobox", name="Event", exact=True).select_option("login")
        await expect(rows).to_have_count(100)
        await more.click()
        await expect(rows).to_have_count(200)
        await more.click()
        await expect(more).to_have_count(0)
        names = await rows.locator("td:nth-child(3)").all_inner_texts()
        assert [each for each in names if each.startswith("p")] == [f"p{n:03}" for n in reversed(range(230))]
        await main.get_by_role("combobox", name="When", exact=True).select_option("Last 30 days")
        await expect(rows.filter(has_text="p0")).to_have_count(0)

        # A viewer sees projects, rules and statistics, and nothing to click.
        looker = await screen.stranger(hub.up)
        code = await hub.up.auth.make_code("ann", "viewer", Person("owner"), "test")
        await looker.goto(f"{hub.up.base}/login?code={code}")
        await expect(looker.locator("main").get_by_text("Nothing needs you.")).to_be_visible()
        # The hub was upgraded, and what the open page would load no longer exists.
        await looker.route("**/assets/**", lambda route: route.abort())
        with screen.trouble_expected():
            await looker.get_by_label("Administration").click()
            await expect(looker.locator("main").get_by_role("alert")).to_contain_text("Couldn't load")
            await looker.unroute("**/assets/**")
            # Of several files, the browser may report the last one only now.
            await looker.get_by_role("button", name="Reload").click()
            await expect(looker.locator("main").get_by_role("heading", name="shop")).to_be_visible()
        await looker.get_by_role("link", name="Tokens").click()
        await expect(looker.locator("main").get_by_text("Requires the admin role.")).to_be_visible()
        await looker.get_by_role("link", name="Audit").click()
        await expect(looker.locator("main").get_by_text("Requires the admin role.")).to_be_visible()
        await looker.get_by_role("link", name="Projects").click()
        await expect(looker.get_by_role("heading", name="shop")).to_be_visible()
        await expect(looker.get_by_role("button", name="Add project")).to_have_count(0)
        await looker.get_by_role("link", name="Rules").click()
        await expect(looker.locator("main").get_by_text("No rules.")).to_be_visible()
        await expect(looker.locator("main form")).to_have_count(0)


async def test_the_statistics_count_what_was_asked(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        await Showroom(hub.up).fill()
        page = await screen.open(hub.up, "/admin/settings", timezone_id="UTC")
        await page.clock.set_fixed_time(NOW)
        await page.get_by_role("link", name="Statistics").click()
        tiles = page.locator(".admin-inner > .tiles .tile strong")
        for label, days in (("Last 14 days", 14), ("Last 30 days", 30)):
            await page.get_by_role("combobox", name="Period", exact=True).select_option(label)
            people, ruled, table = counted(await hub.up.hub.desk.asks(state=None), days)
            await expect(tiles.first).to_have_text(str(people + ruled))
            await expect(tiles.last).to_have_text(f"{round(100 * ruled / (people + ruled))}%")
            await expect(tiles).to_have_count(5)
        assert people
        assert ruled
        await page.get_by_text("Show as a table").click()
        rows = page.get_by_role("region", name="Show as a table").locator("tbody tr")
        await expect(rows).to_have_count(30)
        shown = [await row.locator("td").all_inner_texts() for row in await rows.all()]
        assert [(day, int(people), int(rules)) for day, people, rules, *_ in shown] == table
        for number in range(4):
            chart = page.get_by_role("img").nth(number)
            await expect(chart.locator(".bar").first).to_be_visible()
        await expect(page.get_by_role("img").first).to_have_accessible_name(sentence_of(table))


def counted(asks: Sequence[Ask], days: int) -> tuple[int, int, list[tuple[str, int, int]]]:
    """How many people were asked and rules answered, and both by the day."""
    first = NOW.date() - timedelta(days=days - 1)
    table = {str(first + timedelta(days=number)): [0, 0] for number in range(days)}
    for ask in asks:
        ruled = isinstance(ask.settlement, Answered) and isinstance(ask.settlement.by, ByRule)
        if (day := str(ask.opened_at.astimezone(UTC).date())) in table:
            table[day][ruled] += 1
    both = list(table.values())
    rows = [(day, people, rules) for day, (people, rules) in table.items()]
    return sum(people for people, _ in both), sum(rules for _, rules in both), rows


def sentence_of(table: list[tuple[str, int, int]]) -> str:
    return ", ".join(f"{day}: {people} sent to people, {rules} answered by rules" for day, people, rules in table)


async def unfold(main: Locator, title: str) -> None:
    await main.locator("summary", has_text=title).click()


async def asks(base: str, secret: str) -> int:
    async with httpx2.AsyncClient(base_url=base, headers={"authorization": f"Bearer {secret}"}) as client:
        return (await client.get("/api/asks")).status_code
