"""The page as a surface of the suite: one real browser, one page, one hub."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from playwright.async_api import Locator, Page, ViewportSize, expect

from browser.hands import until
from browser.home import free_port
from browser.window import GO, PAGE, PAINTED, READ, Window, window
from handraise.model.asks import Ask, Body, Form, Permission, Plan, Question
from handraise.present.headlines import without_marks
from handraise.present.outcomes import outcome
from surfaces.suite.cases import Gesture
from surfaces.suite.stream_relay import StreamRelay, stream_relay
from surfaces.suite.surface import ShownCard
from surfaces.suite.surface_hub import DEADLINE, SurfaceHub, quiet_config

CALM = 800
TALL = ViewportSize(width=1280, height=1000)
PRESSABLE = ".act:enabled > span:first-child, .row:has(:enabled) strong"
LABELS = f"""(card) => [...card.querySelectorAll("{PRESSABLE}")].map((each) => {{
  const copy = each.cloneNode(true);
  copy.querySelectorAll("small").forEach((detail) => detail.remove());
  return copy.textContent.trim();
}})"""
TEXT = "(id) => document.getElementById(id)?.innerText ?? ''"
CONTROLS = {"once": "a", "session": "s", "always": "w", "approve": "a", "free": "y", "outline": "p"}
"""Where the name of a control is its key."""


class PageSurface:
    """A signed-in page. Its clock runs, and is put forward while a person would look at a card."""

    person = "owner"
    source = "web"
    absent: Mapping[str, str] = {}
    differs: Mapping[str, str] = {"plan: revise, without a text": "Claude has to know what to change"}
    folded = frozenset({"stop", "suggestion", "fill"})
    follows = frozenset({"late", "delivered"})
    shows_all = True
    shows_again = True
    answers_late = True

    def __init__(self, hub: SurfaceHub, wire: StreamRelay, screen: Window, page: Page) -> None:
        self.hub = hub
        self._wire = wire
        self._screen = screen
        self._page = page
        self._here = "/"
        self.about_to_send: Callable[[], object] = bool
        self.presses = 1

    async def shown(self, ask: Ask) -> ShownCard:
        await self._go(ask)
        card = self._card(ask)
        await expect(self._page.locator(f"#card-{ask.id}.stage-open")).to_be_visible()
        await expect(card.locator(".as-written")).to_have_count(0)
        return ShownCard(flat(await card.inner_text()), tuple(await card.evaluate(LABELS)))

    async def act(self, ask: Ask, gesture: Gesture) -> None:
        card = self._card(ask)
        if await card.and_(self._page.locator(".line-card.stage-expired")).count():
            await card.locator(".folded").click()
        match ask.body:
            case Question():
                await self._pick(ask, ask.body, gesture)
            case Permission() | Plan() if gesture.act == "edit":
                await self._edit(ask, gesture)
            case Form() if gesture.act == "fill":
                await self._fill(ask, ask.body, gesture)
            case _ if gesture.act in ("deny", "stop", "revise"):
                await self._control(ask, "d").click()
                await card.locator("textarea").fill(gesture.text)
                await self._control(ask, "back" if gesture.act == "revise" else gesture.act).click()
            case _ if gesture.act == "suggestion":
                await card.locator(".longer summary").click()
                await self._press(ask, "suggestion-0")
            case _:
                await self._press(ask, self._name(ask, gesture))

    async def act_early(self, body: Body, gesture: Gesture) -> Ask:
        await self._page.clock.pause_at(await self._page.evaluate("Date.now() / 1000 + 1"))
        ask = await self.hub.open(body)
        await until(self._page, self._page.locator(f"#card-{ask.id}.stage-open"))
        await self._control(ask, self._name(ask, gesture)).click()
        await until(self._page, self._card(ask).locator(".refusal"))
        await self._page.clock.resume()
        return ask

    async def says(self, ask: Ask, *words: str) -> str:
        text, pause = await self._text(ask), 0.02
        try:
            async with asyncio.timeout(DEADLINE):
                while any(word not in text for word in words):
                    await asyncio.sleep(pause)
                    pause = min(pause * 1.3, 0.5)
                    text = await self._text(ask)
        except TimeoutError:
            raise AssertionError(f"never {words}: {text}") from None
        return text

    def own_outcome(self, ask: Ask) -> str:
        found = outcome(ask, "/work/app")
        assert found is not None
        return without_marks(found.yours)

    async def offered(self, ask: Ask) -> tuple[str, ...]:
        card = self._card(ask)
        return tuple(await card.evaluate(LABELS)) if await card.count() else ()

    @asynccontextmanager
    async def unaware(self) -> AsyncIterator[None]:
        with self._screen.trouble_expected(), self._wire.held():
            yield

    async def leave(self) -> None:
        self._trouble = AsyncExitStack()
        self._trouble.enter_context(self._screen.trouble_expected())
        self._wire.cut()
        await expect(self._page.locator(".connection.offline").first).to_be_attached()

    async def come_back(self) -> None:
        self._wire.mend()
        await self._page.clock.run_for(6000)
        await expect(self._page.locator(".connection.live").first).to_be_attached()
        await self._trouble.aclose()

    async def restart_hub(self) -> None:
        with self._screen.trouble_expected():
            await self.hub.stop()
            await expect(self._page.locator(".connection.offline").first).to_be_attached()
            await self.hub.start()
            await self._page.clock.run_for(6000)
            await expect(self._page.locator(".connection.live").first).to_be_attached()

    async def clear(self) -> None:
        assert self._screen.complaints == []

    async def _go(self, ask: Ask) -> None:
        path = f"/sessions/{ask.session}" if ask.session else "/"
        if path != self._here:
            await self._page.evaluate(GO, path)
            self._here = path

    async def _pick(self, ask: Ask, body: Question, gesture: Gesture) -> None:
        card = self._card(ask)
        for number, (prompt, choice) in enumerate(zip(body.questions, gesture.picks, strict=True)):
            await expect(card.locator("legend")).to_have_text(prompt.question)
            labels = [option.label for option in prompt.options]
            for label in choice.labels:
                await card.locator(f'.row[data-control="{labels.index(label) + 1}"]').click()
            if choice.text is not None:
                if prompt.options:
                    await card.locator(".row", has_text="Other").click()
                await card.locator("textarea").fill(choice.text)
            if number + 1 < len(body.questions) and (prompt.multi_select or choice.text is not None):
                await card.get_by_role("button", name="Next").click()
        await self._press(ask, "Enter")

    async def _edit(self, ask: Ask, gesture: Gesture) -> None:
        await self._control(ask, "e").click()
        await self._card(ask).locator("textarea").fill(gesture.text)
        await self._card(ask).get_by_role("button", name="Review changes").click()
        await self._press(ask, "a")

    async def _fill(self, ask: Ask, body: Form, gesture: Gesture) -> None:
        for name, value in gesture.fields.items():
            field = self._page.locator(f"#field-{ask.id}-{name}")
            title = body.schema["properties"][name]["title"]
            await expect(self._card(ask).locator("label").filter(has_text=title)).to_be_visible()
            if value is True:
                await field.check()
            elif await field.evaluate("(it) => it.tagName") == "SELECT":
                await field.select_option(value)
            else:
                await field.fill(str(value))
        await self._press(ask, "send")

    async def _press(self, ask: Ask, name: str) -> None:
        """After all of the card was on the screen for long enough."""
        await self._card(ask).evaluate(READ)
        await self._control(ask, name).scroll_into_view_if_needed()
        await self._page.evaluate(PAINTED)
        await self._page.clock.run_for(CALM)
        await expect(self._page.locator(f"#card-{ask.id}[data-armed]")).to_be_visible()
        self.about_to_send()
        await self._control(ask, name).click(click_count=self.presses)

    def _name(self, ask: Ask, gesture: Gesture) -> str:
        if gesture.act in ("decline", "without"):
            return "d"
        return CONTROLS.get(gesture.act, gesture.act)

    def _control(self, ask: Ask, name: str) -> Locator:
        return self._card(ask).locator(f'[data-control="{name}"]')

    def _card(self, ask: Ask) -> Locator:
        return self._page.locator(f"#card-{ask.id}")

    async def _text(self, ask: Ask) -> str:
        return flat(await self._page.evaluate(TEXT, f"card-{ask.id}"))


@asynccontextmanager
async def page_surface(tmp: Path) -> AsyncIterator[PageSurface]:
    """While this is entered."""
    port = free_port()
    async with (
        SurfaceHub(quiet_config(tmp, page=PAGE, port=port)) as hub,
        stream_relay(port) as wire,
        window() as screen,
    ):
        page = await screen.stranger(wire, viewport=TALL, reduced_motion="no-preference")
        await page.clock.install()
        code = await hub.up.auth.make_code("owner", "admin", hub.up.hub.desk.person, "test")
        entered = await page.context.request.get(f"{wire.base}/login?code={code}", max_redirects=0)
        assert entered.status == 303
        await page.goto("/")
        await expect(page.locator(".connection.live").first).to_be_attached()
        yield PageSurface(hub, wire, screen, page)


def flat(text: str) -> str:
    """On one line, and without the marks of quotes."""
    return " ".join(without_marks(text).split())
