"""The last row of the terminal: what the session does, and the usage limits of the account where there is room."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from handraise.model.items import Item, SessionChanged, SessionEnded, SessionStarted
from handraise.model.sessions import Session
from handraise.model.usage import UsageLimit
from handraise.store.contents import encode
from handraise.surfaces.terminal.live import state
from handraise.surfaces.terminal.view import ViewState

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LIMIT = UsageLimit("five_hour", 0.42, NOON + timedelta(hours=2))
WORDS = "5-hour limit: 42% used, resets in 2 h"


def row(view: ViewState, now: datetime = NOON, width: int = 200) -> str:
    return "".join(text for _, text in state(view, now, width))


def session(*usage: UsageLimit) -> Session:
    return Session("s_1", None, "/work", "c", "A session", NOON, NOON, usage=usage)


def test_the_last_row_has_the_limits_until_they_start_again() -> None:
    view = ViewState(session(LIMIT))

    assert WORDS in row(view)
    assert WORDS not in row(view, width=40)
    assert "limit" not in row(view, NOON + timedelta(hours=3))
    assert "limit" not in row(ViewState(session()))


def test_a_change_of_the_session_brings_new_ones_and_hides_nothing() -> None:
    view = ViewState(session())
    change = SessionChanged(
        "idle", "default", None, "A session", 0.0, usage=(LIMIT, UsageLimit("a\x1b[2Jb", 0.1, LIMIT.resets_at))
    )
    view.timeline.receive(Item(1, "s_1", NOON, encode(change)), 80)

    assert WORDS in row(view)
    assert "\x1b" not in row(view)


def test_a_session_in_a_terminal_is_only_followed_until_it_has_ended() -> None:
    view = ViewState(replace(session(), phase="working", terminal="laptop"))

    assert not view.speaks
    assert row(view) == "working · default · in a terminal on laptop · Ctrl-D to leave"

    view.timeline.receive(Item(1, "s_1", NOON, encode(SessionEnded("finished", "", None))), 80)
    assert view.speaks
    assert "in a terminal" not in row(view)


def test_a_session_that_a_person_continues_in_a_terminal_can_no_longer_be_interrupted_here() -> None:
    view = ViewState(replace(session(), phase="working"))
    assert "Ctrl-C to interrupt" in row(view)

    started = SessionStarted("A session", None, "/work", "default", None, 2, terminal="lap\x1b[2Jtop")
    view.timeline.receive(Item(1, "s_1", NOON, encode(started)), 80)

    assert not view.speaks
    assert "Ctrl-C" not in row(view)
    assert "\x1b" not in row(view)
