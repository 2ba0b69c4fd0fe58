"""The page of a hub in another language: nothing of ours stays English, and everything still fits."""

import re
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, ViewportSize, expect

from api.served import Served, served
from browser.window import PAGE, PHONE, WIDE, go, needs_browser, window
from handraise.inbox.considering import Surroundings, consider
from handraise.model.actors import Person
from handraise.model.answers import Deny
from handraise.model.asks import Answered, Ask, Body, Form, Option, Origin, Permission, Plan, Prompt, Question
from handraise.model.items import ActionEnded, ActionStarted, Said, SaidTaken, Text
from handraise.model.projects import Options, Patience, Project
from handraise.model.rules import Rule
from handraise.model.sessions import Session
from handraise.model.trust import Brought, Trust
from handraise.policy.paths import normpath
from handraise.session.slots import behind
from handraise.session.translate import translate
from handraise.store.changes import Change, OpenAsk, PublishItems, SaveProject, SaveSession, SettleAsk
from handraise.texts import Catalogue, using
from handraise.texts.pseudo import LANGUAGE
from handraise.wire.frames import ApiRetry, RateLimit

pytestmark = needs_browser

# Every word that is not ours begins with "zz".
NOW, THEN = datetime.now(UTC), datetime(2024, 3, 3, 14, 5, tzinfo=UTC)
ANN = Person("zzann")
FIELDS = {"zzstreet": {"type": "string", "title": "Zzstreet"}, "zzfloor": {"type": "integer", "minimum": 0}}
BODIES: tuple[Body, ...] = (
    Permission("Bash", {"command": "zzrun"}, description="Zzdescribed"),
    Permission("Write", {"file_path": "/zzwork/zza", "content": "zz\n"}, diff="@@ -0,0 +1 @@\n+zz\n"),
    Question((Prompt("Zzwhich?", "Zzhead", (Option("Zzone", "Zzfirst"), Option("Zztwo"))),)),
    Plan("# Zzplan\n\nZzstep"),
    Form("Zzwhere?", "zzserver", {"properties": FIELDS, "required": ["zzstreet"]}),
    Trust("/zzwork", (Brought("hook", "zzhook", "zzhooked", ".zz"),), {}),
)
PAGES = (
    "/sessions",
    *(f"/admin/{each}" for each in ("projects", "rules", "tokens", "audit", "statistics", "notifications", "settings")),
)
WORDS = """() => {
  const shown = (element) => (element.closest("select") ?? element).checkVisibility({ visibilityProperty: true });
  const foreign = "code, kbd, pre, .mono, script, style";
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement: around, data } = walker.currentNode;
    if (data.trim() && !around.closest(foreign) && shown(around)) found.push(data.trim());
  }
  for (const element of document.body.querySelectorAll("[aria-label], [title], [placeholder], [alt]")) {
    if (element.closest(foreign) || !shown(element)) continue;
    for (const name of ["aria-label", "title", "placeholder", "alt"]) found.push(element.getAttribute(name) ?? "");
  }
  return found;
}"""
"""Everything that a person reads or hears, besides what a machine said."""
BEYOND = """() => {
  const scrolls = (element) =>
    element && (getComputedStyle(element).overflowX !== "visible" || scrolls(element.parentElement));
  const beyond = [...document.body.querySelectorAll("*")].filter((element) => {
    const { width, left, right } = element.getBoundingClientRect();
    const out = width > 1 && (right > innerWidth + 1 || left < -1);
    return out && element.checkVisibility() && !scrolls(element.parentElement);
  });
  if (document.documentElement.scrollWidth > innerWidth) beyond.push(document.documentElement);
  return beyond.map((element) => `${element.tagName} ${element.className}`);
}"""
"""What sticks out at the side."""
# Names, units and formats: the same in every language, or by the browser's own locale.
NOT_OURS = re.compile(
    r"\bzz\w*|\bhandraise (inbox|stop)\b|Handraise|\bWrite\b|\bUTC\b|\bowner\b|\btest\b|\bmin\b|\b[AP]M\b"
    # The identifiers of time zones.
    r"|\b[A-Z]\w+(/[\w -]+)+"
    r"|\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b",
    re.IGNORECASE,
)


def english(words: list[str]) -> list[str]:
    return [each for each in words if re.search(r"[A-Za-z]{2}", NOT_OURS.sub("", each))]


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
async def test_every_word_is_the_hubs_language_and_nothing_sticks_out(tmp_path: Path, size: ViewportSize) -> None:
    phone: dict[str, Any] = {"has_touch": True, "is_mobile": True} if size is PHONE else {}
    with using(LANGUAGE):
        async with served(tmp_path, page=PAGE) as hub, window(worker=True) as screen:
            session = await fill(hub)
            page = await screen.open(hub.up, viewport=size, **phone)
            async for where in everywhere(page, session):
                assert (where, english(await page.evaluate(WORDS))) == (where, [])
                assert (where, await page.evaluate(BEYOND)) == (where, [])


async def test_who_is_not_signed_in_reads_the_hubs_language_and_so_does_who_signs_in(tmp_path: Path) -> None:
    with using(LANGUAGE):
        async with served(tmp_path, page=PAGE) as hub, window(worker=True) as screen:
            page = await screen.stranger(hub.up)
            with screen.trouble_expected():
                await page.goto("/")
                await expect(page.locator("h1")).to_have_text("⟦Šíǧñ íñ ťó ýóúŕ ĥúƀ~~~~~~~⟧")
                await page.locator("input").fill("zzwrong")
                await page.keyboard.press("Enter")
                await expect(page.get_by_role("alert")).to_contain_text("⟦")
                assert english(await page.evaluate(WORDS)) == []
                await page.locator("input").fill(await hub.up.auth.make_code("zzann", "admin", ANN, "test"))
                await page.keyboard.press("Enter")
                await expect(page.locator(".connection.live").first).to_be_attached()
            assert english(await page.evaluate(WORDS)) == []


async def test_plurals_and_dates_are_right_in_the_hubs_language(tmp_path: Path) -> None:
    with using(LANGUAGE):
        async with served(tmp_path, page=PAGE) as hub, window(worker=True) as screen:
            session = await fill(hub)
            page = await screen.open(hub.up, f"/sessions/{session}", locale="en-US", timezone_id="UTC")
            forms = Catalogue(LANGUAGE).message("page.sessions.bypassing")
            assert not isinstance(forms, str | None)
            await expect(page.locator(".never-asks span")).to_have_text(forms["one"].replace("{count}", "1"))
            await expect(page.locator(".said-by").first).to_contain_text("Mar 3, 2024, 02:05 PM")
            assert await page.locator("html").get_attribute("lang") == LANGUAGE

            await hub.up.hub.store.apply([SaveSession(bypassing("s_more"))])
            await page.reload()
            await expect(page.locator(".never-asks span")).to_have_text(forms["other"].replace("{count}", "2"))


async def everywhere(page: Page, session: str) -> AsyncIterator[str]:
    for number in range(len(BODIES)):
        await expect(page.locator(".card.current, .waiting-row").first).to_be_visible()
        await page.locator(".card .unfolds > summary").evaluate_all("all => all.forEach((each) => each.click())")
        yield f"card {number}"
        await page.keyboard.press("j")
    await page.keyboard.press("?")
    await expect(page.locator("dialog")).to_be_visible()
    yield "keyboard"
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog")).to_have_count(0)
    for path in (f"/sessions/{session}", "/sessions/s_zzqueued", *PAGES):
        await go(page, path)
        await expect(page).to_have_url(re.compile(f"{path}$"))
        await expect(page.locator("main")).not_to_contain_text("⟦Ļóáđíñǧ")
        yield path


async def fill(hub: Served) -> str:
    """One card of each kind, a conversation, and something on each page."""
    numbers = count(1)
    session = Session("s_zz", None, "/zzwork", "zzclaude", "Zztitle", THEN, NOW, "working", run=1, cost_usd=1234.5)
    asks = [ask(f"a_{next(numbers)}", body, session.id) for body in BODIES]
    await hub.up.hub.store.apply(
        [
            SaveProject(Project("p_zz", "zzwork", "/zzwork", Options(), THEN)),
            SaveSession(session),
            SaveSession(bypassing("s_bypass")),
            *conversation(session.id),
            *(OpenAsk(each) for each in asks),
            OpenAsk(ask("a_over", BODIES[0], session.id)),
            SettleAsk("a_over", Answered(Deny("Zzno."), ANN, "terminal", NOW)),
            SaveSession(Session("s_zzqueued", None, "/zzwork", "zzqueued", "Zzqueued", THEN, NOW, "queued")),
            *notices("s_zzqueued"),
            OpenAsk(ask("a_stopped", BODIES[0], "s_zzqueued")),
        ]
    )
    await hub.up.hub.desk.stop("s_zzqueued")
    await hub.up.hub.desk.add_rule(Rule("", "deny", tool="Bash", command="zzpush *", message="Zzno."))
    return session.id


def bypassing(name: str) -> Session:
    return Session(name, None, "/zzother", f"zz{name}", "Zzother", NOW, NOW, "working", mode="bypassPermissions")


def ask(name: str, body: Body, session: str) -> Ask:
    """With why it was asked, what can be allowed for longer, and a note on its diff: as the inbox makes them."""
    tool = body.tool if isinstance(body, Permission) else "zztool"
    around = Surroundings("/zzwork", "default", Patience(), resolve=normpath, read=lambda _: None)
    return consider(Ask(name, session, None, body, tool, Origin(name), NOW, "session"), around, (), NOW)


def conversation(session: str) -> Iterator[Change]:
    yield PublishItems(session, THEN, Said("say", "Zzsaid", 0, ANN, "web"))
    yield PublishItems(session, THEN, SaidTaken("say"))
    yield PublishItems(session, THEN, Text("Zzanswer", "m"))
    yield PublishItems(session, THEN, ActionStarted("t1", "command", "zzls", "Bash", {"command": "zzls"}))
    yield PublishItems(session, THEN, ActionEnded("t1", "command", "zzls", True, "zzout"))


def notices(session: str) -> Iterator[Change]:
    limit = RateLimit({"status": "rejected", "rateLimitType": "zzhour", "resetsAt": "zz"})
    for frame in (limit, ApiRetry(1, 10, error_status=529)):
        yield PublishItems(session, THEN, *translate(frame, {}))
    yield PublishItems(session, THEN, behind([Session("zzs", None, "/zz", "zz", "Zz", THEN, THEN, "working")], {}))
