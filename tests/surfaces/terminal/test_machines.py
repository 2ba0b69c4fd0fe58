"""Several machines in a terminal: where things are, and what it means that one is away."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from handraise.model.actors import Person
from handraise.model.asks import Ask, Origin, Permission
from handraise.model.items import InstructionSettled, Item, Said, SaidWithdrawn
from handraise.model.machines import Machine
from handraise.model.sessions import Session
from handraise.store.changes import OpenAsk, SaveMachine, SaveSession
from handraise.store.contents import encode
from handraise.surfaces.terminal.lines import text_of
from handraise.surfaces.terminal.live import live, state
from handraise.surfaces.terminal.view import ViewState
from surfaces.terminal.pseudo import CTRL_D
from surfaces.terminal.table import table

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HERE = Machine("m_here", "desk", "1", 8, NOON, NOON)
AWAY = Machine("m_far", "build-2", "1", 8, NOON, NOON, away_since=NOON)
FAR = Session("s_far", None, "/work", "c", "Far away", NOON, NOON, machine="m_far")
ASK = Ask("a_1", "s_far", None, Permission("Bash", {"command": "make"}), "Bash", Origin("r"), NOON, machine="m_far")
SENTENCE = "Machine `build-2` is away. Your answer is stored"


def inbox(*machines: Machine) -> ViewState:
    view = ViewState(None, machines={each.id: each for each in machines}, own="m_here")
    view.know("s_far", "Far away", "working", "/work")
    view.stack.add(ASK, NOON, "/work")
    return view


def drawn(view: ViewState) -> str:
    above, below, _ = live(view, NOON, 80, 40)
    return "\n".join(map(text_of, [*above, *below]))


def test_a_card_in_the_inbox_says_where_it_comes_from_and_what_becomes_of_an_answer() -> None:
    shown = drawn(inbox(HERE, AWAY))
    assert "Far away · build-2 (away)" in shown
    assert SENTENCE in shown


def test_with_one_machine_none_is_named() -> None:
    shown = drawn(inbox(AWAY))
    assert "Far away" in shown
    assert "build-2" not in shown
    alone = ViewState(FAR, machines={"m_far": AWAY})
    assert "build-2" not in text_of(state(alone, NOON, 200))


def test_the_last_row_names_the_machine() -> None:
    view = ViewState(FAR, machines={"m_here": HERE, "m_far": replace(AWAY, away_since=None)}, own="m_here")
    assert "build-2" in text_of(state(view, NOON, 200))
    view.machines["m_far"] = AWAY
    assert "build-2 (away)" in text_of(state(view, NOON, 200))


@pytest.mark.parametrize("name", ["\x1b[2Jevil", "a\nb", "\u202egnal"])
def test_no_name_of_a_machine_does_harm(name: str) -> None:
    view = inbox(HERE, replace(AWAY, name=name))
    assert name not in drawn(view)
    session = ViewState(FAR, machines=view.machines, own="m_here")
    assert name not in text_of(state(session, NOON, 200))


def test_what_was_taken_back_or_refused_is_said() -> None:
    view = ViewState(FAR)
    message = Said("say-1", "Skip the docs", 0, Person("ann"), "web")
    view.timeline.receive(Item(1, "s_far", NOON, encode(message)), 80)
    assert view.timeline.waiting
    rows = view.timeline.receive(Item(2, "s_far", NOON, encode(SaidWithdrawn("say-1"))), 80)
    assert (view.timeline.waiting, [text_of(row) for row in rows]) == ({}, ["– A message was taken back."])
    refused = InstructionSettled("i_1", "refused", "The session has ended.")
    rows = view.timeline.receive(Item(3, "s_far", NOON, encode(refused)), 80)
    assert [text_of(row) for row in rows] == ["! Not done: The session has ended."]


async def test_a_real_terminal_follows_a_session_of_a_machine_that_is_away(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    away = replace(AWAY, started_at=now, seen_at=now, away_since=now)
    async with table(tmp_path) as laid:
        await laid.hub.store.apply([SaveMachine(away, now), SaveSession(replace(FAR, changed_at=now)), OpenAsk(ASK)])
        async with laid.terminal("attach", "s_far") as terminal:
            await terminal.until("Machine `build-2` is away.", "Run `make`?", "build-2 (away)")
            back = replace(away, away_since=None, seen_at=now + timedelta(days=9000))
            await laid.hub.store.apply([SaveMachine(back, now)])
            await terminal.until("Machine `build-2` is back.")
            terminal.type(CTRL_D)
            await terminal.until("handraise attach s_far")
        async with laid.terminal("inbox") as terminal:
            await terminal.until("Run `make`?", "Far away · build-2")
            await laid.hub.store.apply([SaveMachine(away, now)])
            await terminal.until("Your answer is stored")
            terminal.type(CTRL_D)
