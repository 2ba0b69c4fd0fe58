"""A session as people see it."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from handraise.model.sessions import Ended, Session, session_as_json, state_of
from store.examples import NOON, a_session

LOST = replace(a_session(phase="ended"), ended=Ended("lost", "a reboot", NOON))
STUCK = replace(a_session(phase="working"), stuck_since=NOON)


@pytest.mark.parametrize(
    ("session", "open_asks", "state"),
    [
        (a_session(phase="idle"), 0, "idle"),
        (a_session(phase="queued"), 0, "queued"),
        (a_session(phase="working"), 2, "needs you"),
        (STUCK, 0, "not moving"),
        (STUCK, 1, "needs you"),
        (LOST, 0, "lost"),
        (LOST, 1, "lost"),
    ],
)
def test_one_word_says_what_matters_most(session: Session, open_asks: int, state: str) -> None:
    assert state_of(session, open_asks) == state
    assert session_as_json(session, open_asks)["state"] == state


def test_a_session_is_shown_with_its_state_and_its_open_asks() -> None:
    shown = msgspec.json.decode(msgspec.json.encode(session_as_json(LOST, 3)))

    assert (shown["id"], shown["phase"], shown["open_asks"]) == ("s_1", "ended", 3)
    assert shown["ended"]["reason"] == "a reboot"
    assert shown["created_at"].endswith("Z")
    assert NOON + timedelta(0) == LOST.created_at
