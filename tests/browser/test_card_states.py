"""Cards in rare states: forms with every field, answers from elsewhere; and across reloads."""

import json
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import Page, expect

from api.served import served
from browser.home import home
from browser.window import PAGE, armed, go, needs_browser, window
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.actors import Person
from handraise.model.answers import Allow, Deny
from handraise.model.asks import (
    Answered,
    Ask,
    Expired,
    Origin,
    Permission,
    Withdrawn,
)
from handraise.model.projects import Options
from handraise.store.changes import DeliverAsk, OpenAsk, RecordLate, SettleAsk

pytestmark = needs_browser

FORMS = {"type": "stdio", "command": sys.executable, "args": [str(Path(__file__).with_name("form_server.py"))]}
ORDER = "mcp__forms__order"
ANN = Person("ann")


def order(conversation: Conversation) -> Script:
    conversation = yield [use(ORDER, what="the lamp")]
    yield [say(f"`{conversation.result().text}`")]


async def test_a_form_with_a_field_of_every_kind_is_checked_and_reaches_the_tool(tmp_path: Path) -> None:
    options = Options(allowed_tools=(ORDER,))
    async with home(tmp_path, order, options=options) as at, at.serve() as up, window() as screen:
        (tmp_path / "home" / ".claude.json").write_text(
            json.dumps({"mcpServers": {"forms": {**FORMS, "alwaysLoad": True}}})
        )
        session = (await up.hub.desk.start("Order it.", str(at.work))).session
        page = await screen.open(up, f"/sessions/{session.id}", timezone_id="Europe/Zurich")
        await armed(page, "form")
        card = page.locator(".card.form")
        await expect(card.locator(".asked")).to_have_text("forms asks: How should the lamp be sent?")
        wrong = {"Name": "A", "Mail": "ann", "Site": "nowhere", "Count": "2.5", "Weight": "0.1"}
        for label, text in wrong.items():
            await card.get_by_label(label).fill(text)
        await card.get_by_role("button", name="Send").click()
        await expect(card.locator(".field.wrong")).to_have_count(8)
        for each in (
            "Name must have at least 2 characters.",
            "Mail must be an email address.",
            "Site must be an address such as https://example.org.",
            "Day is required.",
            "Moment is required.",
            "Count must be a whole number.",
            "Weight must be at least 0.5.",
            "Size is required.",
        ):
            await expect(card).to_contain_text(each)
        await expect(card.get_by_label("Name")).to_be_focused()
        right = {"Name": "Ann", "Note": "by night", "Mail": "ann@example.org", "Site": "https://example.org/a"}
        right |= {"Day": "2026-03-01", "Moment": "2026-03-01T12:30", "Count": "3", "Weight": "1.5"}
        for label, text in right.items():
            await card.get_by_label(label).fill(text)
        await card.get_by_label("Gift").check()
        await card.get_by_label("Size").select_option("large")
        await expect(card.get_by_label("card", exact=True)).to_be_checked()
        await card.get_by_label("ribbon").check()
        await page.reload()
        await armed(page, "form")
        await expect(card.get_by_label("Mail")).to_have_value("ann@example.org")
        await expect(card.get_by_label("ribbon")).to_be_checked()
        await card.get_by_label("Weight").press("Control+Enter")
        words = page.locator("main .prose code", has_text="the lamp: ")
        await expect(words).to_be_visible()  # which needs the second backtick: the whole of it has arrived
        result = json.loads(await words.inner_text())["result"]
        assert json.loads(result.removeprefix("the lamp: ")) == {
            "name": "Ann",
            "note": "by night",
            "mail": "ann@example.org",
            "site": "https://example.org/a",
            "day": "2026-03-01",
            "moment": "2026-03-01T11:30:00.000Z",
            "count": 3,
            "weight": 1.5,
            "gift": True,
            "size": "large",
            "extras": ["ribbon", "card"],
        }
        await expect(page.locator(".line-card")).to_contain_text("You filled in the form")


async def test_you_are_this_browser_and_not_everybody_who_is_logged_in_as_you(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session(phase="working")
        here = await screen.open(hub.up, f"/sessions/{session.id}")
        there = await screen.open(hub.up, f"/sessions/{session.id}")
        asked = Ask(
            "seat", session.id, None, Permission("Bash", {"command": "ls"}), "Bash", Origin("t"), datetime.now(UTC)
        )
        await hub.up.hub.store.apply([OpenAsk(asked)])
        await expect(there.locator("#card-seat.stage-open")).to_be_visible()
        await armed(here, "permission")
        await here.locator("#card-seat [data-control=d]").click()
        await here.keyboard.press("Enter")
        await expect(here.locator("#card-seat.line-card")).to_contain_text("You denied ls")
        await expect(there.locator("#card-seat.line-card")).to_contain_text("owner denied ls")
        await here.reload()
        await expect(here.locator("#card-seat.line-card")).to_contain_text("You denied ls")


STATES = {
    "open": ["Run open?", "waiting"],
    "limited": ["Run limited?", "left"],
    "mine": ["You allowed mine · web", "delivered"],
    "underway": ["You allowed underway · web", "answered, waiting for Claude"],
    "elsewhere": ["ann denied elsewhere: “No.” · terminal"],
    "expired": ["Run expired? · No one answered in time", "Answer late"],
    "late": ["Answered late: You allowed late · web", "late; sent to Claude as a follow-up"],
    "withdrawn": ["Run withdrawn? · No longer needed: the turn was interrupted"],
}


async def test_every_state_says_the_same_after_a_reload(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session(phase="working")
        page = await screen.open(hub.up, f"/sessions/{session.id}")
        now = datetime.now(UTC)
        limit = now + timedelta(minutes=9, seconds=58)
        for number, name in enumerate(STATES):
            body = Permission("Bash", {"command": name})
            expires = limit if name == "limited" else None
            earlier = now - timedelta(minutes=len(STATES) - number)
            ask = Ask(name, session.id, None, body, "Bash", Origin(name), earlier, expires_at=expires)
            await hub.up.hub.store.apply([OpenAsk(ask)])
        await expect(page.locator(".card.stage-open")).to_have_count(len(STATES))
        seat = (await (await page.request.get(f"{hub.up.base}/api/me")).json())["seat"]
        mine = Answered(Allow(), Person("owner", seat), "web", now)
        await hub.up.hub.store.apply(
            [
                SettleAsk("mine", mine),
                DeliverAsk("mine", now),
                SettleAsk("underway", mine),
                SettleAsk("elsewhere", Answered(Deny("No."), ANN, "terminal", now)),
                SettleAsk("expired", Expired(now)),
                SettleAsk("late", Expired(now)),
                RecordLate("late", mine),
                SettleAsk("withdrawn", Withdrawn("the turn was interrupted", now)),
            ]
        )
        await say_what_they_are(page, STATES)
        await page.reload()
        await say_what_they_are(page, STATES)
        await go(page, "/")
        await say_what_they_are(page, {"open": STATES["open"], "expired": STATES["expired"]})
        await expect(page.locator(".waiting-row")).to_contain_text("Run limited?")
        await expect(page.locator(".waiting-row .left")).to_have_text(re.compile(r"^\d:\d\d left$"))
        await expect(page.locator(".card, .line-card")).to_have_count(2)


async def say_what_they_are(page: Page, states: Mapping[str, list[str]]) -> None:
    for name, words in states.items():
        for word in words:
            await expect(page.locator(f"#card-{name}")).to_contain_text(word)
