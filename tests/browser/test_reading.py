"""Nothing is allowed unread by accident: long evidence says so, and is read to its end or skipped on purpose."""

import asyncio

import pytest
from playwright.async_api import Page, ViewportSize, expect

from browser.hands import HandsDesk, allow_of, calm, card_of, middle, until
from browser.window import PATIENCE, PHONE, needs_browser
from handraise.model.answers import Allow, Approve, Deny
from handraise.model.asks import Ask, Form, Permission, Plan

pytestmark = needs_browser

PLAN = "# Steps\n\n" + "\n".join(f"{number}. Do step {number}." for number in range(1, 60))
FILE = "".join(f"line {number}\n" for number in range(60))
DIFF = "@@ -1,40 +1,40 @@\n" + "".join(f"-old {number}\n+new {number}\n" for number in range(40))
ENDLESS = "@@ -0,0 +1,900 @@\n" + "".join(f"+line {number}\n" for number in range(900))
TURNED = "cp a\u202eb c\u200bd\r\necho two\r\necho three\n"


CUT = """
  (card) => [...card.querySelectorAll("*")]
    .filter((each) => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== "inline")
    .filter((each) => !each.closest(".unseen"))
    .map((each) => each.outerHTML.slice(0, 90))
"""
AT_END = """
  (card) => {
    const around = card.closest(".scrolls");
    return around.scrollTop + around.clientHeight >= around.scrollHeight - 2;
  }
"""
FRAMES = """
  async () => {
    for (let frame = 0; frame < 3; frame += 1) {
      await new Promise((drawn) => {
        const observer = new IntersectionObserver(() => drawn(observer.disconnect()));
        observer.observe(document.body);
      });
    }
  }
"""
"""Returns when the page was drawn, even while its clock stands still."""
GROW_TWICE = """
  (frame) => {
    const last = frame.firstElementChild.appendChild(new Image());
    last.style.height = "300px";
    const drawn = new IntersectionObserver(() => {
      drawn.disconnect();
      last.style.height = "900px";
    });
    drawn.observe(last);
  }
"""
"""The second time right after the first was drawn."""


def change(diff: str, name: str = "w.txt") -> Permission:
    return Permission("Write", {"file_path": f"/work/{name}", "content": FILE}, diff=diff)


async def test_what_is_typed_after_d_is_the_reason_however_long_the_change_is(at: HandsDesk) -> None:
    page = await at.sit()
    ask = await at.put(change(DIFF))
    await calm(page, ask)
    await expect(allow_of(page, ask)).to_be_in_viewport(ratio=1)
    await expect(card_of(page, ask).locator('[data-control="d"]')).to_be_in_viewport(ratio=1)
    for letter in "dask the owner first":
        await page.keyboard.press("Space" if letter == " " else letter)
    reason = page.get_by_label("Tell Claude what to do instead")
    await expect(reason).to_have_value("ask the owner first")
    await expect(reason).to_be_focused()
    await expect(reason).to_be_in_viewport(ratio=1)
    assert await at.still_open(page, ask)
    await page.keyboard.press("Enter")
    assert await at.answered(page, ask) == Deny("ask the owner first")


@pytest.mark.parametrize("size", [ViewportSize(width=1366, height=650), PHONE], ids=["low", "phone"])
async def test_a_plan_is_approved_once_its_end_was_on_the_screen(at: HandsDesk, size: ViewportSize) -> None:
    page = await at.sit(viewport=size)
    ask = await at.put(Plan(PLAN))
    await calm(page, ask)
    card = card_of(page, ask)
    await expect(card.locator(".unread")).to_be_in_viewport()
    assert 20 < await lines_left(page, ask) < 80
    await allow_of(page, ask).click()
    await expect(card.locator(".refusal")).to_have_text("Read to the end first")
    await expect(card.get_by_role("status")).to_have_text("Read to the end first")
    assert await at.still_open(page, ask)
    await scroll_through(page, ask)
    await expect(allow_of(page, ask)).not_to_contain_text("without reading")
    await allow_of(page, ask).click()
    assert await at.answered(page, ask) == Approve("default")


async def test_a_jump_to_the_end_is_not_reading_and_two_presses_go_on_without(at: HandsDesk) -> None:
    page = await at.sit()
    ask = await at.put(Plan(PLAN))
    await calm(page, ask)
    await page.locator("main").evaluate("main => main.scrollTo({ top: main.scrollHeight })")
    await page.clock.run_for(1000)
    await expect(card_of(page, ask)).not_to_have_attribute("data-seen", "")
    await page.keyboard.press("a")
    await expect(allow_of(page, ask)).to_contain_text("without reading the rest (")
    # The second press of two that belong together is no choice.
    await page.clock.run_for(500)
    await page.keyboard.press("a")
    assert await at.still_open(page, ask)
    await page.keyboard.press("a")
    assert await at.answered(page, ask) == Approve("default")


async def test_a_change_of_hundreds_of_lines_folds_and_counts_its_rest(at: HandsDesk) -> None:
    page = await at.sit()
    ask = await at.put(change(ENDLESS))
    await calm(page, ask)
    await expect(card_of(page, ask).locator("button.more")).to_have_text("601 more lines")
    assert await lines_left(page, ask) > 800
    await scroll_through(page, ask, seen=False)
    assert await lines_left(page, ask) == 601
    await allow_of(page, ask).click()
    assert await at.still_open(page, ask)
    await expect(allow_of(page, ask)).to_contain_text("Allow once without reading the rest (601 lines)")
    await allow_of(page, ask).click()
    assert await at.answered(page, ask) == Allow()


async def test_a_conversation_that_shows_the_end_of_a_card_has_not_shown_its_beginning(at: HandsDesk) -> None:
    session = (await at.hub.session(phase="working")).id
    page = await at.sit(f"/sessions/{session}")
    ask = await at.put(change(DIFF), session=session)
    await calm(page, ask)
    await expect(card_of(page, ask).locator(".unread")).to_contain_text("↑")
    await allow_of(page, ask).click()
    assert await at.still_open(page, ask)


async def test_a_card_out_of_sight_is_shown_and_nothing_else(at: HandsDesk) -> None:
    session = (await at.hub.session(phase="working")).id
    await at.hub.publish(*(f"Line {number}." for number in range(80)), session=session)
    page = await at.sit(f"/sessions/{session}")
    ask = await at.run("rm one", session=session)
    await calm(page, ask, seen=True)
    for key in "ade":
        await page.locator(".history").evaluate("element => element.scrollTo({ top: 0 })")
        await page.clock.run_for(1000)
        await expect(card_of(page, ask)).not_to_be_in_viewport()
        await page.keyboard.press(key)
        await expect(allow_of(page, ask)).to_be_in_viewport()
        for after in "daed":
            await page.clock.run_for(120)
            await page.keyboard.press(after)
        await expect(card_of(page, ask).locator("textarea")).to_have_count(0)
        assert await at.still_open(page, ask)


async def test_a_button_stays_under_the_press_while_claude_goes_on_writing(at: HandsDesk) -> None:
    session = (await at.hub.session(phase="working")).id
    await at.hub.publish(*(f"Line {number}." for number in range(80)), session=session)
    page = await at.sit(f"/sessions/{session}")
    ask = await at.run("rm one", session=session)
    await calm(page, ask, seen=True)
    edit = card_of(page, ask).locator('[data-control="e"]')
    place = await edit.bounding_box()
    await page.mouse.move(*await middle(edit))
    await page.mouse.down()
    await at.hub.publish("And then.\n\n" * 12, session=session)
    await until(page, page.get_by_text("And then."))
    await page.evaluate(FRAMES)
    assert await edit.bounding_box() == place
    await page.mouse.up()
    await expect(card_of(page, ask).locator("textarea")).to_be_focused()
    await page.clock.run_for(10)
    await page.evaluate(FRAMES)
    assert await card_of(page, ask).evaluate(AT_END)


async def test_who_reads_the_end_still_does_when_more_comes_before_the_browser_says_that_it_scrolled(
    at: HandsDesk,
) -> None:
    session = (await at.hub.session(phase="working")).id
    await at.hub.publish(*(f"Line {number}." for number in range(80)), session=session)
    page = await at.sit(f"/sessions/{session}")
    await until(page, page.get_by_text("Line 79."))
    await page.locator(".history").evaluate(GROW_TWICE)
    await page.evaluate(FRAMES)
    assert await page.locator(".history img").evaluate(AT_END)
    await expect(page.locator(".jump")).to_have_count(0)


async def test_a_field_that_only_the_whole_input_had_is_shown(at: HandsDesk) -> None:
    page = await at.sit()
    body = Permission(
        "Bash", {"command": "sleep 1", "description": "Wait", "run_in_background": True}, description="Wait"
    )
    ask = await at.put(body)
    await expect(card_of(page, ask).locator(".short-fields")).to_have_text("run_in_backgroundtrue")


async def test_no_line_ends_beyond_the_edge(at: HandsDesk) -> None:
    page = await at.sit(viewport=PHONE)
    padded = f"echo safe{' ' * 500}; rm -rf / #{'x' * 600}"
    ask = await at.run(padded)
    await expect(card_of(page, ask).locator(".machine")).to_contain_text("⟨500 blanks⟩")
    code = "```sh\necho " + "y" * 400 + "\n```\n\n| a | b |\n|---|---|\n| " + "z" * 300 + " | w |\n"
    plan = await at.put(Plan(code))
    assert await card_of(page, ask).evaluate(CUT) == []
    await page.keyboard.press("j")
    await until(page, card_of(page, plan))
    assert await card_of(page, plan).evaluate(CUT) == []


async def test_hidden_characters_and_line_endings_survive_an_edit(at: HandsDesk) -> None:
    page = await at.sit()
    ask = await at.put(Permission("Write", {"file_path": "/work/a.txt", "content": TURNED}))
    await calm(page, ask, seen=True)
    await page.keyboard.press("e")
    field = page.get_by_label("Edit content before you allow it")
    await expect(field).to_have_value("cp a⟨U+202E⟩b c⟨U+200B⟩d\necho two\necho three\n")
    await field.evaluate("field => field.setSelectionRange(field.value.indexOf('two'), field.value.indexOf('two') + 3)")
    await page.keyboard.insert_text("2\u200d2")
    await expect(field).to_have_value("cp a⟨U+202E⟩b c⟨U+200B⟩d\necho 2⟨U+200D⟩2\necho three\n")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator(".changes tr.added")).to_contain_text("echo 2⟨U+200D⟩2")
    await expect(page.locator(".changes tr.gone")).to_contain_text("echo two")
    await expect(page.locator(".changes tr.added")).to_have_count(1)
    # What was just changed is looked at before it is allowed.
    await page.keyboard.press("Control+Enter")
    await page.keyboard.press("a")
    assert await at.still_open(page, ask)
    await page.keyboard.press("a")
    edited = TURNED.replace("two", "2\u200d2")
    assert await at.answered(page, ask) == Allow(input={"file_path": "/work/a.txt", "content": edited})


async def test_a_form_is_not_sent_by_a_hand_that_was_elsewhere(at: HandsDesk) -> None:
    page = await at.sit()
    ask = await at.put(Form("Where?", "forms", {"properties": {"street": {"type": "string", "title": "Street"}}}))
    await until(page, card_of(page, ask))
    await page.clock.run_for(300)
    await page.get_by_role("button", name="Send").click()
    await expect(card_of(page, ask).locator(".refusal")).to_have_text("Wait a moment")
    assert await at.still_open(page, ask)


async def test_identical_asks_count_as_looked_at_only_when_read(at: HandsDesk) -> None:
    page = await at.sit()
    first, second = await at.put(change(DIFF)), await at.put(change(DIFF))
    await calm(page, first)
    await page.locator(".alike-row").nth(1).click()
    await calm(page, second)
    await expect(page.get_by_role("checkbox", name="Answer all 2 together")).to_be_disabled()
    await scroll_through(page, second)
    await page.locator(".alike-row").nth(0).click()
    await calm(page, first)
    await expect(page.get_by_role("checkbox", name="Answer all 2 together")).to_be_disabled()
    await scroll_through(page, first)
    await expect(page.get_by_role("checkbox", name="Answer all 2 together")).to_be_enabled()


async def lines_left(page: Page, ask: Ask) -> int:
    return int((await card_of(page, ask).locator(".unread").inner_text()).split()[0])


async def scroll_through(page: Page, ask: Ask, *, seen: bool = True) -> None:
    """By the wheel, less than a screen at a time, as far as it goes."""
    await page.mouse.move(*await middle(allow_of(page, ask)))
    around = page.locator("main.scrolls, main .scrolls").first
    while not await card_of(page, ask).evaluate(AT_END):
        before = await around.evaluate("around => around.scrollTop")
        await page.mouse.wheel(0, 250)
        async with asyncio.timeout(PATIENCE / 1000):
            while await around.evaluate("around => around.scrollTop") == before:
                await page.clock.run_for(4)
        await page.clock.run_for(40)
    await calm(page, ask, seen=seen)
