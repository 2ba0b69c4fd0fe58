"""Feed items: one flat object for the API, and our own type again."""

from datetime import UTC, datetime

import pytest
from msgspec import json

from handraise.model.actors import Person
from handraise.model.items import (
    ActionEnded,
    ActionStarted,
    AskDelivered,
    AskHeld,
    AskOpened,
    AskSettled,
    Content,
    Frame,
    Item,
    Notice,
    NotificationFailed,
    Said,
    SaidTaken,
    SessionChanged,
    SessionEnded,
    SessionStarted,
    Text,
    Thinking,
    TurnEnded,
    TurnStarted,
)

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

CONTENTS: dict[str, Content] = {
    "session.started": SessionStarted("Fix it", None, "/work/app", "default", None, 1),
    "session.changed": SessionChanged("idle", "plan", "opus", "Fix it", 0.5),
    "turn.started": TurnStarted(1),
    "turn.ended": TurnEnded(1, 0.5, 1200, {"input_tokens": 3}, False, None, "done"),
    "said": Said("y_1", "go on", 0, Person("ana"), "web"),
    "said.taken": SaidTaken("y_1"),
    "text": Text("hello", "m_1"),
    "thinking": Thinking("hm", "m_1", parent="t_1"),
    "action.started": ActionStarted("t_1", "command", "ls", "Bash", {"command": "ls"}),
    "action.ended": ActionEnded("t_1", "command", "ls", True, "a b c", omitted=7),
    "ask.opened": AskOpened({"id": "a_1"}),
    "ask.settled": AskSettled("a_1", {"state": "withdrawn"}),
    "ask.delivered": AskDelivered("a_1"),
    "ask.held": AskHeld("a_1", "m_1"),
    "notice": Notice("warning", "slow"),
    "session.ended": SessionEnded("lost", "a reboot", None),
    "notification.failed": NotificationFailed("ana's phone", "push", "ana", "a_1", "Nobody answers there."),
    "frame": Frame({"type": "unheard_of", "x": [1, None]}),
}


@pytest.mark.parametrize(("name", "content"), CONTENTS.items())
def test_an_item_is_one_flat_object_and_reads_back(name: str, content: Content) -> None:
    item = Item(7, "s_1", NOON, json.encode(content))

    text = json.decode(item.as_json())

    assert list(text)[:4] == ["cursor", "session", "at", "type"]
    assert (text["cursor"], text["session"], text["at"], text["type"]) == (7, "s_1", "2026-03-01T12:00:00Z", name)
    assert item.read() == content
