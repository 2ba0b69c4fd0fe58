"""A page at one hub, and a session that runs on another machine: its text appears while Claude writes it."""

import asyncio
from pathlib import Path

from msgspec.structs import replace
from playwright.async_api import Page, expect

from api.hubs import two_hubs, wanted_by
from api.served import Served, served
from api.test_changes import repository
from browser.window import PAGE, go, needs_browser, window
from handraise.model.items import Preview
from handraise.model.sessions import Session
from handraise.store.changes import SaveSession

pytestmark = needs_browser


async def a_session(hub: Served) -> Session:
    session = replace(await hub.session(phase="working"), machine=hub.up.hub.store.machine)
    await hub.up.hub.store.apply([SaveSession(session)])
    return session


async def write(hub: Served, session: str, text: str) -> None:
    """As Claude does, piece by piece, until it is cancelled."""
    while True:
        hub.up.hub.feed.preview(Preview(session, "m_1", 0, "text", text))
        await asyncio.sleep(0.04)


def streams_of(page: Page) -> list[str]:
    found: list[str] = []
    page.context.on(
        "request", lambda request: found.append(request.url.partition("?")[2]) if "/api/feed" in request.url else None
    )
    return found


async def test_text_of_a_session_on_another_machine_appears_in_the_tabs_that_show_it(tmp_path: Path) -> None:
    async with two_hubs(tmp_path, page=PAGE) as (one, two), window() as screen:
        there, quiet = await a_session(two), await a_session(two)
        page = await screen.open(one.up)
        streams = streams_of(page)
        assert wanted_by(one) == frozenset()

        await page.goto(f"{one.up.base}/sessions/{there.id}")
        writing = asyncio.create_task(write(two, there.id, "**half** a <b>sentence"))
        shown = page.locator(".streaming")
        await expect(shown).to_have_text("half a <b>sentence")
        assert wanted_by(one) == {there.id}
        assert any(f"watch={there.id}" in each for each in streams)

        # A second tab shares the stream of the first, and what it shows comes, too.
        other = await page.context.new_page()
        await other.goto(f"{one.up.base}/sessions/{quiet.id}")
        both = asyncio.create_task(write(two, quiet.id, "another"))
        await expect(other.locator(".streaming")).to_have_text("another")
        await expect(shown).to_have_text("half a <b>sentence")
        writing.cancel()
        both.cancel()

        await page.goto(one.up.base)
        await other.close()
        async with asyncio.timeout(60):
            while wanted_by(one):
                await asyncio.sleep(0.05)


async def test_a_page_of_a_hub_alone_declares_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session()
        page = await screen.open(hub.up)
        streams = streams_of(page)
        await page.goto(f"{hub.up.base}/sessions/{session.id}")
        await expect(page.locator(".connection.live").first).to_be_attached()
        await expect(page.locator("main.chat")).to_be_visible()
        assert [each for each in streams if "watch" in each] == []


async def test_files_of_another_machine_are_reviewed_completed_and_browsed(tmp_path: Path) -> None:
    top = repository(tmp_path / "work")
    (top / "a.py").write_text("one\nprint('<b>two</b>')\n")
    (top / "a space.md").write_text("new\n")
    async with two_hubs(tmp_path, page=PAGE) as (one, two), window() as screen:
        machine = two.up.hub.machine
        session = await two.session(phase="idle", directory=str(top), machine=machine.id)
        page = await screen.open(one.up, f"/sessions/{session.id}")

        await page.locator("#say").press_sequentially("Look at @a.")
        await expect(page.get_by_role("option")).to_have_text(["a.py", "a space.md"])
        await page.locator("#say").fill("")

        await go(page, f"/sessions/{session.id}/changes")
        file = page.locator(".review-file", has=page.locator("code", has_text="a.py"))
        await expect(file.locator("tr.added")).to_have_count(1)
        await expect(file.locator("tr.added td.line")).to_have_text("print('<b>two</b>')")
        await file.get_by_role("button", name="Revert").click()
        await page.get_by_role("dialog").get_by_role("button", name="Revert").click()
        await expect(page.locator(".review-files li")).to_have_count(1)
        assert (top / "a.py").read_text() == "one\n"

        await go(page, "/admin/projects")
        form = page.locator("form.panel")
        await form.get_by_role("combobox", name="Machine").select_option(machine.id)
        await form.get_by_role("combobox", name="Directory").fill(f"{tmp_path.resolve()}/")
        await expect(form.get_by_role("option", name="work Git repository")).to_be_visible()
        # What is hidden there isn't what is hidden here.
        with screen.trouble_expected():
            await form.get_by_role("combobox", name="Directory").fill(f"{two.state}/")
            await expect(form.locator(".completions")).to_contain_text("belongs to the hub")
