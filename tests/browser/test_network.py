"""The page is honest about the network: it shows what isn't sent, catches up, and sends nothing twice."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import Page, Route, expect

from api.served import served
from browser.home import free_port, home
from browser.window import PAGE, armed, needs_browser, window
from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.actors import Person
from handraise.model.answers import Deny
from handraise.model.asks import Answered, Permission
from handraise.store.sqlite.store import SqliteStore
from stories.serving_house import desk, serve, settle_in, stop_all, surroundings
from surfaces.suite.stream_relay import stream_relay

pytestmark = needs_browser

TOUCH = Permission("Bash", {"command": "touch done"})
ANN = Person("ann")
ANSWER = re.compile(r"/api/asks/[^/]+/answer\b")
UNSENT = "localStorage.getItem('handraise.unsent')"


def ask_twice(conversation: Conversation) -> Script:
    yield [use("Bash", command="echo once >> first", description="Write a line")]
    yield [say("Half done."), use("Bash", command="touch second", description="Make another")]
    yield [say("All done.")]


async def test_an_answer_whose_reply_was_lost_counts_once(tmp_path: Path) -> None:  # lesson 50
    """And a person who was signed out with a card open continues after signing in."""
    sent: list[int] = []

    async def lose_the_reply(route: Route) -> None:
        # As long as the hub has not got it, the card stays, and says so.
        if not sent:
            await expect(page.locator(".card.stage-sending")).to_contain_text("Sending…")
        receipt = await route.fetch()
        sent.append(receipt.status)
        if len(sent) == 1:
            await route.abort("connectionreset")
        else:
            await route.fulfill(response=receipt)

    async with home(tmp_path, ask_twice) as at, at.serve() as up, window() as screen:
        session = (await up.hub.desk.start("Write.", str(at.work))).session
        page = await screen.open(up, f"/sessions/{session.id}")
        await page.route(ANSWER, lose_the_reply)
        await armed(page, "permission")
        with screen.trouble_expected():
            await page.keyboard.press("a")
            await expect(page.locator("main").get_by_text("Half done.")).to_be_visible()
        await expect(page.locator(".action", has_text="echo once >> first")).to_contain_text("· you allowed")
        await page.wait_for_function(f"() => {UNSENT} === null")
        await expect(page.locator(".trouble")).to_have_count(0)
        assert sent == [200, 200]
        assert (at.work / "first").read_text() == "once\n"
        await page.unroute(ANSWER)

        await armed(page, "permission")
        with screen.trouble_expected():
            await page.context.clear_cookies(name=re.compile(r"handraise_\d+$"))
            await page.keyboard.press("a")
            await log_in(page, (await up.auth.make("owner", "admin", up.hub.desk.person, "test")).secret)
        await expect(page.locator("main").get_by_text("All done.")).to_be_visible()
        await expect(page.locator(".action-allowed")).to_have_text(["· you allowed"] * 2)


async def test_what_happened_while_offline_comes_by_the_cursor_and_the_answer_goes_once(tmp_path: Path) -> None:
    sent: list[str] = []
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session(phase="working")
        await hub.publish("Before.", session=session.id)
        first = await hub.ask(TOUCH, session=session.id)
        page = await screen.open(hub.up, f"/sessions/{session.id}")
        page.on("request", lambda request: sent.append(f"{request.method} {request.url.removeprefix(hub.up.base)}"))
        await armed(page, "permission")
        with screen.trouble_expected():
            await page.context.set_offline(True)
            # A stream that is only silent says nothing; what cannot be sent does.
            await page.keyboard.press("a")
            await expect(page.locator(".card.stage-queued")).to_contain_text("Not sent: no connection")
            await expect(page.locator(".card.stage-queued .primary")).to_be_disabled()
            await expect(page.locator(".connection.offline").first).to_contain_text("Offline for")
            await expect(page.locator("a.session")).to_contain_text("reconnecting")
            assert (await hub.up.hub.desk.ask(first.id)).settlement is None
            await hub.publish(*(f"Line {number}." for number in range(50)), session=session.id)
            second = await hub.ask(Permission("Bash", {"command": "ls"}), session=session.id)
            await expect(page.locator(".card")).to_have_count(1)
            sent.clear()
            await page.context.set_offline(False)
            await expect(page.locator(".connection.live").first).to_be_attached()
        await expect(page.locator(".line-card")).to_contain_text("You allowed touch done")
        await expect(page.locator(f"#card-{second.id}.stage-open")).to_be_visible()
        await expect(page.locator("main .prose")).to_have_count(51)
        assert isinstance((await hub.up.hub.desk.ask(first.id)).settlement, Answered)
        assert [each for each in sent if each.startswith("POST")] == [f"POST /api/asks/{first.id}/answer?texts=excerpt"]
        # From its cursor, not by reading everything again.
        assert any(re.fullmatch(r"GET /api/feed\?texts=excerpt&after=[1-9]\d*", each) for each in sent)
        assert not [each for each in sent if each.startswith(("GET /api/sessions", "GET /api/asks"))]


async def test_a_stream_that_went_dead_in_its_sleep_is_left_and_what_was_missed_comes(tmp_path: Path) -> None:
    async with (
        served(tmp_path, page=PAGE) as hub,
        stream_relay(urlsplit(hub.up.base).port or 0) as wire,
        window() as screen,
    ):
        session = await hub.session(phase="working")
        first = await hub.ask(TOUCH, session=session.id)
        page = await screen.stranger(wire)
        await page.clock.install()
        await page.goto(f"/login?code={await hub.up.auth.make_code('owner', 'admin', ANN, 'test')}")
        await armed(page, "permission")
        await page.evaluate("window.notReloaded = true")
        wire.freeze()
        # It gets no updates, but an answer shows the current state.
        await hub.up.hub.desk.seat(ANN, "terminal").answer(first.id, Deny("Not today."))
        with screen.trouble_expected():
            await page.keyboard.press("a")
            await expect(page.locator(".over .line-card")).to_contain_text("ann denied touch done")
            await expect(page.locator(".over [role=alert]")).to_contain_text("Your answer wasn't used.")
        second = await hub.ask(TOUCH, session=session.id)
        await expect(page.locator(".connection.live").first).to_be_attached()
        await page.clock.fast_forward("10:00")
        await expect(page.locator(f"#card-{second.id}.stage-open")).to_be_visible()
        await expect(page.locator(".over .line-card")).to_have_count(1)
        await expect(page.locator(".connection.live").first).to_be_attached()
        assert await page.evaluate("window.notReloaded")


async def test_a_kept_answer_survives_a_reload_can_be_taken_back_and_loses_to_whoever_was_first(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session(phase="working")
        mine, theirs = [await hub.ask(Permission("Bash", {"command": each}), session=session.id) for each in ("a", "b")]
        page = await screen.open(hub.up)
        with screen.trouble_expected():
            await page.route(ANSWER, lambda route: route.abort())
            await answer_by_key(page, mine.id)
            await page.reload()
            await expect(page.locator(f"#card-{mine.id}.stage-queued")).to_contain_text("Not sent")
            await page.get_by_role("button", name="Don't send").click()
            await expect(page.locator(f"#card-{mine.id}.stage-open[data-armed]")).to_be_visible()
            assert await page.evaluate(UNSENT) is None
            await page.keyboard.press("j")
            await answer_by_key(page, theirs.id)
            await hub.up.hub.desk.seat(ANN, "terminal").answer(theirs.id, Deny("Not today."))
            over = page.locator(".over", has=page.get_by_role("heading", name="Just now"))
            await expect(over).to_contain_text("ann denied b: “Not today.”")
            await page.unroute(ANSWER)
            await expect(over.get_by_role("alert")).to_contain_text("Your answer wasn't used.")
        assert await page.evaluate(UNSENT) is None
        await expect(page.locator(f"#card-{mine.id}.stage-open")).to_be_visible()
        assert (await hub.up.hub.desk.ask(mine.id)).settlement is None


async def test_a_hub_whose_disk_is_full_says_so_and_takes_the_answer_when_there_is_room(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        await hub.ask(TOUCH)
        page = await screen.open(hub.up)
        await armed(page, "permission")
        store = hub.up.hub.store
        assert isinstance(store, SqliteStore)
        disk = store._writer.connection
        room = disk.pragma("max_page_count")
        disk.pragma("max_page_count", disk.pragma("page_count"))
        await page.keyboard.press("d")
        await page.get_by_label("Tell Claude what to do instead").fill("No. " * 20_000)
        with screen.trouble_expected():
            await page.get_by_role("button", name="Deny", exact=True).click()
            await expect(page.locator(".card.stage-queued")).to_contain_text("Free some space")
            await expect(page.locator(".connection.live").first).to_be_attached()
            disk.pragma("max_page_count", room)
            await expect(page.locator(".over")).to_contain_text("You denied touch done: “No. No.")


async def test_a_browser_that_can_write_nothing_down_still_sends(tmp_path: Path) -> None:
    full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        ask = await hub.ask(TOUCH)
        page = await screen.open(hub.up, script=full)
        await armed(page, "permission")
        with screen.trouble_expected():
            await page.route(ANSWER, lambda route: route.abort())
            await answer_by_key(page, ask.id)
            await page.unroute(ANSWER)
            await expect(page.locator(".over")).to_contain_text("You allowed touch done")


async def answer_by_key(page: Page, ask: str) -> None:
    """Allows it, and it cannot be sent."""
    await expect(page.locator(f"#card-{ask}.stage-open[data-armed]")).to_be_visible()
    await page.keyboard.press("a")
    await expect(page.locator(f"#card-{ask}.stage-queued")).to_be_visible()


async def test_an_answer_that_somebody_kept_is_not_sent_by_whoever_logs_in_next(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        ask = await hub.ask(TOUCH)
        page = await screen.open(hub.up)
        await armed(page, "permission")
        with screen.trouble_expected():
            await page.context.clear_cookies()
            await page.keyboard.press("a")
            await log_in(page, await hub.token("approver"))
        await armed(page, "permission")
        assert "owner" in await page.evaluate(UNSENT)
        await page.get_by_role("button", name="Deny").click()
        await page.keyboard.type("Not like this.")
        await page.keyboard.press("Enter")
        await expect(page.locator(".over")).to_contain_text("You denied touch done: “Not like this.”")
        settled = (await hub.up.hub.desk.ask(ask.id)).settlement
        assert isinstance(settled, Answered)
        assert settled.answer == Deny("Not like this.")


async def test_a_hub_that_is_killed_under_an_open_page_loses_nothing(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    settle_in(tmp_path)
    port = ("--port", str(free_port()))
    async with ScriptedModel({"script": ask_twice}) as model, window() as screen:
        environ = surroundings(tmp_path, model.url("script"))
        try:
            with screen.trouble_expected():
                async with serve(tmp_path, environ, *port) as first:
                    page = await screen.stranger(first)
                    await page.goto(first.link)
                    async with desk(tmp_path) as owner:
                        await owner.start("Write.", str(work))
                    await page.locator("a.session").click()
                    await armed(page, "permission")
                    await page.keyboard.press("a")
                    await expect(page.locator(".card .asked")).to_have_text("Run touch second?")
                    await armed(page, "permission")
                    await page.evaluate("window.notReloaded = true")
                await expect(page.locator(".connection.offline").first).to_be_attached()
                await page.keyboard.press("a")
                await expect(page.locator(".card.stage-queued")).to_contain_text("Not sent")
                async with serve(tmp_path, environ, *port):
                    await expect(page.locator("main").get_by_text("All done.")).to_be_visible()
                    await expect(page.locator(".action-allowed")).to_have_count(2)
                    await expect(page.locator("main").get_by_text("Half done.")).to_have_count(1)
                    await page.locator(".side-inbox").click()
                    await expect(page.locator("main").get_by_text("Nothing needs you.")).to_be_visible()
                # Killed again, and nobody knows whether anything waits.
                await expect(page.locator("main").get_by_text("this list may be incomplete")).to_be_visible()
                await expect(page.get_by_text("Nothing needs you.")).to_have_count(0)
                assert await page.evaluate("window.notReloaded")
                await page.close()
            assert (work / "second").exists()
        finally:
            await stop_all(tmp_path, environ)


async def log_in(page: Page, secret: str) -> None:
    await page.get_by_label("Token or one-time code").fill(secret)
    await expect(page.get_by_text("1 answer is saved in this browser")).to_be_visible()
    await page.get_by_role("button", name="Sign in").click()
