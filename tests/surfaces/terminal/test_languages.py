"""The terminal in another language: no plain English of ours is left, and a card still fits."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from handraise import texts
from handraise.inbox.considering import Surroundings, consider
from handraise.model.actors import Person
from handraise.model.answers import Allow
from handraise.model.asks import Answered, Ask, Body, Expired, Permission, Withdrawn
from handraise.model.items import (
    ActionChanged,
    ActionEnded,
    ActionStarted,
    Content,
    Item,
    Notice,
    Said,
    SessionEnded,
    TurnEnded,
)
from handraise.model.projects import Patience
from handraise.model.sessions import Session
from handraise.policy.paths import normpath
from handraise.present.flows import flow_of
from handraise.session.commands import Stop
from handraise.session.slots import behind
from handraise.session.translate import advice, translate
from handraise.store.contents import encode
from handraise.surfaces.terminal import live, plain
from handraise.surfaces.terminal.cards import CardFrame, picture
from handraise.surfaces.terminal.dialogue import Dialogue, begin, edited
from handraise.surfaces.terminal.lines import Line, text_of, width_of
from handraise.surfaces.terminal.timeline import Timeline, settled_line
from handraise.surfaces.terminal.unattended import lines_of_ask
from handraise.surfaces.terminal.view import ViewState
from handraise.wire.frames import ApiRetry, RateLimit
from present.asked import BODIES, HERE, NOON, NPM, PLAN, TWO, WHICH, ask_of, english_in
from surfaces.terminal.asked import play

LATER = NOON + timedelta(seconds=90)
PERMITTED = Permission("Bash", {"command": "7 7 >8"})
WRITTEN = Permission("Write", {"file_path": f"{HERE}/7", "content": "8\n"})
with texts.using("en-XA"):
    WITHDRAWN = Withdrawn(Stop().reason, NOON)
TERMINAL = {
    "Bash",
    "Write",
    "session",
    "command",
    "run",
    "in",
    "background",
    "content",
    "file",
    "path",
    "default",
    "true",
    "handraise",
    "stop",
    "inbox",
}
"""What a machine said: names of tools, of modes and of the fields of an input."""


@pytest.fixture(autouse=True)
def _accented() -> Iterator[None]:
    with texts.using("en-XA"):
        yield


def english(rows: list[Line]) -> list[str]:
    return [word for row in rows for word in english_in(text_of(row)) if word not in TERMINAL]


def dialogue(body: Body) -> Dialogue:
    asked = ask_of(body)
    return begin(asked, flow_of(asked, HERE))


def shown(stands: Dialogue, width: int = 200, height: int = 60) -> list[Line]:
    above, below, _ = picture(stands, CardFrame(width, height, LATER))
    return [*above, *below]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_a_card_has_no_english_of_ours(body: Body) -> None:
    assert english(shown(dialogue(body))) == []
    assert english(shown(dialogue(body), height=12)) == []


@pytest.mark.parametrize("body", [PERMITTED, WRITTEN, BODIES[-1]], ids=["command", "file", "trust"])
def test_why_it_is_asked_and_what_can_be_offered_have_no_english_of_ours(body: Body) -> None:
    around = Surroundings(HERE, "default", Patience(), resolve=normpath, read=lambda _: None)
    asked = consider(ask_of(body), around, (), NOON)
    stands = begin(asked, flow_of(asked, HERE))
    assert asked.why.startswith("⟦")
    assert english(shown(stands)) == []
    assert asked.why.removesuffix("⟧")[:20] in "".join(text_of(row) for row in shown(stands))


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_longer_texts_stay_within_a_narrow_terminal(body: Body) -> None:
    rows = shown(dialogue(body), width=40, height=12)
    assert len(rows) <= 12
    assert all(width_of(row) <= 40 for row in rows)


def test_every_step_of_a_card_has_no_english_of_ours() -> None:
    stands = [
        play(dialogue(NPM), "d")[0],
        play(dialogue(NPM), "1")[0],
        edited(dialogue(NPM), '{"command": "8"}'),
        edited(dialogue(NPM), "[]"),
        play(dialogue(PLAN), "d", "enter")[0],
        edited(dialogue(PLAN), "# 8"),
        edited(dialogue(PLAN), " "),
        play(dialogue(WHICH), "enter")[0],
        play(dialogue(WHICH), "o")[0],
        play(dialogue(TWO), "1", "'9", "enter")[0],
    ]
    rows = [row for each in stands for row in shown(each)]
    assert english(rows) == []


def test_the_list_and_the_state_of_an_inbox_have_no_english_of_ours() -> None:
    view = ViewState(None)
    view.looked = True
    rows = [live.state(view, LATER, 200), *live.live(view, LATER, 200, 40).above]
    for number, body in enumerate(BODIES):
        asked = ask_of(body)
        named = Ask(f"a_{number}", "s_1", None, asked.body, asked.tool, asked.origin, asked.opened_at)
        view.stack.add(named, NOON, HERE)
    above, below, _ = live.live(view, LATER, 200, 60)
    rows += [*above, *below, live.state(view, LATER, 200)]
    view.connected = False
    rows += live.live(view, LATER, 200, 60).above
    assert english(rows) == []
    assert english_in(plain.standing(view) + plain.how(dialogue(TWO)) + plain.how(dialogue(WHICH))) == []


def test_the_timeline_has_no_english_of_ours() -> None:
    session = Session("s_1", None, HERE, "7", "8", NOON, NOON, "working")
    view = ViewState(session)
    contents: list[Content] = [
        Said("7", "8", 1, Person("9"), "9"),
        ActionStarted("1", "command", "7", "Bash", {}),
        ActionChanged("1", "8", {}, Person("9")),
        ActionEnded("1", "command", "7", False, "9"),
        ActionStarted("2", "file_change", "7", "Write", {}),
        Notice("alarm", "7"),
        *translate(RateLimit({"status": "rejected", "rateLimitType": "7", "resetsAt": "?"}), {}),
        *translate(ApiRetry(1, 10, error_status=529), {}),
        behind([Session("7", None, "/8", "9", "8", NOON, NOON, "working")], {"7": 1}),
        TurnEnded(1, 0.1, 1000, {}, True, advice("7", "none"), ""),
        TurnEnded(1, 0.1, 1000, {}, True, None, ""),
        SessionEnded("lost", "7", None),
        SessionEnded("strange", "7", None),
    ]
    rows: list[Line] = []
    for number, content in enumerate(contents):
        item = Item(number, "s_1", NOON + timedelta(seconds=number * 3), encode(content))
        rows += view.timeline.receive(item, 200)
        rows += [*view.timeline.under_way(LATER, 200), live.state(view, LATER, 200)]
        rows.append((("", live.hint(view)),))
    assert english(rows) == []
    assert isinstance(view.timeline, Timeline)


@pytest.mark.parametrize(
    "settlement",
    [
        Answered(Allow(), Person("7"), "9", NOON),
        Expired(NOON),
        Expired(NOON, Answered(Allow(), Person("7"), "9", NOON)),
        Withdrawn("7", NOON),
        WITHDRAWN,
    ],
)
def test_the_line_of_a_settled_card_has_no_english_of_ours(settlement: Answered | Expired | Withdrawn) -> None:
    assert english_in(settled_line(ask_of(NPM), settlement, Person("7"))) == []
    assert english_in(settled_line(ask_of(PLAN), settlement, Person("8"))) == []


def test_an_unattended_ask_has_no_english_but_its_command() -> None:
    first, *commands = lines_of_ask(ask_of(NPM))
    assert english_in(first) == []
    assert all(each.strip().startswith("handraise answer a_1 --") for each in commands)
