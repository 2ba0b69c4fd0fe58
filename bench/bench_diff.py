"""A diff of 100,000 lines in a real browser: what its ask weighs, and how long unfolding it takes until it is painted.

Next to it, on the same machine, a bare page that unfolds as many rows as fit on the screen: what the browser itself
needs for a press and a frame; and one that adds all of the lines, as a page without windowing would.
"""

import asyncio
import statistics
import sys
from datetime import UTC, datetime

from playwright.async_api import Page

import figures
from browsers import can_measure, hub_and_page
from handraise.model.actors import TheHub
from handraise.model.asks import Ask, Origin, Permission
from handraise.policy.diff import diff_of
from handraise.serving.serve import RunningHub
from handraise.store.changes import OpenAsk

LINES, ROUNDS = 100_000, 15
TARGET_MS = 100
# Presses a button, and waits until what that changed was painted: a frame, and the task after it.
_PRESS = """(selector) => new Promise((done) => {
  const button = document.querySelector(selector);
  const start = performance.now();
  button.click();
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - start);
    channel.port2.postMessage(0);
  });
})"""
# A page that does nothing but add rows to a table.
_BARE = """(count) => {
  document.body.innerHTML = '<main><table></table><button>More</button></main>';
  const row = (_, at) => `<tr><td>${at}</td><td>+</td><td>line ${at}</td></tr>`;
  const rows = Array.from({ length: count }, row).join("");
  document.querySelector("button").onclick = () => (document.querySelector("table").innerHTML = rows);
}"""
_SCREEN = 40


def content() -> str:
    return "".join(f"    value_{number} = compute({number}, 'text')  # why\n" for number in range(LINES))


async def main() -> None:
    if can_measure("diff"):
        async with hub_and_page() as (up, page):
            await measure(up, page)


async def measure(up: RunningHub, page: Page) -> None:
    code = await up.auth.make_code("owner", "admin", TheHub(), "bench")
    await page.goto(f"{up.base}/login?code={code}")
    fields = {"file_path": "/work/long.py", "content": content()}
    diff = diff_of("Write", fields, None)
    body = Permission("Write", fields, diff=diff.text if diff else None)
    await up.hub.store.apply([OpenAsk(Ask("a_1", None, None, body, "Write", Origin("r1"), datetime.now(UTC), "agent"))])
    size = "(query) => fetch(`/api/asks${query}`).then((got) => got.text()).then((text) => text.length)"
    whole, cut = await page.evaluate(size, ""), await page.evaluate(size, "?texts=excerpt")
    share = f"{cut / 1000:,.0f} KB of {whole / 1e6:.1f} MB ({cut / whole:.1%})"
    print(f"diff: an ask that writes {LINES:,} lines weighs {share}")

    await page.goto(up.base)
    await page.wait_for_selector(".card .diff button.more", timeout=60_000)
    unfolded = [await unfold(page) for _ in range(ROUNDS)]
    rows = await page.locator(".card .diff tr").count()
    end = await to_the_end(page)
    least = [await bare(page, up, _SCREEN) for _ in range(ROUNDS)]
    every = [await bare(page, up, LINES) for _ in range(3)]
    middle, slow = statistics.median(unfolded), sorted(unfolded)[int(ROUNDS * 0.9)]
    frame, all_of_it = statistics.median(least), statistics.median(every)
    print(
        f"diff: {LINES:,} lines are unfolded and painted in {middle:.0f} ms ({middle / frame:.1f} x a bare page that "
        f"adds {_SCREEN} rows in {frame:.0f}; {middle / all_of_it:.3f} x one that adds them all in {all_of_it:.0f}), "
        f"9 of 10 within {slow:.0f}; {rows} rows exist; target: {TARGET_MS}: "
        f"{'holds' if middle <= TARGET_MS else 'MISSED'}"
    )
    figures.report("lines unfolded, of a bare page", middle / frame)
    figures.report("an ask with excerpts, of all of it", cut / whole)
    print(f"diff: a jump to its last line shows it after {end:.0f} ms, fetched from the hub")


async def unfold(page: Page) -> float:
    """Folds it, lets the page rest, and unfolds it."""
    if await page.locator(".card .diff button.more[aria-expanded=true]").count():
        await page.evaluate("document.querySelector('.card .diff button.more').click()")
    await page.wait_for_selector(".card .diff button.more[aria-expanded=false]")
    await page.evaluate("document.querySelector('.card .diff button.more').scrollIntoView({ block: 'center' })")
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)))")
    return float(await page.evaluate(_PRESS, ".card .diff button.more"))


async def to_the_end(page: Page) -> float:
    return float(
        await page.evaluate(
            """(last) => new Promise((done) => {
              const start = performance.now();
              [...document.querySelectorAll(".diff-chunk")].at(-1).scrollIntoView({ block: "end" });
              const look = () => {
                const row = [...document.querySelectorAll(".diff-chunk:last-child tr")].at(-1);
                if (row?.textContent.includes(last)) done(performance.now() - start);
                else requestAnimationFrame(look);
              };
              look();
            })""",
            f"value_{LINES - 1} ",
        )
    )


async def bare(page: Page, up: RunningHub, count: int) -> float:
    await page.goto(up.base + "/page.webmanifest")
    await page.evaluate(_BARE, count)
    return float(await page.evaluate(_PRESS, "button"))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
