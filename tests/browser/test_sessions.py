"""Sessions: the list and its filters, a new one with images, the queue, and the actions of one."""

from pathlib import Path

from msgspec.structs import replace
from playwright.async_api import FloatRect, Locator, Page, Route, expect

from api.served import served
from browser.home import home
from browser.showroom import Showroom
from browser.window import PAGE, armed, go, needs_browser, window
from handraise.demo.model import EACH_SESSION
from handraise.demo.pieces import Script, hold, say, use
from handraise.demo.request import Conversation
from handraise.model.projects import Options
from handraise.model.sessions import Ended
from handraise.session import records
from handraise.store.changes import SaveSession

pytestmark = needs_browser

PUT = """
  async (element, { how, files }) => {
    const carried = new DataTransfer();
    for (const { name, type, colour } of files) {
      const canvas = new OffscreenCanvas(8, 8);
      const pen = canvas.getContext("2d");
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 8, 8);
      carried.items.add(new File([await canvas.convertToBlob()], name, { type }));
    }
    const more = { bubbles: true, cancelable: true };
    element.dispatchEvent(
      how === "paste"
        ? new ClipboardEvent("paste", { ...more, clipboardData: carried })
        : new DragEvent("drop", { ...more, dataTransfer: carried })
    );
  }
"""


async def put(field: Locator, how: str, *files: tuple[str, str, str]) -> None:
    """Pastes or drops files: name, type and colour."""
    calls = [{"name": name, "type": kind, "colour": colour} for name, kind, colour in files]
    await field.evaluate(PUT, {"how": how, "files": calls})


def looks(conversation: Conversation) -> Script:
    conversation = yield [
        say(f"I see {len(conversation.images)} pictures: {conversation.text}, says {conversation.request.model}.")
    ]
    while True:
        conversation = yield [say(f"You said: {conversation.text}")]


async def test_a_session_begins_with_pictures_that_are_pasted_and_dropped(tmp_path: Path) -> None:
    async with home(tmp_path, looks) as at, at.serve() as up, window() as screen:
        await up.hub.desk.add_project(str(at.work), "shop", Options())
        page = await screen.open(up)
        main, dialog = page.locator("main"), page.get_by_role("dialog")
        await page.keyboard.press("n")
        field = page.get_by_label("What should Claude do?")
        await expect(field).to_be_focused()
        await field.fill("Compare them")
        await put(field, "paste", ("red.png", "image/png", "red"))
        await put(field, "drop", ("blue.png", "image/png", "blue"), ("green.png", "image/png", "green"))
        await expect(dialog.locator("figure")).to_have_count(3)
        await put(field, "drop", ("movie.mp4", "video/mp4", "gray"))
        await expect(dialog.get_by_role("alert")).to_have_text("movie.mp4 is neither an image nor a text file.")
        await dialog.get_by_role("button", name="Remove green.png").click()
        await expect(dialog.locator("figure")).to_have_count(2)
        await dialog.get_by_role("combobox", name="Mode", exact=True).select_option("Plan only")
        await dialog.get_by_role("combobox", name="Model", exact=True).select_option("Another model…")
        await dialog.get_by_label("Model name").fill("claude-haiku-4-5")
        await page.keyboard.press("Control+Enter")

        await expect(main.get_by_text("I see 2 pictures: Compare them, says claude-haiku-4-5.")).to_be_visible()
        await expect(dialog).to_have_count(0)
        await expect(page.get_by_role("button", name="Mode: Plan only")).to_be_visible()
        await expect(main.locator(".said img")).to_have_count(2)
        for picture in await main.locator(".said img").all():
            await expect(picture).to_have_js_property("naturalWidth", 8)
        await put(page.locator("#say"), "paste", ("late.png", "image/png", "red"))
        await expect(page.locator(".composer figure")).to_have_count(1)
        await page.get_by_role("button", name="Send").click()
        await expect(main.locator(".said img")).to_have_count(3)
        await expect(page.locator(".composer figure")).to_have_count(0)

        # The dialog reports a missing directory, and keeps what was written.
        await page.get_by_role("button", name="New session").click()
        await field.fill("Elsewhere.")
        await page.get_by_role("combobox", name="Directory").fill(f"{at.work}/nowhere")
        await page.keyboard.press("Escape")
        with screen.trouble_expected():
            await page.get_by_role("button", name="Start").click()
            await expect(dialog.get_by_role("alert")).to_contain_text("nowhere")
        await expect(field).to_have_value("Elsewhere.")
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        await page.reload()
        await page.get_by_role("button", name="New session").click()
        await expect(field).to_have_value("Elsewhere.")


def tells(conversation: Conversation) -> Script:
    while True:
        conversation = yield [say(f"You said: {conversation.text}")]


async def lose(route: Route) -> None:
    """It reaches the hub, but the confirmation is lost."""
    await route.fetch()
    await route.abort()


async def test_a_session_is_renamed_stopped_resumed_and_forked(tmp_path: Path) -> None:
    async with home(tmp_path, tells, run=EACH_SESSION) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("One.", str(at.work), title="First name")).session
        page = await screen.open(up, f"/sessions/{session.id}")
        main, dialog, field = page.locator("main"), page.get_by_role("dialog"), page.locator("#say")
        await expect(main.get_by_text("You said: One.")).to_be_visible()

        await choose(page, "Rename…")
        await expect(dialog.locator("input")).to_have_value("First name")
        await dialog.locator("input").fill("Second name")
        await page.keyboard.press("Enter")
        await expect(page.locator("h1")).to_have_text("Second name")
        await expect(page.locator("a.session")).to_contain_text("Second name")

        await choose(page, "Stop…")
        await expect(dialog).to_contain_text("open requests are withdrawn")
        await dialog.get_by_role("button", name="Cancel").click()
        await expect(dialog).to_have_count(0)
        await choose(page, "Stop…")
        await dialog.get_by_role("button", name="Stop").click()
        await expect(main.locator(".event").get_by_text("Stopped: owner stopped it")).to_be_visible()
        await expect(page.locator(".group.ended a.session")).to_contain_text("Second name")
        await page.get_by_role("button", name="Resume").click()
        await expect(main.get_by_text("Resumed (process 2)")).to_be_visible()
        await expect(page.locator(".group.idle a.session")).to_be_visible()
        # A message that reached the hub without confirmation is sent once.
        await page.route("**/say", lose)
        with screen.trouble_expected():
            await field.fill("Two.")
            await page.keyboard.press("Enter")
            await expect(page.locator(".composer [role=alert]")).to_contain_text("Can't reach the hub.")
        await expect(field).to_have_value("Two.")
        await page.unroute("**/say")
        await page.keyboard.press("Enter")
        await expect(field).to_have_value("")
        await expect(page.locator(".composer [role=alert]")).to_have_count(0)
        await expect(main.get_by_text("You said: Two.")).to_be_visible()
        await expect(page.locator(".said")).to_have_count(2)

        await choose(page, "Fork…")
        await dialog.locator("textarea").fill("Another way.")
        await dialog.get_by_role("button", name="Fork").click()
        await expect(dialog).to_have_count(0)
        await expect(main.get_by_text("You said: Another way.")).to_be_visible()
        await expect(page).not_to_have_url(f"{up.base}/sessions/{session.id}")
        await expect(page.locator("a.session")).to_have_count(2)
        await expect(page.locator("a.session[aria-current]")).to_have_count(1)
        await page.locator(".session-facts").get_by_role("link", name="Second name").click()
        await expect(page).to_have_url(f"{up.base}/sessions/{session.id}")

        # A message to one that has ended resumes it; once, even if someone else did so meanwhile.
        await up.hub.desk.stop(session.id)
        await expect(page.get_by_role("button", name="Resume")).to_be_visible()
        await page.route("**/resume", lose)
        with screen.trouble_expected():
            await page.get_by_role("textbox", name="Send a message to resume").fill("Three.")
            await page.keyboard.press("Enter")
            await expect(page.locator(".composer [role=alert]")).to_contain_text("Can't reach the hub.")
        await page.unroute("**/resume")
        await expect(main.get_by_text("Resumed (process 3)")).to_be_visible()
        await field.press("Enter")
        await expect(main.get_by_text("You said: Three.")).to_be_visible()
        text = [each.content for each in await up.hub.store.says(session.id, waiting=False)]
        assert text == ["One.", "Two.", "Three."]


def waits(conversation: Conversation) -> Script:
    yield (
        [use("AskUserQuestion", questions=[WHICH])] if conversation.text == "Ask." else [hold("for good"), say("never")]
    )


WHICH = {
    "question": "Which way?",
    "header": "Way",
    "options": [{"label": "Left", "description": ""}, {"label": "Right", "description": ""}],
    "multiSelect": False,
}


async def test_who_finds_no_room_is_queued_and_says_so_until_there_is_some(tmp_path: Path) -> None:
    async with home(tmp_path, waits, run=EACH_SESSION, limit=1) as at, at.serve() as up, window() as screen:
        desk, where = up.hub.desk, str(at.work)
        busy = (await desk.start("Work.", where, title="Busy")).session
        await at.model.held("for good")
        page = await screen.open(up)
        first = (await desk.start("Ask.", where, title="First in line")).session
        await desk.start("Wait.", where, title="Second in line")

        rows = page.locator("a.session")
        await expect(rows.filter(has_text="First in line")).to_contain_text("next in the queue")
        await expect(rows.filter(has_text="Second in line")).to_contain_text("queued behind 1")
        await rows.filter(has_text="First in line").click()
        await expect(
            page.locator("main").get_by_text("Queued. Claude starts when another session makes room.")
        ).to_be_visible()
        await expect(page.locator(".session-head")).to_contain_text("next in the queue")
        await desk.stop(busy.id)
        await armed(page, "question")
        await expect(page.locator(".group.needs-you a.session")).to_contain_text("Which way?")
        await expect(page.locator(".group.working a.session")).to_contain_text("next in the queue")
        await expect(page.locator(".group.ended a.session")).to_contain_text("Busy")
        assert (await desk.session(first.id)).open_asks == 1


async def test_the_list_is_in_groups_and_is_searched_and_narrowed(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        await Showroom(hub.up).fill()
        page = await screen.open(hub.up)
        rows, groups = page.locator("a.session"), page.locator(".sessions h2")
        await expect(groups).to_have_text(["Needs you 7", "Failed 2", "Working 6", "Idle 1", "Ended 3"])
        first = page.locator(".group.needs-you a.session").first
        await expect(first).to_contain_text("Move orders to PostgreSQL")
        await expect(first).to_contain_text("Claude has a plan: Move orders to PostgreSQL")
        await expect(rows.filter(has_text="Check the invoices")).to_contain_text("The API key was refused (401).")
        await expect(rows.filter(has_text="Draw the architecture")).to_contain_text("lost")
        await expect(rows.filter(has_text="Rename the customer table")).to_contain_text("no response from Claude for")
        await expect(rows.filter(has_text="Rebuild the search index")).to_contain_text("never asks")

        await page.keyboard.press("/")
        await expect(page.get_by_role("searchbox")).to_be_focused()
        await page.keyboard.type("npm test")  # what is asked is searched, too
        await expect(rows).to_have_count(3)
        await page.get_by_role("searchbox").fill("nobody called it so")
        await expect(page.get_by_text("No sessions match.")).to_be_visible()
        await page.get_by_role("searchbox").fill("")

        await page.get_by_role("button", name="Filters").click()
        await page.get_by_role("combobox", name="Project").select_option("payments")
        await expect(rows).to_have_count(6)
        await page.get_by_role("combobox", name="Cost").select_option("$0.10 or more")
        await expect(rows).to_have_count(5)
        await page.get_by_role("combobox", name="Last updated").select_option("Past 1 hour")
        await expect(rows).to_have_count(3)
        await page.get_by_role("combobox", name="Sort by").select_option("Highest cost")
        await expect(page.locator(".group.working .session-title")).to_have_text(
            ["Rebuild the search index", "Rename the customer table"]
        )
        await expect(page.get_by_role("button", name="Filters (4 set)")).to_be_visible()
        await page.get_by_role("button", name="Clear filters").click()
        await expect(rows).to_have_count(19)


async def choose(page: Page, act: str) -> None:
    """From what can be done with a session."""
    await page.get_by_label("More actions").click()
    await page.get_by_role("button", name=act).click()


async def box(found: Locator) -> FloatRect:
    drawn = await found.bounding_box()
    assert drawn is not None
    return drawn


async def test_a_session_in_a_terminal_says_so_and_offers_only_what_works(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = replace(await hub.session(phase="working"), terminal="laptop", title="By hand")
        await hub.up.hub.store.apply([SaveSession(session)])
        await hub.publish("I will look.", session=session.id)
        page = await screen.open(hub.up)
        offer = page.locator(".hook-offer").filter(has_text="project sync")
        await expect(offer).to_contain_text("handraise project sync")
        for width in (1366, 390):
            await page.set_viewport_size({"width": width, "height": 768})
            text, button = await box(offer.locator("span")), await box(offer.get_by_role("button"))
            assert abs(button["y"] - text["y"]) < 8
            assert text["height"] < button["height"] or width < 1366
            assert text["x"] + text["width"] <= button["x"]
        await page.set_viewport_size({"width": 1366, "height": 768})
        await offer.get_by_role("button", name="Dismiss").click()
        await expect(offer).to_have_count(0)

        await go(page, f"/sessions/{session.id}")
        await expect(page.locator(".session-head")).to_contain_text("in a terminal on laptop")
        await expect(page.locator(".history")).to_contain_text("I will look.")
        await expect(page.locator("main .composer")).to_contain_text("messages go there")
        for name in ("Interrupt", "Send", "Resume"):
            await expect(page.get_by_role("button", name=name)).to_have_count(0)

        # What can be answered only there is said wherever people look.
        there = replace(session, dialog="Answer in the terminal on laptop: $ make \u202e")
        shown = "Answer in the terminal on laptop: $ make ⟨U+202E⟩"
        await hub.up.hub.store.apply(records.changed(there))
        await expect(page.locator("main .composer")).to_have_text(shown)
        await expect(page.locator(".group.needs-you a.session")).to_contain_text(shown)
        await expect(page.locator(".session-head")).to_contain_text("needs you")
        await expect(page.get_by_text("Claude is working")).to_have_count(0)
        await go(page, "/")
        await expect(page.locator(".elsewhere")).to_contain_text(shown)
        await expect(page.get_by_text("Nothing needs you.")).to_have_count(0)
        await page.locator(".elsewhere a").click()
        await hub.up.hub.store.apply(records.changed(session))
        await expect(page.locator("main .composer")).to_contain_text("messages go there")
        await expect(page.locator(".group.working a.session")).to_contain_text("By hand")

        await hub.up.hub.store.apply(
            records.ended(session, "exited", Ended("finished", "Claude exited", session.changed_at))
        )
        await expect(page.get_by_role("button", name="Resume")).to_be_enabled()
        assert screen.complaints == []
