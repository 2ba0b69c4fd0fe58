"""Changes to files as people know them: both columns, numbers, words, colors; and long ones, of which little exists."""

import re
from typing import Any

from playwright.async_api import Page, Route, expect

from browser.hands import HandsDesk, allow_of, calm, card_of, until
from browser.window import PHONE, WIDE, needs_browser
from handraise.model.answers import Allow
from handraise.model.asks import Ask, Permission
from handraise.policy.diff import diff_of

pytestmark = needs_browser

OLD = "import os\n\ndef total(items):\n    result = 0\n    return result\n"
NEW = "import os\n\ndef total(items, discount=0):\n    # <b>net</b>\n    result = 0\n    return '</td><script>'\n"
COUNT = 100_000
HALVES = """
  (table) => [...table.rows].map((row) => [...row.querySelectorAll(".line, .absent")].map((cell) => {
    const box = cell.getBoundingClientRect();
    return { text: cell.textContent, width: Math.round(box.width), absent: cell.matches(".absent") };
  }))
"""


def change(old: str | None, new: str, name: str = "shop.py") -> Permission:
    fields = {"file_path": f"/work/{name}", "content": new}
    diff = diff_of("Write", fields, old)
    assert diff is not None
    return Permission("Write", fields, diff=diff.text, diff_note=diff.note)


def numbered(count: int) -> str:
    return "".join(f"line {number} of a file that nobody reads to its end\n" for number in range(count))


async def test_side_by_side_has_both_sides_and_both_ways_mark_words_and_syntax(at: HandsDesk) -> None:
    page = await at.sit(viewport=WIDE, reduced_motion="reduce")
    ask = await at.put(change(OLD, NEW))
    await calm(page, ask)
    card = card_of(page, ask)
    numbers = [await row.locator(".number").all_inner_texts() for row in await card.locator("tr:not(.hunk)").all()]
    assert numbers[:5] == [["1", "1"], ["2", "2"], ["3", ""], ["", "3"], ["", "4"]]
    await until(page, card.locator("tr.added .word"))
    await until(page, card.locator(".code-keyword"))
    words = await card.locator("tr.added", has_text="def total").locator(".word").all_text_contents()
    assert "".join(words) == ", discount=0"
    await expect(card.locator(".code-keyword").first).to_have_text("import")
    await expect(card.locator("tr.added .code-comment")).to_have_text("# <b>net</b>")
    await expect(card.locator("tr.added .code-string").last).to_have_text("'</td><script>'")

    await card.get_by_role("button", name="Side by side").click()
    await until(page, card.locator("table.split"))
    halves: list[list[dict[str, Any]]] = await card.locator("table.split").evaluate(HALVES)
    pairs = [pair for pair in halves if len(pair) == 2 and not any(each["absent"] for each in pair)]
    assert {"text": "def total(items):", "text2": "def total(items, discount=0):"} in [
        {"text": left["text"], "text2": right["text"]} for left, right in pairs
    ]
    for left, right in pairs:
        assert bool(left["text"]) == bool(right["text"]), "both halves have their text"
        assert abs(left["width"] - right["width"]) < 3, "both halves are equally wide"
        assert left["width"] > 300
    await page.reload()
    await until(page, card.locator("table.split"))
    await page.set_viewport_size(PHONE)
    await until(page, card.locator("table.unified"))
    assert await card.evaluate("card => card.scrollWidth <= card.clientWidth + 1")
    await page.set_viewport_size(WIDE)
    await until(page, card.locator("table.split"))
    await card.get_by_role("button", name="Unified").click()
    await until(page, card.locator("table.unified"))


async def test_line_endings_and_a_missing_newline_are_said_once(at: HandsDesk) -> None:
    page = await at.sit(viewport=WIDE, reduced_motion="reduce")
    ask = await at.put(change(OLD.replace("\n", "\r\n"), NEW.replace("\n", "\r\n").rstrip(), "windows.py"))
    await calm(page, ask)
    card = card_of(page, ask)
    await expect(card.locator(".diff > .note")).to_have_text("Line endings: CRLF · Removes the newline at end of file")
    await expect(card.locator("mark")).to_have_count(0)
    await expect(card.get_by_text("No newline")).to_have_count(0)
    await expect(card.locator(".who")).not_to_contain_text("hidden characters")


async def test_a_hundred_thousand_lines_are_few_rows_and_count_as_unread(at: HandsDesk) -> None:
    page = await at.sit(viewport=WIDE, reduced_motion="reduce")
    sizes: list[int] = []
    page.on("response", lambda response: sizes.append(int(response.headers.get("content-length", 0))))
    ask = await at.put(change(None, numbered(COUNT), "long.txt"))
    await calm(page, ask)
    card = card_of(page, ask)
    shown = await page.evaluate(
        "fetch('/api/asks?texts=excerpt').then((told) => told.text()).then((text) => text.length)"
    )
    assert shown < 200_000, "the list has an excerpt"
    await expect(card.locator("button.more")).to_have_text("99,701 more lines")
    await expect(card.locator(".count")).to_have_text(f"+{COUNT} −0")

    await card.locator("button.more").click()
    await until(page, card.get_by_role("button", name="Show less"))
    assert await card.locator("tr").count() < 1_500
    # The end is fetched when it is looked at, and what is between stays unread.
    await card.locator(".diff-chunk").last.evaluate("chunk => chunk.scrollIntoView({ block: 'end' })")
    await until(page, card.get_by_text("line 99999 of a file"))
    assert await card.locator("tr").count() < 1_500
    row = card.locator("tr", has_text="line 99999 of a file")
    await expect(row.locator(".number").last).to_have_text("100000")
    await expect(card.locator(".diff-head")).to_be_in_viewport()
    left = await lines_left(page, ask)
    assert 99_000 < left < COUNT
    assert max(sizes) < 1_000_000
    await calm(page, ask)
    await page.keyboard.press("a")
    assert await at.still_open(page, ask)
    await expect(allow_of(page, ask)).to_contain_text("without reading the rest")


async def test_lines_that_could_not_be_fetched_are_not_read(at: HandsDesk) -> None:
    page = await at.sit(viewport=WIDE, reduced_motion="reduce")
    ask = await at.put(change(None, numbered(1_200), "cut.txt"))
    lost: list[str] = []

    async def lose(route: Route) -> None:
        lost.append(route.request.url)
        await route.abort()

    await page.route(re.compile("/evidence/"), lose)
    with at.screen.trouble_expected():
        await calm(page, ask)
        card = card_of(page, ask)
        await card.locator("button.more").click()
        await until(page, card.get_by_role("button", name="Show less"))
        await card.locator(".diff-chunk").last.evaluate("chunk => chunk.scrollIntoView({ block: 'end' })")
        await until(page, card.get_by_role("button", name="Retry").last)
        assert lost
        before = await lines_left(page, ask)
        for _ in range(5):
            await page.mouse.wheel(0, -300)
            await page.clock.run_for(300)
        await expect(card).not_to_have_attribute("data-seen", "")
        # Nothing of what is blank counts, however long it is on the screen.
        assert await lines_left(page, ask) > 300
        assert before > 300
    await page.unroute(re.compile("/evidence/"))
    await card.get_by_role("button", name="Retry").first.click()
    await until(page, card.locator("tr", has_text="line 11"))


async def test_a_long_input_is_edited_whole(at: HandsDesk) -> None:
    page = await at.sit(viewport=WIDE, reduced_motion="reduce")
    content = numbered(1_000)
    ask = await at.put(change(None, content, "edit.txt"))
    await calm(page, ask)
    card = card_of(page, ask)
    await card.locator('[data-control="e"]').click()
    await until(page, card.locator("textarea"))
    field = card.locator("textarea")
    assert await field.input_value() == content
    await field.evaluate(
        """field => {
          field.setRangeText("first\\n", 0, 0);
          field.dispatchEvent(new InputEvent("input", { bubbles: true }));
        }"""
    )
    await card.get_by_role("button", name="Review changes").click()
    await until(page, card.get_by_role("button", name="Allow edited version"))
    await calm(page, ask)
    for _ in range(2):  # the change itself was not read to its end
        await card.get_by_role("button", name="Allow edited version").click()
        await page.clock.run_for(1_500)
    assert await at.answered(page, ask) == Allow(
        "once", {"file_path": "/work/edit.txt", "content": f"first\n{content}"}
    )


async def lines_left(page: Page, ask: Ask) -> int:
    words = (await card_of(page, ask).locator(".unread").inner_text()).split()
    return int(words[0].replace(",", ""))
