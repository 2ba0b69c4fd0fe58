"""The inbox across all sessions: oldest first, one open, identical asks grouped, and the truth about each."""

import re
from pathlib import Path

from msgspec.structs import replace
from playwright.async_api import Locator, Page, Route, expect

from api.served import WHICH, Served, served
from browser.window import PAGE, armed, needs_browser, nothing_waits, window
from handraise.model.actors import Person
from handraise.model.answers import Allow, Deny
from handraise.model.asks import Answered, Form, Permission, Plan, Withdrawn
from handraise.store.changes import SettleAsk

pytestmark = needs_browser

NPM = Permission("Bash", {"command": "npm test"}, "Run the tests")
ANN = Person("ann")
ON_THE_ICON = """(count) => {
  const drawn = decodeURIComponent(document.querySelector("link[rel=icon]").href);
  return (drawn.match(/>(\\d+)<.text>/) ?? ["", "0"])[1] === count;
}"""


async def test_the_oldest_is_first_and_the_count_stands_in_the_title_and_the_icon(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        one, two = await hub.session(phase="working"), await hub.session(phase="working")
        plan = await hub.ask(Plan("# A plan"), session=two.id)
        await hub.ask(NPM, session=one.id)
        page = await screen.open(hub.up)
        await armed(page, "plan")
        await expect(page.locator(".card")).to_have_count(1)
        await expect(page.locator(".waiting-row")).to_contain_text("Run npm test?")
        await told_by_page(page, 2)
        await hub.ask(Form("Where to?", "forms", {"properties": {}}))
        await hub.ask(WHICH, session=one.id)
        assert await lines(page) == ["Run npm test?", "forms asks: Where to?", "Which?"]
        await told_by_page(page, 4)

        # The next one opens by itself; one that is settled elsewhere goes by itself, and says how.
        await page.keyboard.press("p")
        await armed(page, "permission")
        await expect(page.locator(f"#card-{plan.id}")).to_contain_text("You asked for an outline first · web")
        await hub.up.hub.desk.seat(ANN, "terminal").answer(
            (await hub.up.hub.desk.asks(kind="permission"))[0].id, Allow()
        )
        await armed(page, "form")
        await expect(page.locator(".over")).to_contain_text("ann allowed npm test · terminal")
        await withdraw(hub, "form", "the session was stopped")
        await expect(page.locator(".over")).to_contain_text("No longer needed: the session was stopped")
        await armed(page, "question")
        await page.keyboard.press("1")
        await page.keyboard.press("Enter")
        await nothing_waits(page)
        await expect(page.locator("main")).to_contain_text("2 sessions are working.")
        await told_by_page(page, 0)


async def told_by_page(page: Page, count: int) -> None:
    """How many wait: in the title, on the icon, beside the name of the inbox."""
    await expect(page).to_have_title(f"({count}) Handraise" if count else "Handraise")
    await expect(page.locator(".side-inbox .badge")).to_have_text([str(count)] if count else [])
    await page.wait_for_function(ON_THE_ICON, arg=str(count))


async def lines(page: Page) -> list[str]:
    rows = page.locator(".waiting-row .waiting-question")
    await expect(rows).to_have_count(3)
    return await rows.all_inner_texts()


async def withdraw(hub: Served, kind: str, reason: str) -> None:
    ask = next(each for each in await hub.up.hub.desk.asks() if each.kind == kind)
    await hub.up.hub.store.apply([SettleAsk(ask.id, Withdrawn(reason, ask.opened_at))])


async def test_identical_asks_are_answered_together_and_each_says_what_became_of_it(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        asks = [await hub.ask(NPM, session=(await hub.session(phase="working")).id) for _ in range(4)]
        other = await hub.ask(replace(NPM, input={"command": "npm  test"}))
        unreachable = {asks[3].id}

        async def on_the_way(route: Route) -> None:
            name = route.request.url.split("/")[-2]
            if name == asks[1].id:
                await hub.up.hub.desk.seat(ANN, "terminal").answer(name, Deny("It is broken."))
            await (route.abort() if name in unreachable else route.continue_())

        page = await screen.open(hub.up)
        await page.route(re.compile(r"/answer\b"), on_the_way)
        await armed(page, "permission")
        await expect(page.locator(".alike-head h2")).to_have_text("4 identical requests")
        together = page.get_by_role("checkbox", name="Answer all 4 together")
        await expect(together).to_be_disabled()
        await expect(page.locator(".alike-head")).to_contain_text("Review each one first.")
        for ask in asks[1:]:
            await page.keyboard.press("j")
            await expect(page.locator(f"#card-{ask.id}[data-armed]")).to_be_visible()
        await together.check()
        await expect(page.locator(".longer")).to_have_count(0)  # nothing for longer, for all at once
        later = await hub.ask(NPM, session=asks[0].session)
        await expect(page.locator(".alike-head")).to_contain_text("Later requests are not included.")
        await armed(page, "permission")
        with screen.trouble_expected():
            await page.get_by_role("button", name="Allow once · all 4").click()
            text = page.locator(".over [role=status]")
            await expect(text).to_contain_text("Your answer was used for 2 of 4. 1 not sent yet. 1 not used")
            await expect(page.locator(f"#card-{asks[0].id}")).to_contain_text("You allowed npm test")
            await expect(page.locator(f"#card-{asks[0].id}")).to_contain_text("Session 1")
            await expect(page.locator(f"#card-{asks[1].id}")).to_contain_text("ann denied npm test")
            await expect(page.locator(f"#card-{asks[1].id} [role=alert]")).to_contain_text("Your answer wasn't used.")
            record = row_or_card(page, "Session 7")
            await expect(record).to_contain_text("Not sent")
            unreachable.clear()
            await expect(page.locator(f"#card-{asks[3].id}.line-card")).to_contain_text("You allowed npm test")
            await expect(text).to_contain_text("Your answer was used for 3 of 4. 1 not used")
        assert [await answer_to(hub, ask.id) for ask in asks] == [Allow(), Deny("It is broken."), Allow(), Allow()]
        assert (await hub.up.hub.desk.ask(later.id)).settlement is None
        assert (await hub.up.hub.desk.ask(other.id)).settlement is None


def row_or_card(page: Page, title: str) -> Locator:
    return page.locator(".alike-row, .card").filter(has_text=title).first


async def answer_to(hub: Served, ask: str) -> object:
    settled = (await hub.up.hub.desk.ask(ask)).settlement
    assert isinstance(settled, Answered)
    return settled.answer
