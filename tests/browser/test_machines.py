"""Several machines on the page: where things are, what it means that one is away, and what can be done about it."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from playwright.async_api import Page, expect

from api.served import TESTER, Served, served
from browser.window import GO, PAGE, PHONE, WIDE, Window, armed, go, needs_browser, window
from handraise.model.asks import Ask, Origin, Permission
from handraise.model.instructions import Instruction
from handraise.model.machines import Machine, Place
from handraise.model.projects import Options, Project
from handraise.model.sessions import Phase, Say, Session
from handraise.store.changes import (
    GiveInstruction,
    OpenAsk,
    QueueSay,
    SaveMachine,
    SaveProject,
    SaveSession,
    SettleInstruction,
)

pytestmark = needs_browser

NOW = datetime.now(UTC)
AWAY = Machine("m_far", "build-2", "1.0.0", 4, NOW, NOW, 1, away_since=NOW - timedelta(minutes=5))
ONLINE = Machine("m_near", "laptop", "1.0.1", 8, NOW, NOW + timedelta(days=9000), 1)
GATEWAY = Machine("m_gate", "gateway", "1.0.1", 0, NOW, NOW + timedelta(days=9000), 1)
SENTENCE = "Machine build-2 is away. Your answer is stored and will be delivered when it returns."


class MachinesPage(SimpleNamespace):
    """A hub with three more machines, and one page on it."""

    hub: Served
    screen: Window
    page: Page

    async def apply(self, *changes: object) -> None:
        await self.hub.up.hub.store.apply(changes)  # type: ignore[arg-type]

    async def go(self, path: str) -> Page:
        """Without reading everything again, as a person moves about."""
        await self.page.evaluate(GO, path)
        return self.page


def session(
    name: str, machine: str, title: str, phase: Phase = "working", directory: str = "/work/shop"
) -> SaveSession:
    return SaveSession(Session(name, None, directory, f"claude-{name}", title, NOW, NOW, phase, machine=machine))


def ask(name: str, session: str, machine: str, command: str) -> OpenAsk:
    body = Permission("Bash", {"command": command})
    return OpenAsk(Ask(name, session, None, body, "Bash", Origin(name), NOW, "session", machine=machine))


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MachinesPage]:
    async with served(tmp_path_factory.mktemp("machines"), page=PAGE) as hub, window() as screen:
        made = MachinesPage(hub=hub, screen=screen)
        shop = Project("p_shop", "shop", "", Options(), NOW, (Place("m_far", "/srv/shop"), Place("m_near", "/me/shop")))
        await made.apply(
            *(SaveMachine(each, NOW) for each in (AWAY, ONLINE, GATEWAY)),
            SaveProject(shop),
            session("s_far", "m_far", "Build the release"),
            session("s_near", "m_near", "Fix the test"),
        )
        made.page = await screen.open(hub.up)
        yield made


async def test_every_session_says_where_it_is_and_can_be_filtered_by_it(house: MachinesPage) -> None:
    page = await house.go("/")
    rows = page.locator("a.session")
    await expect(rows.filter(has_text="Build the release")).to_contain_text("build-2 (away)")
    await expect(rows.filter(has_text="Fix the test")).to_contain_text("laptop")
    await page.get_by_role("button", name="Filters").click()
    await page.locator(".narrow").get_by_label("Machine").select_option("build-2")
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="Clear filters").click()
    await expect(rows).to_have_count(2)
    await page.get_by_role("button", name="Filters").click()


async def test_a_card_of_a_machine_that_is_away_can_be_answered_and_says_what_happens_then(house: MachinesPage) -> None:
    await house.apply(ask("a_far", "s_far", "m_far", "make release"))
    page = await house.go("/")
    await armed(page, "permission")
    card = page.locator(".card.permission")
    await expect(card.locator(".away-note")).to_have_text(SENTENCE)
    await expect(card.locator(".who")).to_contain_text("build-2 (away)")
    await card.get_by_role("button", name="Allow once").click()
    await expect(page.locator(".line-card")).to_contain_text("stored; delivered when build-2 returns")


async def test_the_inbox_shows_one_machine_and_keys_never_reach_what_it_hides(house: MachinesPage) -> None:
    await house.apply(ask("a_near", "s_near", "m_near", "npm test"))
    page = await house.go("/")
    choice = page.locator(".inbox-head").get_by_label("Machine")
    await choice.select_option("build-2")
    await expect(page.locator("main .card")).to_have_count(0)
    await expect(page.locator("main")).to_contain_text("Nothing on build-2 needs you.")
    await page.keyboard.press("a")
    await page.keyboard.press("1")
    await page.get_by_role("button", name="Show all machines").click()
    await armed(page, "permission")
    await expect(page.locator(".card.permission")).to_contain_text("laptop")
    assert (await house.hub.up.hub.desk.ask("a_near")).state == "open"
    await page.locator(".card.permission").get_by_role("button", name="Allow once").click()
    await expect(page.locator(".card")).to_have_count(0)


async def test_what_is_not_possible_while_away_is_disabled_and_says_why(house: MachinesPage) -> None:
    page = await house.go("/sessions/s_far")
    head = page.locator(".session-head")
    await expect(head).to_contain_text("build-2 (away)")
    await expect(page.locator(".away-sign")).to_contain_text("Messages, stop and resume wait until it returns.")
    pickers = [page.get_by_role("button", name=name) for name in ("Mode:", "Model:")]
    for control in (head.get_by_role("button", name="Interrupt"), *pickers):
        await expect(control).to_be_disabled()
        await expect(control).to_have_attribute("title", "Machine build-2 is away.")
    await head.locator(".menu > button").click()
    await expect(page.get_by_role("button", name="Stop…")).to_be_enabled()
    await page.keyboard.press("Escape")
    await house.go("/sessions/s_near")
    await expect(head.get_by_role("button", name="Interrupt")).to_be_enabled()
    await expect(page.locator(".away-sign")).to_have_count(0)


async def test_what_waits_for_a_machine_is_shown_and_taken_back(house: MachinesPage) -> None:
    stop = Instruction("i_stop", "m_far", "s_far", "stop", TESTER, "web", NOW)
    await house.apply(QueueSay(Say("say-1", "s_far", "Skip the docs", TESTER, "web", NOW)), GiveInstruction(stop))
    page = await house.go("/sessions/s_far")
    waiting = page.locator(".not-taken")
    await expect(waiting.filter(has_text="Stop")).to_contain_text("waiting for build-2")
    await expect(waiting.filter(has_text="Skip the docs")).to_contain_text("not yet received by Claude")
    await waiting.filter(has_text="Stop").get_by_role("button", name="Take back").click()
    await expect(waiting).to_have_count(1)
    await waiting.get_by_role("button", name="Take back").click()
    await expect(waiting).to_have_count(0)
    assert await house.hub.up.hub.store.says("s_far") == []


async def test_an_instruction_that_was_refused_later_is_in_the_conversation(house: MachinesPage) -> None:
    resume = Instruction("i_resume", "m_far", "s_far", "resume", TESTER, "web", NOW)
    page = await house.go("/sessions/s_far")
    await house.apply(GiveInstruction(resume))
    await expect(page.locator(".not-taken")).to_contain_text("Resume")
    await house.apply(SettleInstruction("i_resume", "refused", NOW, "The session is running."))
    await expect(page.locator(".not-taken")).to_have_count(0)
    await expect(page.locator(".history")).to_contain_text("Not done: Resume. The session is running.")


async def test_a_machine_that_returns_changes_everything_at_once(house: MachinesPage) -> None:
    page = await house.go("/sessions/s_far")
    await expect(page.locator(".away-sign")).to_be_visible()
    await house.apply(SaveMachine(replace(AWAY, away_since=None, seen_at=ONLINE.seen_at), NOW))
    await expect(page.locator(".away-sign")).to_have_count(0)
    await expect(page.get_by_role("button", name="Interrupt")).to_be_enabled()
    await house.apply(SaveMachine(AWAY, NOW))
    await expect(page.locator(".away-sign")).to_be_visible()


async def test_a_session_starts_only_where_its_project_is(house: MachinesPage) -> None:
    page = await house.go("/")
    await page.keyboard.press("n")
    dialog = page.get_by_role("dialog")
    machine = dialog.get_by_label("Machine")
    await expect(machine.locator("option")).to_have_text(["build-2 (away; starts when it returns)", "laptop"])
    await expect(machine).to_have_value("m_near")
    await house.apply(SaveMachine(replace(AWAY, away_since=None, seen_at=ONLINE.seen_at), NOW))
    await expect(machine.locator("option")).to_have_text(["Least busy", "build-2", "laptop"])
    await machine.select_option("Least busy")
    await dialog.get_by_label("What should Claude do?").fill("Ship it")
    sent: asyncio.Future[dict[str, object]] = asyncio.get_running_loop().create_future()

    async def refuse(route: object) -> None:
        sent.set_result(route.request.post_data_json)  # type: ignore[attr-defined]
        await route.fulfill(status=409, json={"error": {"code": "refused", "message": "Not now."}})  # type: ignore[attr-defined]

    await page.route("**/api/sessions", refuse)
    with house.screen.trouble_expected():
        await dialog.get_by_role("button", name="Start").click()
        await expect(dialog.get_by_role("alert")).to_have_text("Not now.")
    await page.unroute("**/api/sessions")
    wanted = await sent
    assert (wanted["project"], wanted["machine"]) == ("p_shop", "any")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await house.apply(SaveMachine(AWAY, NOW))


async def test_machines_are_listed_renamed_and_forgotten(house: MachinesPage) -> None:
    page = await house.go("/admin/machines")
    await expect(page.locator(".admin-nav [aria-current]")).to_have_text("Machines")
    far = page.locator("tbody tr", has_text="build-2")
    await expect(far).to_contain_text("away since")
    await expect(page.locator("tbody tr", has_text="laptop")).to_contain_text("online")
    await expect(page.locator("tbody tr", has_text="gateway").last).to_contain_text("none (gateway)")
    await far.get_by_role("button", name="Rename build-2").click()
    await page.get_by_role("dialog").get_by_role("textbox").fill("builder")
    await page.keyboard.press("Enter")
    far = page.locator("tbody tr", has_text="builder")
    await expect(far).to_be_visible()
    await far.get_by_role("button", name="Forget").click()
    with house.screen.trouble_expected():
        await far.get_by_role("button", name="Yes, forget it").click()
        await expect(page.get_by_role("alert")).to_contain_text("builder")
    await far.get_by_role("button", name="Rename builder").click()
    await page.get_by_role("dialog").get_by_role("textbox").fill("build-2")
    await page.keyboard.press("Enter")
    await expect(page.locator("tbody tr", has_text="build-2")).to_be_visible()


async def test_a_project_gets_a_directory_on_another_machine(house: MachinesPage) -> None:
    page = await house.go("/admin/projects")
    panel = page.locator("section.panel", has_text="shop").first
    await panel.locator("summary", has_text="Directories").click()
    await expect(panel.locator(".own-rules")).to_contain_text("/srv/shop")
    await expect(panel.locator(".own-rules")).to_contain_text("laptop")


async def test_the_page_says_what_is_wrong_with_the_hub(house: MachinesPage) -> None:
    page = await house.go("/")
    streams = house.hub.up.app.streams
    before = streams.trouble
    streams.trouble = lambda: "Another hub runs as `laptop`. Stop one of them."
    await house.hub.publish("Something happens", session="s_near")
    await expect(page.locator(".never-asks[role=alert]")).to_have_text("Another hub runs as laptop. Stop one of them.")
    streams.trouble = before
    await house.hub.publish("Something else happens", session="s_near")
    await expect(page.locator(".never-asks[role=alert]")).to_have_count(0)


async def test_with_one_machine_nothing_of_this_is_shown(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        alone = (await hub.up.hub.desk.machines())[0].machine.id
        await hub.up.hub.store.apply([session("s_1", alone, "Fix it"), ask("a_1", "s_1", alone, "npm test")])
        page = await screen.open(hub.up)
        await armed(page, "permission")
        await page.get_by_role("button", name="Filters").click()
        await expect(page.locator(".narrow")).to_be_visible()
        await page.keyboard.press("Escape")
        assert "Machine" not in await page.locator("body").inner_text()
        await expect(page.locator(".on-machine, .machine-filter")).to_have_count(0)
        await go(page, "/admin/projects")
        await expect(page.locator(".admin-nav a", has_text="Rules")).to_be_visible()
        await expect(page.locator(".admin-nav a", has_text="Machines")).to_have_count(0)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
async def test_nothing_of_it_is_a_barrier(house: MachinesPage, size: dict[str, int]) -> None:
    from browser.test_accessible import AXE, LOOK

    await house.apply(ask(f"a_axe_{size['width']}", "s_far", "m_far", f"make clean-{size['width']}"))
    page = await house.screen.open(house.hub.up, viewport=size, reduced_motion="reduce", bypass_csp=True)
    await page.add_script_tag(path=AXE)
    for path in ("/", "/sessions", "/sessions/s_far", "/admin/machines"):
        await go(page, path)
        await expect(page.locator("main")).to_be_visible()
        await expect(page.locator("main .empty", has_text="Loading")).to_have_count(0)
        # A phone has the colours of the wide page; what only a phone has is around its views.
        colours = size is WIDE or path == "/"
        looked = await page.evaluate(LOOK, {"where": "body", "sizesOnly": False, "colours": colours})
        assert looked == [], (path, looked)
