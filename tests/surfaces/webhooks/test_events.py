"""Events: what they contain without content and with it, who gets them, and their IDs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from handraise.model.actors import Person
from handraise.model.answers import Choice, Choices
from handraise.model.asks import (
    Answered,
    Ask,
    Expired,
    Option,
    Origin,
    Permission,
    Prompt,
    Question,
    Settlement,
    Withdrawn,
    ask_as_json,
    settlement_as_json,
)
from handraise.model.items import (
    AskDelivered,
    AskOpened,
    AskSettled,
    Content,
    Item,
    Notice,
    NotificationFailed,
    SessionEnded,
    SessionStarted,
    Text,
    TurnEnded,
)
from handraise.model.projects import Project
from handraise.model.sessions import Session
from handraise.model.webhooks import EVENTS, EventName, Webhook, WebhookSecret
from handraise.surfaces.webhooks.events import (
    LARGEST,
    EventFacts,
    WebhookEvent,
    announced_in,
    ask_in,
    delivery_of,
    event_of,
    facts_in,
    is_wanted,
    trial_delivery,
)

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECRET_TEXT = "Claude wrote this"
ASK = Ask(
    "a_1",
    "s_1",
    "p_1",
    Permission("Bash", {"command": f"echo {SECRET_TEXT}"}, description=SECRET_TEXT),
    "Bash",
    Origin("r-1"),
    NOON,
    why=SECRET_TEXT,
    agent=SECRET_TEXT,
)
SESSION = Session("s_1", "p_1", f"/work/{SECRET_TEXT}", "claude-1", SECRET_TEXT, NOON, NOON)
PROJECT = Project("p_1", "shop", "/work/shop")
HOOK = Webhook("w_1", "chat", "https://example.org/x", (WebhookSecret("whsec_AAAA"),), 0, NOON, "ana")
BASE = "https://hub.example"
ANSWERED = Answered(Choices((Choice(("A",), SECRET_TEXT),)), Person("ana"), "web", NOON)
TURN = TurnEnded(3, 0.25, 1200, {"output_tokens": 5}, False, None, SECRET_TEXT, denials=1)


def item(content: Content, cursor: int = 7, session: str | None = "s_1") -> Item:
    return Item(cursor, session, NOON, msgspec.json.encode(content))


def event(content: Content, facts: EventFacts | None = None, **where: Any) -> WebhookEvent:
    """As the reader makes it from an item of the feed."""
    stored = item(content, **where)
    announced = announced_in(stored)
    assert announced is not None
    own = facts_in(announced).ask
    return event_of(stored, announced, facts or EventFacts(own or ASK, SESSION, PROJECT), BASE)


def body(of: WebhookEvent, **webhook: Any) -> dict[str, Any]:
    sent: dict[str, Any] = msgspec.json.decode(delivery_of(of, replace(HOOK, **webhook), NOON).body)
    return sent


def settled(settlement: Settlement) -> AskSettled:
    return AskSettled("a_1", settlement_as_json(settlement))


CONTENTS: list[tuple[Content, EventName]] = [
    (AskOpened(ask_as_json(ASK)), "ask.opened"),
    (settled(ANSWERED), "ask.settled"),
    (settled(Withdrawn(SECRET_TEXT, NOON)), "ask.settled"),
    (settled(Expired(NOON)), "ask.expired"),
    (settled(Expired(NOON, ANSWERED)), "ask.settled"),
    (AskDelivered("a_1"), "ask.delivered"),
    (SessionStarted(SECRET_TEXT, "p_1", f"/work/{SECRET_TEXT}", "default", None, 1), "session.started"),
    (SessionEnded("failed", SECRET_TEXT, 1), "session.ended"),
    (TURN, "turn.ended"),
    (replace(TURN, is_error=True, error=SECRET_TEXT), "turn.ended"),
    (NotificationFailed("ana's phone", "push", "ana", "a_1", "Nobody answers there."), "notification.failed"),
]


@pytest.mark.parametrize(("content", "name"), CONTENTS)
def test_by_default_nothing_that_claude_wrote_leaves(content: Content, name: EventName) -> None:
    sent = delivery_of(event(content), HOOK, NOON)

    assert SECRET_TEXT not in sent.body
    shown = msgspec.json.decode(sent.body)
    assert (shown["type"], shown["timestamp"]) == (name, "2026-03-01T12:00:00Z")
    assert shown["data"]["project"] == {"id": "p_1", "name": "shop"}
    assert shown["data"]["session"] == {"id": "s_1"}
    assert "content" not in shown["data"]
    assert sent.event == name


@pytest.mark.parametrize(("content", "name"), [each for each in CONTENTS if each[1] != "notification.failed"])
def test_with_content_it_does(content: Content, name: EventName) -> None:
    assert SECRET_TEXT in delivery_of(event(content), replace(HOOK, content=True), NOON).body


def test_the_events_are_the_ones_that_people_can_choose() -> None:
    assert {name for _, name in CONTENTS} == set(EVENTS)


def test_an_opened_ask_says_what_it_is_and_where_its_card_is() -> None:
    sent = body(event(AskOpened(ask_as_json(ASK))))

    assert sent["data"] == {
        "ask": {
            "id": "a_1",
            "kind": "permission",
            "tool": "Bash",
            "state": "open",
            "asker": "session",
            "opened_at": "2026-03-01T12:00:00Z",
            "expires_at": None,
        },
        "project": {"id": "p_1", "name": "shop"},
        "session": {"id": "s_1"},
        "link": "https://hub.example/sessions/s_1#card-a_1",
    }


def test_an_external_agents_ask_has_no_session_and_is_in_the_inbox() -> None:
    outside = replace(ASK, session=None, project=None, asker="agent")
    sent = body(event(AskOpened(ask_as_json(outside)), EventFacts(outside), session=None))

    assert (sent["data"]["session"], sent["data"]["project"]) == (None, None)
    assert sent["data"]["link"] == "https://hub.example/#card-a_1"


@pytest.mark.parametrize(
    ("settlement", "name", "state", "late"),
    [
        (ANSWERED, "ask.settled", "answered", None),
        (Withdrawn("stopped", NOON), "ask.settled", "withdrawn", None),
        (Expired(NOON), "ask.expired", "expired", None),
        (Expired(NOON, ANSWERED), "ask.settled", "expired", True),
    ],
)
def test_how_an_ask_ended(settlement: Settlement, name: str, state: str, late: bool | None) -> None:
    sent = body(event(settled(settlement)))

    assert (sent["type"], sent["data"]["ask"]["state"], sent["data"].get("late")) == (name, state, late)


def test_an_ask_that_was_removed_meanwhile_still_has_its_id() -> None:
    sent = body(event(AskDelivered("a_9"), EventFacts(), session=None))

    assert sent["data"]["ask"] == {"id": "a_9", "state": None}


@pytest.mark.parametrize(
    ("turn", "state"),
    [
        (TURN, "done"),
        (replace(TURN, is_error=True), "failed"),
        (replace(TURN, is_error=True, interrupted=True), "interrupted"),
    ],
)
def test_a_turn_says_how_it_ended_and_what_it_cost(turn: TurnEnded, state: str) -> None:
    sent = body(event(turn, EventFacts(None, SESSION, PROJECT)))

    assert sent["data"] == {
        "turn": 3,
        "state": state,
        "cost_usd": 0.25,
        "duration_ms": 1200,
        "denials": 1,
        "project": {"id": "p_1", "name": "shop"},
        "session": {"id": "s_1"},
        "link": "https://hub.example/sessions/s_1",
    }


def test_a_failed_notification_names_its_channel_and_the_reason() -> None:
    failed = NotificationFailed("ana's phone", "ntfy", "ana", "", "Nobody answers there.")
    sent = body(event(failed, EventFacts(), session=None))

    assert sent["data"]["notification"] == {
        "channel": "ana's phone",
        "kind": "ntfy",
        "person": "ana",
        "reason": "Nobody answers there.",
    }
    assert "ask" not in sent["data"]


@pytest.mark.parametrize("content", [Text("hello", "m"), Notice("info", "slow")])
def test_other_items_are_no_events(content: Content) -> None:
    assert announced_in(item(content)) is None


def test_an_unknown_item_of_a_newer_version_is_no_event() -> None:
    assert announced_in(Item(1, None, NOON, b'{"type":"ask.reopened","x":1}')) is None


def test_which_ask_an_item_refers_to() -> None:
    assert ask_in(AskDelivered("a_1")) == "a_1"
    assert ask_in(NotificationFailed("x", "push", "", "", "No.")) is None
    assert ask_in(TURN) is None


@pytest.mark.parametrize(
    ("webhook", "wanted"),
    [
        ({}, True),
        ({"enabled": False}, False),
        ({"since": 6}, True),
        ({"since": 7}, False),
        ({"events": ("ask.opened",)}, True),
        ({"events": ("ask.expired", "turn.ended")}, False),
        ({"projects": ("p_1",)}, True),
        ({"projects": ("p_2", "p_1")}, True),
        ({"projects": ("p_2",)}, False),
        ({"projects": ("p_1",), "events": ("turn.ended",)}, False),
    ],
)
def test_filters(webhook: dict[str, Any], wanted: bool) -> None:
    assert is_wanted(replace(HOOK, **webhook), event(AskOpened(ask_as_json(ASK)))) is wanted


def test_what_belongs_to_no_project_passes_only_without_a_filter() -> None:
    outside = event(AskOpened(ask_as_json(replace(ASK, project=None))), EventFacts(replace(ASK, project=None)))

    assert is_wanted(HOOK, outside)
    assert not is_wanted(replace(HOOK, projects=("p_1",)), outside)


def test_the_same_item_has_the_same_id_and_another_has_another() -> None:
    first, again, other = event(TURN), event(TURN), event(TURN, cursor=8)
    later = event_of(replace(item(TURN), at=NOON + timedelta(seconds=1)), TURN, EventFacts(), BASE)
    made = [delivery_of(each, HOOK, NOON).id for each in (first, again, other, later)]

    assert made[0] == made[1]
    assert len(set(made)) == 3
    assert delivery_of(first, replace(HOOK, id="w_2"), NOON).id != made[0]
    assert made[0].startswith("msg_")


@pytest.mark.parametrize("length", [100_000, 2_000_000])
def test_a_long_text_is_cut_and_says_so(length: int) -> None:
    long = replace(ASK, body=Permission("Write", {"content": "é" * length}), tool="Write")
    sent = delivery_of(event(AskOpened(ask_as_json(long))), replace(HOOK, content=True), NOON)

    assert len(sent.body.encode()) <= LARGEST
    data = msgspec.json.decode(sent.body)["data"]
    assert data["cut"] is True
    assert data["content"]["body"]["input"]["content"].endswith("é…")


def test_what_does_not_fit_at_all_is_left_out() -> None:
    options = tuple(Option(f"{number}" * 20, "x" * 100) for number in range(2000))
    many = replace(ASK, body=Question((Prompt("Which?", "", options),)))
    data = msgspec.json.decode(
        delivery_of(event(AskOpened(ask_as_json(many))), replace(HOOK, content=True), NOON).body
    )["data"]

    assert (data["cut"], data["content"]) == (True, None)
    assert data["ask"]["id"] == "a_1"


def test_a_test_event_says_what_it_is_and_is_not_sent_by_itself() -> None:
    made = trial_delivery(HOOK, BASE, b"x", NOON)

    assert msgspec.json.decode(made.body) == {
        "type": "webhook.test",
        "timestamp": "2026-03-01T12:00:00Z",
        "data": {"webhook": {"id": "w_1", "name": "chat"}, "link": "https://hub.example/admin/webhooks"},
    }
    assert (made.state, made.next_at) == ("failed", None)
    assert made.id != trial_delivery(HOOK, BASE, b"y", NOON).id
