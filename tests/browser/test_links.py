"""Links of MCP servers and dialogs of Claude Code on the page: opened and answered by the person alone."""

from playwright.async_api import expect

from browser.shared import SharedPage
from browser.test_keyboard import put, settled
from browser.window import armed, needs_browser, nothing_waits
from handraise.model.actors import TheHub
from handraise.model.answers import Choice, Choices, Filled
from handraise.model.asks import Answered, Dialog, Form, Option, Prompt, Question, Terms
from handraise.store.changes import SettleAsk

pytestmark = needs_browser

URL = "https://login.example.com:8443/oauth?x=1"
DIALOG = Question(
    (Prompt("Retry with another model?", "Claude Code", (Option("Retry"), Option("Dismiss")), closed=True),),
    terms=Terms(person=True),
    dialog=Dialog("refusal_fallback_prompt", ("retry_fallback", "cancelled")),
)


async def test_a_link_is_a_real_link_that_only_the_person_opens(shared: SharedPage) -> None:
    hub = shared.hub
    page = await shared.show()
    opened: list[object] = []
    page.context.on("page", lambda tab: opened.extend([tab]))
    ask = await put(hub, page, Form("Please sign in", "links", {}, URL))

    link = page.locator(f"#card-{ask} .address a")
    await expect(link).to_have_text(URL)
    await expect(link.locator(".host")).to_have_text("login.example.com:8443")
    await expect(link).to_have_attribute("href", URL)
    await expect(link).to_have_attribute("target", "_blank")
    await expect(link).to_have_attribute("rel", "noopener noreferrer")
    await page.get_by_role("button", name="Done").click()
    await settled(hub, page, ask, Filled("accept"))

    ask = await put(hub, page, Form("Please sign in", "links", {}, URL))
    await page.keyboard.press("d")
    await settled(hub, page, ask, Filled("decline"))
    assert opened == []


async def test_what_is_no_web_address_cannot_be_opened(shared: SharedPage) -> None:
    hub = shared.hub
    page = await shared.show()
    for url in ("javascript:document.title='x'", "https://good.example\\@evil.example/", "https://e\u202ex.ample/"):
        ask = await put(hub, page, Form("Sign in", "links", {}, url))
        card = page.locator(f"#card-{ask}")
        await expect(card.locator(".address")).to_be_visible()
        await expect(card.locator(".address a")).to_have_count(0)
        await expect(card).to_contain_text("can't be opened from here")
        await page.get_by_role("button", name="Dismiss without answering").click()
        await settled(hub, page, ask, Filled("cancel"))


async def test_a_link_that_is_completed_by_itself_says_so(shared: SharedPage) -> None:
    hub = shared.hub
    session = await shared.session("working")
    page = await shared.show(f"/sessions/{session.id}")
    ask = await hub.ask(Form("Please sign in", "links", {}, URL), session=session.id)
    await expect(page.locator(f"#card-{ask.id} .address")).to_be_visible()
    done = Answered(Filled("accept"), TheHub(), "website", ask.opened_at)
    await hub.up.hub.store.apply([SettleAsk(ask.id, done)])

    line = page.locator(f"#card-{ask.id}.line-card")
    await expect(line).to_contain_text("Completed on the website")
    await expect(line).not_to_contain_text("Handraise")


async def test_a_dialog_takes_its_options_only(shared: SharedPage) -> None:
    hub = shared.hub
    page = await shared.show()
    ask = await put(hub, page, DIALOG)
    await expect(page.locator(f"#card-{ask} .row")).to_have_count(2)
    await page.keyboard.press("o")
    await expect(page.locator(f"#card-{ask} textarea")).to_have_count(0)
    await page.keyboard.press("1")
    await armed(page, "question")
    await page.keyboard.press("Enter")
    await settled(hub, page, ask, Choices((Choice(("Retry",)),)))
    await nothing_waits(page)
