"""Sizes, forms and long histories."""

from pathlib import Path
from typing import Any

from playwright.async_api import expect

from api.served import Served, served
from browser.window import PAGE, PHONE, armed, needs_browser, window
from handraise.model.asks import Form, Permission, Plan

pytestmark = needs_browser

FORM = Form(
    "Where does the lamp go?",
    "forms",
    {
        "properties": {
            "street": {"type": "string", "title": "Street"},
            "floor": {"type": "integer", "minimum": 0, "maximum": 99, "default": 0},
            "lift": {"type": "boolean", "title": "Lift"},
            "door": {"type": "string", "enum": ["left", "right"]},
        },
        "required": ["street"],
    },
)


async def settled(hub: Served, name: str) -> dict[str, Any]:
    ask = await hub.up.hub.desk.ask(name)
    assert ask.settlement is not None
    async with hub.client("viewer") as client:
        response: dict[str, Any] = (await client.get(f"/api/asks/{name}")).json()["settlement"]["answer"]
        return response


async def test_a_form_is_checked_before_it_is_sent(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        ask = await hub.ask(FORM)
        page = await screen.open(hub.up)
        await armed(page, "form")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("main").get_by_text("Street is required.")).to_be_visible()
        await page.keyboard.type("Odeon 4")
        await page.get_by_label("floor").fill("3")
        await page.get_by_label("Lift").check()
        await page.get_by_label("door").select_option("right")
        await armed(page, "form")
        await page.keyboard.press("Control+Enter")
        await expect(page.locator("main").get_by_text("Nothing needs you.")).to_be_visible()
        assert await settled(hub, ask.id) == {
            "action": "accept",
            "content": {"street": "Odeon 4", "floor": 3, "lift": True, "door": "right"},
        }


async def test_a_phone_has_three_tabs_and_the_card_fills_it(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        ask = await hub.ask(Plan("# A plan\n\n- one\n- two"))
        page = await screen.open(hub.up, viewport=PHONE, has_touch=True, is_mobile=True)
        await armed(page, "plan")
        card = await page.locator(".card").bounding_box()
        assert card is not None
        assert card["width"] > PHONE["width"] * 0.9
        for button in await page.locator(".card .controls button").all():
            box = await button.bounding_box()
            assert box is not None
            assert box["height"] >= 44
        assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        await page.get_by_role("link", name="Sessions").tap()
        await expect(page.get_by_role("searchbox")).to_be_visible()
        await page.get_by_role("link", name="Inbox").tap()
        await armed(page, "plan")
        await page.get_by_role("button", name="Approve and accept edits").tap()
        await expect(page.locator("main").get_by_text("Nothing needs you.")).to_be_visible()
        assert await settled(hub, ask.id) == {"approve": True, "mode": "acceptEdits"}


async def test_a_card_that_has_just_appeared_ignores_clicks(tmp_path: Path) -> None:
    # Presses at the very moment in which the card is put into the page.
    script = """
      addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
        const button = document.querySelector(".card .primary");
        if (button && !window.pressed) { window.pressed = true; button.click(); }
      }).observe(document, { childList: true, subtree: true }));
    """
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        ask = await hub.ask(Permission("Bash", {"command": "npm test"}))
        page = await screen.open(hub.up, script=script)
        await armed(page, "permission")
        assert await page.evaluate("window.pressed")
        assert (await hub.up.hub.desk.ask(ask.id)).settlement is None
        await page.get_by_role("button", name="Allow once").click()
        await expect(page.locator("main").get_by_text("Nothing needs you.")).to_be_visible()


READ = """() => {
  const { top, bottom } = document.querySelector(".history").getBoundingClientRect();
  const middle = (top + bottom) / 2;
  const shown = [...document.querySelectorAll(".prose")].map((each) => [each.getBoundingClientRect(), each.innerText]);
  return shown.find(([at]) => at.top < middle && at.bottom > middle - 60)?.[1];
}"""
"""What stands in the middle."""


async def test_ten_thousand_items_open_at_once_and_history_comes_by_scrolling(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session(phase="working")
        await hub.publish(*(f"Line {number} of many, with `code`." for number in range(10_000)), session=session.id)
        page = await screen.open(hub.up, f"/sessions/{session.id}")
        await expect(page.locator("main").get_by_text("Line 9999 of many")).to_be_visible()
        assert await page.locator(".prose").count() <= 400
        first = await page.locator(".prose").first.inner_text()
        history = page.locator(".history")
        await history.evaluate("element => element.scrollTo({ top: 0 })")
        await expect(page.locator(".prose").first).not_to_have_text(first)
        await expect(page.get_by_role("button", name="Jump to latest")).to_be_visible()
        await page.wait_for_function("() => document.querySelector('.history').scrollTop > 0")  # what is read stays
        read = page.get_by_text(await (await page.wait_for_function(READ)).json_value())
        await expect(read).to_be_in_viewport()
        await hub.publish("And one more.", session=session.id)
        await expect(page.get_by_role("button", name="1 new")).to_be_visible()
        await expect(read).to_be_in_viewport()
        await page.get_by_role("button", name="1 new").click()
        await expect(page.locator(".prose").get_by_text("And one more.")).to_be_in_viewport()


async def test_a_card_is_in_the_first_frame_after_its_event(tmp_path: Path) -> None:
    # The hub is asked for nothing in between, nothing is waited for; how long the frame takes is for the benchmark.
    script = """
      const [Real, really] = [EventSource, fetch];
      window.fetched = 0;
      window.fetch = (...all) => { window.fetched += 1; return really(...all); };
      window.EventSource = class extends Real {
        constructor(...all) {
          super(...all);
          this.addEventListener("message", (event) => {
            if (!event.data.includes("ask.opened")) return;
            window.fetched = 0;
            requestAnimationFrame(() => {
              window.first = { cards: document.querySelectorAll(".card").length, fetched: window.fetched };
            });
          });
        }
      };
    """
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        page = await screen.open(hub.up, script=script)
        await expect(page.locator("main").get_by_text("Nothing needs you.")).to_be_visible()
        await hub.ask(Permission("Bash", {"command": "npm test"}))
        await page.wait_for_function("window.first !== undefined")
        assert await page.evaluate("window.first") == {"cards": 1, "fetched": 0}


async def test_the_first_visit_is_small_and_stays_at_home(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window(worker=True, records=True) as screen:
        page = await screen.open(hub.up)
        await expect(page.locator("main").get_by_text("Nothing needs you.")).to_be_visible()
        sizes = "performance.getEntriesByType('resource').map((each) => [each.name, each.encodedBodySize])"
        # Under load a browser lists some of them twice, once for its own cache.
        loaded = dict(await page.evaluate(sizes))
        assert sum(loaded.values()) + (PAGE / "index.html").stat().st_size < 110_000, loaded
        assert screen.requested
        assert all(url.startswith((hub.up.base, "data:")) for url in screen.requested), screen.requested
