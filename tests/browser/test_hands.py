"""Nobody allows by accident: unintended acts on a card, with real clicks, taps and keys."""

import asyncio
import re
from itertools import product

import pytest
from playwright.async_api import Page, expect

from browser.hands import HandsDesk, allow_of, calm, card_of, hit, middle, until
from browser.window import GO, PHONE, needs_browser
from handraise.model.actors import Person
from handraise.model.answers import Allow, Approve, Choice, Choices, Deny
from handraise.model.asks import Ask, Option, Permission, Plan, Prompt, Question

pytestmark = needs_browser

ANN = Person("ann")
GAPS = (50, 325, 690)
MORE_GAPS = (137, 264, 420, 560)
SENTENCES = ("ask the owner first", "yes", "aa")
MORE_SENTENCES = ("stop, that is wrong", "always say why", "a lot is wrong", "wait a sec")
long = pytest.mark.torture
WAIT = "Wait a moment"


@pytest.mark.parametrize("gaps", [GAPS, pytest.param(MORE_GAPS, marks=long)], ids=["few", "more"])
async def test_a_double_click_never_answers_the_card_behind(at: HandsDesk, gaps: tuple[int, ...]) -> None:
    page = await at.sit()
    for where, gap in product(("inbox", "chat"), gaps):
        session = (await at.hub.session(phase="working")).id if where == "chat" else None
        if session:
            await page.evaluate(GO, f"/sessions/{session}")
        first, second = await at.run("rm one", session=session), await at.run("rm two", session=session)
        await calm(page, first, seen=True)
        x, y = await middle(allow_of(page, first))
        # The page's clock stands still until the hub has it, however long that takes.
        async with page.expect_response(re.compile(r"/answer\b")):
            await page.mouse.click(x, y)
        passed = await until(page, page.locator(f"#card-{first.id}.line-card"))
        passed += await until(page, card_of(page, second))
        await page.clock.run_for(max(0, gap - passed))
        # Where the first one was (which may unfold something), and where the second one is by now.
        await page.mouse.click(x, y)
        await hit(page, allow_of(page, second))
        await until(page, page.locator(f"#card-{second.id} .refusal, #card-{second.id}.line-card"))
        assert await at.answer_to(second) is None, f"{where}, after {gap} ms, {passed} of them until the card was there"
        await expect(card_of(page, second).locator(".refusal")).to_have_text(WAIT)
        await expect(card_of(page, second).get_by_role("status")).to_have_text(WAIT)
        assert await at.answer_to(first) == Allow()
        assert await at.still_open(page, second), f"after {gap} ms"
        await at.clear_asks()


async def test_the_second_click_of_two_is_none(at: HandsDesk) -> None:
    page = await at.sit()
    ask = await at.run("rm one")
    await calm(page, ask, seen=True)
    await page.mouse.click(*await middle(allow_of(page, ask)), click_count=2)
    assert await at.answered(page, ask) == Allow()
    # Repeated clicks, as a browser counts them.
    behind = await at.run("rm two")
    await calm(page, behind, seen=True)
    await allow_of(page, behind).dispatch_event("click", {"detail": 2})
    assert await at.still_open(page, behind)


@pytest.mark.parametrize("count", [5, pytest.param(14, marks=long)])
async def test_whoever_looks_at_each_card_is_not_held_up(at: HandsDesk, count: int) -> None:
    asks = [await at.run(f"touch file-{number}") for number in range(count)]
    page = await at.sit()
    for ask in asks:
        await until(page, card_of(page, ask))
        await page.clock.run_for(750)
        await allow_of(page, ask).click()
        assert await at.answered(page, ask) == Allow()


@pytest.mark.parametrize("body", [Permission("Bash", {"command": "rm one"}), Plan("# Steps")], ids=["command", "plan"])
@pytest.mark.parametrize("text", [SENTENCES, pytest.param(MORE_SENTENCES, marks=long)], ids=["few", "more"])
async def test_a_sentence_that_no_field_takes_allows_nothing(
    at: HandsDesk, body: Permission | Plan, text: tuple[str, ...]
) -> None:
    ask = await at.put(body)
    page = await at.sit()
    for pace in (30, 180, 390):
        for sentence in text:
            await calm(page, ask, seen=True)
            await write(page, sentence, pace)
            assert await at.still_open(page, ask), sentence
            # A `d` asks for the reason, and what follows is that.
            if await page.locator(".card textarea").count():
                await page.keyboard.press("Escape")


async def test_a_sentence_that_begins_elsewhere_allows_nothing(at: HandsDesk) -> None:
    """It was started in a text field, or before the card appeared."""
    session = (await at.hub.session(phase="working")).id
    page = await at.sit(f"/sessions/{session}")
    await page.locator("#say").click()
    await write(page, "okay wa", 90)
    ask = await at.run("rm one", session=session)
    await until(page, card_of(page, ask))
    await page.evaluate("document.activeElement.blur()")
    await write(page, "it, that is a mistake", 90)
    assert await at.still_open(page, ask)
    await expect(page.locator("#say")).to_have_value("okay wa")


async def test_one_key_on_a_calm_card_is_enough(at: HandsDesk) -> None:
    page = await at.sit()
    for key in ("a", "1"):
        ask = await at.run("rm one")
        await calm(page, ask, seen=True)
        await page.keyboard.press(key)
        await expect(allow_of(page, ask)).to_have_class(re.compile("pressed"))
        assert await at.answered(page, ask) == Allow()
    for key in ("d", "5"):
        ask = await at.run("rm two")
        await until(page, card_of(page, ask))
        await page.keyboard.press(key)
        await page.keyboard.type("no")
        await page.keyboard.press("Enter")
        assert await at.answered(page, ask) == Deny("no")


async def test_a_key_that_is_held_down_answers_one_card_at_most(at: HandsDesk) -> None:
    page = await at.sit()
    asks = [await at.run(f"rm {number}") for number in range(3)]
    await calm(page, asks[0], seen=True)
    await page.keyboard.down("a")
    for _ in range(40):
        await page.keyboard.down("a")  # the browser says that it repeats
        await page.clock.run_for(50)
    await page.keyboard.up("a")
    await page.clock.run_for(1000)
    assert [await at.answer_to(ask) for ask in asks[1:]] == [None, None]


async def test_enter_that_is_held_down_on_a_button_presses_it_once(at: HandsDesk) -> None:
    page = await at.sit()
    first, second = await at.run("rm one"), await at.run("rm two")
    await calm(page, first, seen=True)
    await allow_of(page, first).focus()
    await page.keyboard.down("Enter")
    await until(page, card_of(page, second))
    await page.clock.run_for(800)
    await allow_of(page, second).focus()
    for _ in range(5):
        await page.keyboard.down("Enter")
        await page.clock.run_for(50)
    await page.keyboard.up("Enter")
    assert await at.answer_to(first) == Allow()
    assert await at.still_open(page, second)


async def test_a_button_takes_the_keyboard_and_a_screen_reader(at: HandsDesk) -> None:
    page = await at.sit()
    for press in ("Enter", "Space", "click"):
        ask = await at.run("rm one")
        await until(page, card_of(page, ask))
        await allow_of(page, ask).evaluate("button => button.click()")
        await expect(card_of(page, ask).get_by_role("status")).to_have_text(WAIT)
        await calm(page, ask, seen=True)
        await allow_of(page, ask).focus()
        if press == "click":
            await allow_of(page, ask).evaluate("button => button.click()")
        else:
            await page.keyboard.press(press)
        assert await at.answered(page, ask) == Allow()


async def test_a_card_that_moves_under_the_hand_is_not_answered(at: HandsDesk) -> None:
    """Another card comes above it; and once more while the button is held down."""
    page = await at.sit()
    ask = await at.run("rm one")
    await calm(page, ask, seen=True)
    await page.keyboard.press("j")  # this one stays the current one
    await card_of(page, ask).locator(".who").click()
    await allow_of(page, ask).focus()
    await calm(page, ask, seen=True)
    above = await at.run("rm zero", before=60)
    await until(page, page.locator(".waiting-row"))
    await page.clock.run_for(100)
    await page.mouse.click(*await middle(allow_of(page, ask)))
    assert await at.still_open(page, ask)

    x, y = await middle(allow_of(page, ask))
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.clock.run_for(100)
    await at.run("rm zero, too", before=50)
    await until(page, page.locator(".waiting-row").nth(1))
    await page.clock.run_for(20)
    await page.mouse.move(*await middle(allow_of(page, ask)))
    await page.mouse.up()
    assert await at.still_open(page, ask)
    assert await at.answer_to(above) is None


async def test_what_happens_between_press_and_release_is_noticed(at: HandsDesk) -> None:
    page = await at.sit()
    first, second = await at.run("rm one"), await at.run("rm two")
    await calm(page, first, seen=True)
    await page.mouse.move(*await middle(allow_of(page, first)))
    await page.mouse.down()
    await at.hub.up.hub.desk.seat(ANN, "terminal").answer(first.id, Deny("not now"))
    await until(page, card_of(page, second))
    await page.clock.run_for(800)
    await page.mouse.up()
    assert await at.still_open(page, second)

    await page.mouse.move(*await middle(allow_of(page, second)))
    await page.mouse.down()
    await page.set_viewport_size({"width": 1000, "height": 500})
    await page.clock.run_for(40)
    await page.mouse.move(*await middle(allow_of(page, second)))
    await page.mouse.up()
    assert await at.still_open(page, second)

    # Pressed on one control, released on another.
    await page.mouse.move(*await middle(card_of(page, second).locator('[data-control="d"]')))
    await page.mouse.down()
    await page.mouse.move(*await middle(allow_of(page, second)))
    await page.mouse.up()
    assert await at.still_open(page, second)
    await allow_of(page, second).click()
    assert await at.answered(page, second) == Allow()


async def test_a_page_that_comes_into_sight_is_looked_at_first(at: HandsDesk) -> None:
    page = await at.sit(reduced_motion="reduce")
    ask = await at.run("rm one")
    await calm(page, ask, seen=True)
    await page.evaluate(
        "() => { Object.defineProperty(document, 'hidden', { value: false, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')); }"
    )
    await page.clock.run_for(300)
    await allow_of(page, ask).click()
    assert await at.still_open(page, ask)
    await allow_of(page, ask).click()
    assert await at.answered(page, ask) == Allow()


@pytest.mark.parametrize("gaps", [(60, 650), pytest.param((150, 300, 450), marks=long)], ids=["few", "more"])
async def test_two_taps_on_a_phone_answer_one_card(at: HandsDesk, gaps: tuple[int, ...]) -> None:
    page = await at.sit(viewport=PHONE, has_touch=True, is_mobile=True)
    for gap in gaps:
        first, second = await at.run("rm one"), await at.run("rm two")
        await calm(page, first, seen=True)
        x, y = await middle(allow_of(page, first))
        await asyncio.sleep(0.7)
        await page.touchscreen.tap(x, y)
        await until(page, card_of(page, second))
        await page.clock.run_for(gap)
        await page.touchscreen.tap(x, y)
        await page.touchscreen.tap(*await middle(allow_of(page, second)))
        assert await at.answer_to(first) == Allow()
        assert await at.still_open(page, second)
        await asyncio.sleep(0.7)  # a browser counts taps by a clock of its own
        await page.touchscreen.tap(*await middle(allow_of(page, second)))
        assert await at.answered(page, second) == Allow()


async def test_a_question_waits_for_calm_too(at: HandsDesk) -> None:
    page = await at.sit()
    ask: Ask = await at.put(Question((Prompt("Which?", "", (Option("A"), Option("B"))),)))
    await until(page, card_of(page, ask))
    await page.clock.run_for(50)
    await write(page, "2 it is\n", 60)
    assert await at.still_open(page, ask)
    await page.keyboard.press("1")
    await page.keyboard.press("Enter")
    assert await at.answered(page, ask) == Choices((Choice(("A",)),))


async def test_a_plan_is_approved_by_one_key_and_not_by_a_held_one(at: HandsDesk) -> None:
    page = await at.sit()
    ask = await at.put(Plan("# Steps"))
    await calm(page, ask, seen=True)
    await page.keyboard.press("y")
    assert await at.answered(page, ask) == Approve("acceptEdits")


async def write(page: Page, text: str, pace: int) -> None:
    """Letter by letter, with this many milliseconds between them."""
    for letter in text:
        await page.keyboard.press({"\n": "Enter", " ": "Space"}.get(letter, letter))
        await page.clock.run_for(pace)
