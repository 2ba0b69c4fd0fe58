"""Cards by keyboard alone: every kind, every answer, and never one that nobody sees."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import Page, Route, expect

from api.served import Served, served
from browser.shared import SharedPage
from browser.window import PAGE, armed, needs_browser, nothing_waits, window
from handraise.model.actors import Person
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise
from handraise.model.asks import Answered, Body, Expired, Form, Option, Permission, Plan, Prompt, Question
from handraise.store.changes import SettleAsk

pytestmark = needs_browser

ANN = Person("ann")


async def test_every_kind_of_card_by_keyboard_alone(shared: SharedPage) -> None:
    hub = shared.hub
    page = await shared.show()
    one = Prompt("Which?", "Which", (Option("A", "first"), Option("B", "second", "a preview")))
    many = Prompt("Which ones?", "Many", (Option("C"), Option("D"), Option("E")), True)
    free = Prompt("What name?", "Name")

    ask = await put(hub, page, Question((one, many, free)))
    await page.keyboard.press("Enter")  # nothing is said yet, so nothing is sent
    await expect(page.locator(".steps .chip")).to_have_text(["Which", "Many", "Name"])
    await expect(page.locator(".card .controls")).to_contain_text("3 questions are not answered yet")
    await expect(page.get_by_role("button", name="Send answers")).to_be_disabled()
    await expect(page.locator(".card .preview")).to_contain_text("a preview")
    # Arrows pass over the options, as in every list; only a number or a click moves on.
    await page.get_by_role("radio", name="A").focus()
    await page.keyboard.press("ArrowDown")
    await expect(page.get_by_role("radio", name="B")).to_be_checked()
    await page.evaluate("() => new Promise((done) => setTimeout(done, 300))")
    await expect(page.locator(".card legend")).to_have_text("Which?")
    await page.keyboard.press("2")
    await expect(page.locator(".card legend")).to_have_text("Which ones?")
    await page.keyboard.press("1")
    await page.keyboard.press("3")
    await page.keyboard.press("0")
    await expect(page.get_by_label("Your own answer")).to_be_focused()
    await page.keyboard.type("and 4")
    await page.keyboard.press("Escape")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator(".card legend")).to_have_text("What name?")
    await page.keyboard.press("o")
    await expect(page.get_by_label("Your answer")).to_be_focused()
    await page.keyboard.type("Wren")
    await armed(page, "question")
    await page.keyboard.press("Control+Enter")
    await settled(hub, page, ask, Choices((Choice(("B",)), Choice(("C", "E"), "and 4"), Choice((), "Wren"))))

    ask = await put(hub, page, Permission("Bash", {"command": "rm a", "timeout": 5}))
    await page.keyboard.press("e")
    await expect(page.get_by_label("Edit command before you allow it")).to_be_focused()
    await page.keyboard.press("Control+a")
    await page.keyboard.type("rm b")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator(".changes tr.gone")).to_contain_text("rm a")
    await expect(page.locator(".changes tr.added")).to_contain_text("rm b")
    await armed(page, "permission")
    await page.keyboard.press("a")
    await settled(hub, page, ask, Allow(input={"command": "rm b", "timeout": 5}))

    ask = await put(hub, page, Permission("Bash", {"command": "rm c"}))
    await page.keyboard.press("d")
    await expect(page.get_by_label("Tell Claude what to do instead")).to_be_focused()
    await page.keyboard.type("Keep it.")
    await page.keyboard.press("Enter")
    await settled(hub, page, ask, Deny("Keep it."))

    ask = await put(hub, page, Permission("Bash", {"command": "rm d"}))
    await page.keyboard.press("d")
    await expect(page.get_by_label("Tell Claude what to do instead")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("button", name="Deny and stop")).to_be_focused()
    await page.keyboard.press("Enter")
    await settled(hub, page, ask, Deny(interrupt=True))

    ask = await put(hub, page, Plan("# Steps"))
    await page.keyboard.press("e")
    await expect(page.get_by_label("Edit the plan before you approve it")).to_be_focused()
    await page.keyboard.press("Control+End")
    await page.keyboard.type("\n\n- and tests")
    await page.keyboard.press("Escape")
    await expect(page.locator(".plan-text li")).to_have_text("and tests")
    await expect(page.locator(".changes tr.added").last).to_contain_text("- and tests")
    await armed(page, "plan")
    await page.keyboard.press("y")
    await settled(hub, page, ask, Approve("acceptEdits", "# Steps\n\n- and tests"))

    ask = await put(hub, page, Plan("# More steps"))
    await page.keyboard.press("d")
    await expect(page.get_by_label("What should be different?")).to_be_focused()
    await page.keyboard.type("Fewer.")
    await page.keyboard.press("Enter")
    await settled(hub, page, ask, Revise("Fewer."))

    ask = await put(hub, page, Plan("# Yet more"))
    await page.keyboard.press("p")
    await settled(hub, page, ask, Outline())

    fields = {"street": {"type": "string", "title": "Street"}, "lift": {"type": "boolean", "title": "Lift"}}
    ask = await put(hub, page, Form("Where?", "forms", {"properties": fields, "required": ["street"]}))
    await page.keyboard.press("e")
    await expect(page.get_by_label("Street")).to_be_focused()
    await page.keyboard.type("Odeon 4")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Space")
    await armed(page, "form")
    await page.keyboard.press("Control+Enter")
    await settled(hub, page, ask, Filled("accept", {"street": "Odeon 4", "lift": True}))

    ask = await put(hub, page, Form("Really?", "forms", {"properties": {}}))
    await page.keyboard.press("d")
    await expect(page.get_by_role("button", name="Decline")).to_be_focused()
    await page.keyboard.press("Enter")
    await settled(hub, page, ask, Filled("decline"))
    await nothing_waits(page)


async def test_a_card_out_of_sight_is_shown_before_a_key_answers_it(shared: SharedPage) -> None:
    hub = shared.hub
    session = await shared.session("working")
    await hub.publish(*(f"Line {number}." for number in range(80)), session=session.id)
    ask = await hub.ask(Permission("Bash", {"command": "npm test"}), session=session.id)
    page = await shared.show(f"/sessions/{session.id}")
    await expect(page.locator(f"#card-{ask.id}[data-armed]")).to_be_in_viewport()
    await page.locator(".history").evaluate("element => element.scrollTo({ top: 0 })")
    await expect(page.locator(f"#card-{ask.id}")).not_to_be_in_viewport()
    await page.keyboard.press("a")
    await expect(page.locator(f"#card-{ask.id} .controls")).to_be_in_viewport()
    await expect(page.locator(f"#card-{ask.id} .refusal")).to_have_text("Wait a moment")
    assert (await hub.up.hub.desk.ask(ask.id)).settlement is None
    await expect(page.locator(f"#card-{ask.id}[data-armed]")).to_be_visible()
    await page.keyboard.press("a")
    await settled(hub, page, ask.id, Allow())


async def test_what_is_written_into_a_card_that_goes_away_answers_no_other(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        asked = await hub.ask(Question((Prompt("What name?"),)))
        other = await hub.ask(Permission("Bash", {"command": "rm -rf build"}))
        page = await screen.stranger(hub.up)
        await page.clock.install()
        await page.goto(f"/login?code={await hub.up.auth.make_code('owner', 'admin', ANN, 'test')}")
        await page.locator(f"#card-{asked.id}[data-armed]").wait_for()
        await page.keyboard.press("o")
        await expect(page.get_by_label("Your answer")).to_be_focused()
        await page.clock.pause_at(await page.evaluate("Date.now() + 1000"))
        await page.keyboard.type("Ba")
        await hub.up.hub.desk.seat(ANN, "terminal").answer(asked.id, Choices((Choice((), "Wren"),)))
        # Someone keeps typing, ten letters a second, while one card goes and another comes.
        card = page.locator(f"#card-{other.id}.stage-open")
        for _ in range(100):
            await page.keyboard.press("a")
            await page.clock.run_for(100)
            if await card.count():
                break
        for _ in range(12):
            await page.keyboard.press("a")
            await page.clock.run_for(100)
        await expect(page.locator(".over")).to_contain_text("ann answered: Wren")
        await expect(card).to_be_visible()
        await expect(card).not_to_have_attribute("data-armed", "")
        assert (await hub.up.hub.desk.ask(other.id)).settlement is None
        await page.clock.run_for(2000)
        await expect(card).to_have_attribute("data-armed", "")
        await page.keyboard.press("a")
        await page.clock.resume()
        await settled(hub, page, other.id, Allow())


async def test_whoever_writes_while_the_time_runs_out_goes_on_writing(shared: SharedPage) -> None:
    hub = shared.hub
    session = await shared.session("working")
    asked = await hub.ask(Question((Prompt("What name?"),)), session=session.id)
    page = await shared.show(f"/sessions/{session.id}")
    await page.locator(f"#card-{asked.id}[data-armed]").wait_for()
    await page.keyboard.press("o")
    text = page.get_by_label("Your answer")
    await expect(text).to_be_focused()
    await page.keyboard.type("Wr")
    await hub.up.hub.store.apply([SettleAsk(asked.id, Expired(datetime.now(UTC)))])
    await expect(page.locator(f"#card-{asked.id}")).to_contain_text("If you answer now, Claude gets it as a follow-up.")
    await expect(text).to_be_focused()
    await page.keyboard.type("en")
    await expect(text).to_have_value("Wren")


async def put(hub: Served, page: Page, body: Body) -> str:
    """An ask whose card takes keys."""
    ask = await hub.ask(body)
    await expect(page.locator(f"#card-{ask.id}.stage-open[data-armed]")).to_be_visible()
    return ask.id


async def settled(hub: Served, page: Page, ask: str, answer: Answer) -> None:
    await expect(page.locator(f"#card-{ask}.line-card")).to_be_visible()
    found = (await hub.up.hub.desk.ask(ask)).settlement
    assert isinstance(found, Answered)
    assert found.answer == answer


async def test_keys_go_through_the_sessions_and_to_the_next_that_needs_someone(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        quiet = await hub.session(phase="idle")
        for _ in range(2):
            await hub.session(phase="working")
        page = await screen.open(hub.up)
        rows, title = page.locator("a.session"), page.locator("main h1")
        await expect(rows).to_have_count(3)
        names = await page.locator(".session-title").all_inner_texts()

        # Without cards, j and k go through the sessions; J and K always do.
        for key, name in (("j", names[0]), ("J", names[1]), ("j", names[2]), ("J", names[2]), ("K", names[1])):
            await page.keyboard.press(key)
            await expect(title).to_have_text(name)

        await hub.ask(session=quiet.id)
        await expect(page.locator(".group.needs-you a.session")).to_have_count(1)
        await page.keyboard.press("u")
        await expect(title).to_have_text(quiet.title)
        await page.keyboard.press("J")
        await expect(title).not_to_have_text(quiet.title)


async def test_words_typed_before_the_search_is_loaded_are_searched_for(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session()
        await hub.publish("a walnut", session=session.id)
        ask = await hub.ask(Permission("Bash", {"command": "ls"}), session=session.id)
        page = await screen.open(hub.up, f"/sessions/{session.id}")
        await expect(page.locator(f"#card-{ask.id}")).to_be_visible()
        asked_for, loaded = asyncio.Event(), asyncio.Event()

        async def load(route: Route) -> None:
            asked_for.set()
            await loaded.wait()
            await route.continue_()

        await page.route("**/SearchDialog*.js", load)
        await page.keyboard.press("f")
        await asked_for.wait()
        await page.keyboard.type("adx")
        await page.keyboard.press("Backspace")
        await page.keyboard.press("Backspace")
        await page.keyboard.press("Backspace")
        await page.keyboard.type("walnut")
        loaded.set()

        await expect(page.get_by_role("dialog").get_by_role("searchbox")).to_have_value("walnut")
        await expect(page.locator(".found a")).to_have_count(1)
        assert (await hub.up.hub.desk.ask(ask.id)).state == "open"
        await expect(page.locator(f"#card-{ask.id} textarea")).to_have_count(0)
