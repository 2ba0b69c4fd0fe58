"""Every view, dialog and menu, wide and on a phone, in both themes: no barrier, no sideways scrolling, no motion."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest
from playwright.async_api import Page, ViewportSize, expect

from api.served import served
from browser import notified
from browser.showroom import BYPASS, Showroom
from browser.talk import LONG
from browser.window import GO, PAGE, PHONE, WIDE, armed, needs_browser, window
from browser.worker import DEADLINE
from channels.ntfy_server import NtfyServer, ntfy_server

pytestmark = needs_browser

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
LOOK = """
  async ({ where, colours, sizesOnly }) => {
    const look = async (wanted) => {
      // Without reading every style sheet again, which only rules about media need.
      const { violations } = await axe.run(where, { ...wanted, preload: false, resultTypes: ["violations"] });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" ")}`);
    };
    const page = document.documentElement;
    const sizes = { "target-size": { enabled: true } };
    const all = { rules: { ...sizes, "color-contrast": { enabled: colours } } };
    const found = await look(sizesOnly ? { runOnly: ["target-size", "scrollable-region-focusable"] } : all);
    if (colours) {
      page.dataset.theme = "dark";
      found.push(...(await look({ runOnly: ["color-contrast"] })));
      page.dataset.theme = "light";
    }
    if (page.scrollWidth > innerWidth) found.push("wider than the screen");
    for (const field of document.querySelectorAll("main :is(input, select, textarea):not(.unseen)")) {
      const name = field.outerHTML.slice(0, 160);
      field.scrollIntoView({ block: "end" });
      const { left, right, top, bottom, width, height } = field.getBoundingClientRect();
      if (width === 0) continue;
      if (width < 24 || height < 24) found.push(`only ${width} x ${height} px: ${name}`);
      const covered = (x, y) => {
        const bar = document.elementFromPoint(x, y)?.closest(".controls");
        return bar && !bar.contains(field);
      };
      const [x, y] = [[left + 4, right - 4], [top + 4, bottom - 4]];
      if (x.some((each) => y.some((other) => covered(each, other)))) found.push(`behind the controls: ${name}`);
    }
    const moving = document.getAnimations().filter(({ playState }) => playState === "running");
    return [...found, ...moving.map(() => "something moves")];
  }
"""
UNFOLD = """
  () => {
    const closed = [...document.querySelectorAll("main details:not([open])")];
    closed.forEach((each) => { each.open = true; });
    return !closed.length;
  }
"""
FONTS = {"dejavu": ("DejaVu Sans", "DejaVu Sans Mono"), "liberation": ("Liberation Sans", "Liberation Mono")}
"""What a machine's sans-serif usually is on Linux: one wide, one narrow. Every place is looked at with both."""
IS_THERE = """
  (font) => {
    const pen = document.createElement("canvas").getContext("2d");
    const wide = (fonts) => {
      pen.font = `40px ${fonts}`;
      return pen.measureText("The quick brown fox, iiii WWWW 0123").width;
    };
    return ["serif", "monospace"].every((other) => wide(`"${font}", ${other}`) === wide(`"${font}", sans-serif`));
  }
"""

Walk = AsyncIterator[tuple[str, str]]
"""The name of a place that is there to be looked at, and the part of the page that it is about."""


EVERYWHERE = ("body", "main", "dialog", ".card.current", ".menu", ".sessions")
sizes = pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])


@sizes
async def test_nobody_meets_a_barrier(tmp_path: Path, size: ViewportSize) -> None:
    # A phone has the colours of the wide page; what only a phone has is around its views.
    colours = ("body",) if size is PHONE else EVERYWHERE
    await look(tmp_path, size, colours, dialogs, inbox, chats, sessions, administration)


@pytest.mark.torture
async def test_nobody_meets_a_colour_on_a_phone_that_cannot_be_read(tmp_path: Path) -> None:
    await look(tmp_path, PHONE, EVERYWHERE, dialogs, inbox, chats, sessions, administration)


async def look(tmp: Path, size: ViewportSize, colours: Sequence[str], *parts: Callable[[Page], Walk]) -> None:
    """The fonts are chosen here, whatever the machine's own is. `colours`: where they are judged."""
    found: dict[str, list[str]] = {}
    phone = size is PHONE
    async with (
        ntfy_server(NtfyServer()) as ntfy,
        served(tmp, page=PAGE, notifications=notified.CONFIG) as hub,
        window(worker=True) as screen,
    ):
        await Showroom(hub.up).fill()
        await notified.set_notifications(hub.up, ntfy.port)
        page = await screen.open(
            hub.up, viewport=size, has_touch=phone, is_mobile=phone, reduced_motion="reduce", bypass_csp=True
        )
        await expect(page.locator("main .card h2").first).to_be_visible()
        for families in FONTS.values():
            for family in families:
                if not await page.evaluate(IS_THERE, family):
                    pytest.skip(f"the font {family} is not installed (dev/browser)")
            await set_in(page, families)
            await drawn_in(page, families[0])
        await page.add_script_tag(path=AXE)
        for part in parts:
            async for name, where in part(page):
                assert where in EVERYWHERE
                for font, families in FONTS.items():
                    await set_in(page, families)
                    # Colors, names and roles are the same in both.
                    first = font == "dejavu"
                    how = {"where": where, "colours": where in colours and first, "sizesOnly": not first}
                    troubles: list[str] = await page.evaluate(LOOK, how)
                    found |= {f"{name}, in {font}": troubles} if troubles else {}
    assert found == {}, json.dumps(found, indent=1)


async def set_in(page: Page, families: tuple[str, str]) -> None:
    """The whole page in these fonts."""
    for name, family in zip(("--sans", "--mono"), families, strict=True):
        await page.evaluate("(all) => document.documentElement.style.setProperty(...all)", [name, f'"{family}"'])


async def drawn_in(page: Page, family: str) -> None:
    """Until a heading is drawn in it: the browser tells what it drew last, which a new style doesn't change at once."""
    fonts: set[str] = set()
    try:
        async with asyncio.timeout(DEADLINE):
            while family not in fonts:
                await page.evaluate("() => new Promise(requestAnimationFrame)")
                fonts = await fonts_of(page)
    except TimeoutError:
        raise AssertionError(f"drawn in {fonts}, not in {family}") from None


async def fonts_of(page: Page) -> set[str]:
    """Those that the browser really draws a heading with."""
    session = await page.context.new_cdp_session(page)
    await session.send("DOM.enable")
    await session.send("CSS.enable")
    root = (await session.send("DOM.getDocument"))["root"]["nodeId"]
    node = (await session.send("DOM.querySelector", {"nodeId": root, "selector": "main h1, main h2"}))["nodeId"]
    used = await session.send("CSS.getPlatformFontsForNode", {"nodeId": node})
    await session.detach()
    return {each["familyName"] for each in used["fonts"]}


async def inbox(page: Page) -> Walk:
    card = page.locator(".card.current")
    await expect(page.locator("main .card").first).to_be_visible()
    yield "inbox", "body"
    seen: set[str] = set()
    for _ in range(8):
        kind = f"{await card.get_attribute('class')} with {await card.locator('.diff').count()} diffs"
        if kind not in seen:
            await unfold(page)
            yield kind, ".card.current"
        seen.add(kind)
        await page.keyboard.press("j")
    assert len(seen) > 4
    for key in "ed":
        await page.evaluate(GO, "/sessions/s_limit")
        await armed(page, "permission")
        await page.keyboard.press(key)
        await expect(page.locator(".card.current :is(textarea, input):focus")).to_have_count(1)
        yield f"card, key {key}", ".card.current"
        await page.evaluate(GO, "/")


async def dialogs(page: Page) -> Walk:
    """Before any other letter is typed: soon after one, `n` would count as part of a word."""
    dialog = page.locator("dialog")
    await page.keyboard.press("?")
    await expect(dialog.get_by_text("this list")).to_be_visible()
    yield "keys", "dialog"
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await page.keyboard.press("n")
    await dialog.get_by_role("combobox", name="Mode", exact=True).select_option("Never ask")
    yield "new session", "dialog"
    await dialog.get_by_role("combobox", name="Directory").fill("/")
    await expect(dialog.locator(".completions [role=option]").first).to_be_visible()
    yield "directories", "dialog"
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)


async def chats(page: Page) -> Walk:
    dialog = page.locator("dialog")
    await page.evaluate(GO, f"/sessions/{BYPASS}")
    await expect(page.locator(".bypass-sign")).to_be_visible()
    yield "bypass", "body"
    await page.evaluate(GO, "/sessions/s_end0")
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()
    yield "failed", "main"
    await page.evaluate(GO, f"/sessions/{LONG}")
    await expect(page.locator("main").get_by_text("Leave the health check alone.")).to_be_visible()
    await unfold(page)
    yield "conversation", "main"
    await page.get_by_label("More actions").click()
    await expect(page.locator(".menu-body")).to_be_visible()
    yield "menu", ".menu"
    await page.keyboard.press("Escape")
    async for place in composer(page):
        yield place
    for act in ("Fork…", "Mute notifications…", "Stop…"):
        await page.get_by_label("More actions").click()
        await page.get_by_role("button", name=act).click()
        await expect(dialog).to_be_visible()
        await expect(dialog.locator(".empty")).to_have_count(0)
        yield act, "dialog"
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)


async def composer(page: Page) -> Walk:
    await page.locator("#say").fill("/")
    await expect(page.get_by_role("option").first).to_be_visible()
    yield "commands", "main"
    await page.locator("#say").fill("")
    for name in ("Mode:", "Model:", "Context"):
        await page.get_by_role("button", name=name).click()
        await expect(page.locator(".menu-body")).to_be_visible()
        yield f"composer, {name}", ".menu"
        await page.keyboard.press("Escape")


async def sessions(page: Page) -> Walk:
    await page.evaluate(GO, "/sessions")
    await page.get_by_role("button", name="Filters").click()
    await expect(page.get_by_role("combobox", name="Cost")).to_be_visible()
    yield "sessions", ".sessions"


async def administration(page: Page) -> Walk:
    main = page.locator("main")
    await page.evaluate(GO, "/admin/projects")
    await expect(main.get_by_role("heading", name="web-shop")).to_be_visible()
    await unfold(page)
    yield "projects", "main"
    await page.evaluate(GO, "/admin/rules")
    # The projects before it have such buttons, too.
    await main.get_by_role("region", name="Rules").get_by_role("button", name="Revoke").first.click()
    await expect(main.get_by_role("button", name="Yes, revoke")).to_be_visible()
    yield "rules", "main"
    await main.get_by_role("button", name="Create a rule…").first.click()
    await expect(page.locator("dialog")).to_be_visible()
    yield "make a rule", "dialog"
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog")).to_have_count(0)
    await page.evaluate(GO, "/admin/tokens")
    await main.get_by_label("Name").fill("phone")
    await main.get_by_role("button", name="Create token").click()
    await expect(main.locator(".secret")).to_be_visible()
    yield "tokens", "main"
    await page.evaluate(GO, "/admin/audit")
    await main.get_by_role("combobox", name="Event", exact=True).select_option("rule made")
    await expect(main.locator("tbody tr, .entry-list > li")).to_have_count(3)
    await unfold(page)
    yield "audit", "main"
    await page.evaluate(GO, "/admin/statistics")
    await expect(main.locator(".chart")).to_have_count(4)
    await unfold(page)
    yield "statistics", "main"
    await page.evaluate(GO, "/admin/notifications")
    await expect(main.locator(".chain-step")).to_have_count(4)
    await expect(main.locator(".channel, .notice-log > li").first).to_be_visible()
    await expect(main.locator(".empty")).to_have_count(0)
    await main.get_by_role("button", name="Add step").click()
    await main.get_by_label("Delay").last.fill("soon")
    await main.locator("section", has=page.locator(".steps")).get_by_role("button", name="Save").click()
    await expect(main.get_by_role("alert").first).to_be_visible()
    await unfold(page)
    yield "notifications", "main"
    await main.get_by_role("button", name="Add channel").click()
    await expect(page.locator("dialog")).to_be_visible()
    yield "add a channel", "dialog"
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog")).to_have_count(0)
    await page.evaluate(GO, "/admin/settings")
    await expect(main.get_by_role("button", name="Sign out")).to_be_visible()
    yield "this browser", "main"
    await main.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_label("Token or one-time code")).to_be_visible()
    yield "login", "body"


async def unfold(page: Page) -> None:
    """Everything that folds, what is inside of it, too."""
    await page.wait_for_function(UNFOLD)
