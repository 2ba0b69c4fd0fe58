"""Whatever Claude, a tool, a file or a stranger writes stays text, everywhere on the page."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import Page, expect

from api.served import Served, served
from browser.hostile import TEXTS
from browser.window import PAGE, PHONE, WIDE, go, needs_browser, window
from handraise.desk.interface import Unfit
from handraise.model.actors import Person
from handraise.model.asks import Form, Offer, Option, Permission, Plan, Prompt, Question
from handraise.model.audit import Entry
from handraise.model.items import ActionEnded, ActionStarted, Content, Frame, Notice, Text, Thinking, TurnEnded
from handraise.model.projects import Options, Project
from handraise.model.rules import ProjectRule, Rule
from handraise.model.sessions import Ended, Phase, Say, Session
from handraise.model.tokens import Token
from handraise.store.changes import PublishItems, QueueSay, Record, SaveProject, SaveSession, SaveToken, TakeSay

pytestmark = needs_browser

SIZES = (WIDE, PHONE)
TRAP = (
    "window.trapped = []; for (const way of ['alert', 'confirm', 'prompt']) window[way] = (said) => trapped.push(said);"
)
STRANGERS = (
    "iframe, object, embed, script, style, link, base, meta, video, audio, math, form form, .block button, .block input"
)
HANDLERS = """
  [...document.querySelectorAll("body *")]
    .flatMap((each) => each.getAttributeNames())
    .filter((name) => name.startsWith("on"))
"""
LINKS = "(all) => all.map((a) => [a.target, a.rel, a.protocol])"
# Boxes that scroll by themselves may hold what is wider than they are.
OVERFLOWING = """
  () => {
    const scrolls = (each) => /auto|scroll|hidden/.test(getComputedStyle(each).overflowX);
    const held = (each) => {
      const above = each.parentElement;
      return above && above !== document.body && (scrolls(above) || held(above));
    };
    return [...document.querySelectorAll("body *")]
      .filter((each) => each.getBoundingClientRect().right > innerWidth + 1 && !held(each) && !each.closest(".unseen"))
      .map((each) => each.outerHTML.slice(0, 120));
  }
"""


async def harmless(page: Page, where: str) -> None:
    assert await page.evaluate("window.trapped") == [], where
    strangers = page.locator(f"body :is({STRANGERS})")
    assert await strangers.evaluate_all("all => all.map((each) => each.outerHTML.slice(0, 200))") == [], where
    assert await page.locator("main svg:not(.icon):not(.chart)").count() == 0, where
    assert await page.locator("main img").count() == 0, where
    assert await page.locator("body [style]:not(textarea, .entries, .diff, .diff-chunk)").count() == 0, where
    assert await page.evaluate(HANDLERS) == [], where
    assert await page.evaluate(OVERFLOWING) == [], where
    shown = await page.locator("body").inner_text()
    assert not any(letter in shown for letter in "\u202e\u2066\u200b\U000e0041"), where
    for target, rel, protocol in await page.locator(".prose a").evaluate_all(LINKS):
        assert [target, rel] == ["_blank", "noopener noreferrer nofollow"], where
        assert protocol in ("http:", "https:", "mailto:"), where


async def furnish(hub: Served) -> None:
    """A session for each text that is called by it, and says it wherever something can be said."""
    now = datetime.now(UTC)
    apply = hub.up.hub.store.apply
    for at, text in enumerate(TEXTS):
        name = f"s_h{at}"
        ended = Ended("failed", text, now) if at % 2 else None
        phase: Phase = "ended" if ended else "working"
        place = f"/work/{text[:60].replace('/', '|')}"
        session = Session(name, None, place, f"c{at}", text[:200] or "x", now, now, phase, ended=ended, model=text[:80])
        await apply([SaveSession(session)])
        rule = ProjectRule("deny", tool=text[:80] or "x", command=text[:300] or "x", message=text[:300])
        project = Project(
            f"p_{at}", f"{at} {text[:80]}", place, Options(append_system_prompt=text or None, rules=(rule,))
        )
        await apply([SaveProject(project)])
        with suppress(Unfit):  # a pattern that cannot be read makes no rule
            await hub.up.hub.desk.add_rule(Rule("", "deny", tool=text[:80] or "x", command=text[:300], message=text))
        # As if it had been made before such names were refused.
        who = Person(text[:80] or "x")
        token = Token(f"t_{at}", who.name, "viewer", f"hash {at}", now)
        await apply([SaveToken(token), Record(Entry(now, "token made", who, text[:40]))])


async def talk(hub: Served, session: str) -> None:
    """Everything that a conversation can hold, said by a stranger."""
    now = datetime.now(UTC)
    apply = hub.up.hub.store.apply
    for at, text in enumerate(TEXTS):
        edit = {"file_path": text[:90], "old_string": text, "new_string": f"{text}!"}
        contents: list[Content] = [
            Text(text, f"m{at}"),
            Thinking(text, f"m{at}"),
            ActionStarted(f"t{at}", "command", text[:200] or "x", "Bash", {"command": text, text[:50]: text}),
            ActionEnded(f"t{at}", "command", text[:200] or "x", False, text),
            ActionStarted(f"e{at}", "file_change", text[:200] or "x", "Edit", edit),
            ActionStarted(f"u{at}", "tool", text[:200] or "x", f"mcp__{text[:30]}__{text[:30]}", {text[:50]: [text]}),
            ActionStarted(f"i{at}", "tool", text[:200] or "x", "Agent", {}, f"u{at}"),
            Notice("warning", text),
            TurnEnded(at, 0.1, 1000, {}, True, text, text),
            Frame({"type": text, text: text}),
        ]
        await apply([PublishItems(session, now, each) for each in contents])
        say = Say(f"say{at}", session, text, Person(text[:60] or "x"), text[:20] or "x", now)
        await apply([QueueSay(say), *([TakeSay(say.id, now)] if at % 3 else [])])


async def ask(hub: Served, session: str) -> None:
    for text in TEXTS:
        options = (Option(text or "x", text, text), Option("B"))
        two = (Prompt(text or "x", text[:12], options), Prompt(text or "y", text[:12], options, True))
        await hub.ask(Question(two), session=session)
        offers = (Offer("session", text, (Rule("", "allow", tool=text, command=text),)),)
        bodies = {"command": text, text[:50]: text}
        await hub.ask(
            Permission("Bash", bodies, text, text, text, ({},), (text,), f"+{text}", text, offers), session=session
        )
        named = f"mcp__{text[:40]}__{text[:40]}"
        await hub.ask(Permission(named, {text[:50]: text}, text), session=session)
        await hub.ask(
            Permission("Write", {"file_path": text, "content": text}, diff=f"@@ -0,0 +1 @@\n+{text}"), session=session
        )
        await hub.ask(Plan(text or "x"), session=session)
        field = {"type": "string", "title": text, "description": text, "enum": [text, "b"], "enumNames": [text, text]}
        schema = {"properties": {text[:50]: field, f"x{text[:50]}": {**field, "enum": None, "default": text}}}
        await hub.ask(Form(text, text[:50], schema), session=session)


async def link(hub: Served, session: str) -> None:
    for text in TEXTS:
        await hub.ask(Form(text, text[:50], {}, text or "x"), session=session)
        await hub.ask(Form(text, text[:50], {}, f"https://example.com/{text}"), session=session)


async def unfold(page: Page) -> None:
    """Until nothing is left that can be unfolded or drawn later."""
    await page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    await expect(page.locator("details[open]:not(:has(> .unfolded))")).to_have_count(0)


async def test_on_the_cards_of_links(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session(phase="working")
        await link(hub, session.id)
        page = await screen.open(hub.up, f"/sessions/{session.id}", script=TRAP)
        await expect(page.locator("main .card .address")).to_have_count(2 * len(TEXTS))
        for size in SIZES:
            await page.set_viewport_size(size)
            await unfold(page)
            await harmless(page, f"links {size}")
        assert await page.locator(".address a:not([href^='https://example.com/'])").count() == 0


async def test_in_a_conversation_and_on_every_card(tmp_path: Path) -> None:  # lessons 39, 43
    async with served(tmp_path, page=PAGE) as hub, window(records=True) as screen:
        session, asked = await hub.session(phase="working"), await hub.session(phase="working")
        await talk(hub, session.id)
        page = await screen.open(hub.up, f"/sessions/{session.id}", script=TRAP)
        for _ in range(40):
            await page.locator(".history").evaluate("each => each.scrollTo({ top: 0 })")
            if await page.get_by_text("Start of the conversation").count():
                break
            await expect(page.locator(".event", has_text="Loading earlier")).to_have_count(0)
        await expect(page.locator(".failure").first).to_be_attached()
        for size in SIZES:
            await page.set_viewport_size(size)
            await unfold(page)
            await harmless(page, f"chat {size}")
            assert "⟨U+202E⟩" in await page.locator("main").inner_text()

        await ask(hub, asked.id)
        await go(page, f"/sessions/{asked.id}")
        await expect(page.locator("main .card")).to_have_count(6 * len(TEXTS))
        for size in SIZES:
            await page.set_viewport_size(size)
            await unfold(page)
            await harmless(page, f"cards {size}")
        await go(page, "/")
        await expect(page.locator(".card")).to_have_count(1)
        for size in SIZES:
            await page.set_viewport_size(size)
            await harmless(page, f"inbox {size}")
        assert screen.requested
        assert all(url.startswith((hub.up.base, "data:", "blob:")) for url in screen.requested), screen.requested


async def test_in_names_rules_tokens_and_the_audit(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window(records=True) as screen:
        await furnish(hub)
        page = await screen.open(hub.up, script=TRAP)
        for path in (
            "/sessions",
            "/sessions/s_h1",
            "/admin/projects",
            "/admin/rules",
            "/admin/tokens",
            "/admin/audit",
        ):
            await go(page, path)
            await expect(page.get_by_text("Loading…")).to_have_count(0)
            await expect(page.locator("body")).to_contain_text("alert(1)")
            for size in SIZES:
                await page.set_viewport_size(size)
                await expect(page.locator("body")).to_contain_text("alert(1)")
                await unfold(page)
                await harmless(page, f"{path} {size}")
        assert screen.requested
        assert all(url.startswith((hub.up.base, "data:", "blob:")) for url in screen.requested), screen.requested
