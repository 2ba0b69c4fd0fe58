"""Messages: received, finished, dropped, or possibly lost."""

from datetime import timedelta
from typing import Any

import pytest

from handraise.model.items import Notice, SessionEnded, TurnEnded
from handraise.session.commands import ProcessEnded, ProcessStarted, Return, Take
from handraise.session.memory import Memory
from session.claude_says import NOON, Talk, became, init, of, published, replayed, result, working


def test_what_claude_echoes_is_taken_and_finished_with_the_turn() -> None:
    talk = working()

    assert of(Take, talk.hear(replayed("u_1"))) == [Take("u_1")]
    assert talk.memory.unfinished == {"u_1": NOON}
    talk.hear(result())
    assert (talk.memory.unfinished, talk.memory.finished) == ({}, ["u_1"])


@pytest.mark.parametrize("state", ["queued", "started", "completed", "cancelled", "discarded"])
def test_what_was_echoed_needs_no_other_word(state: str) -> None:
    talk = working()
    talk.hear(replayed("u_1"))

    assert of(Take, talk.hear(became("u_1", state))) == []
    assert published(Notice, talk.hear(result(), became("u_1", state))) == []


def test_what_is_done_with_and_was_never_echoed_is_taken() -> None:
    assert of(Take, working().hear(became("u_1", "started"), result(), became("u_1", "completed"))) == [Take("u_1")]


@pytest.mark.parametrize("state", ["cancelled", "refused"])
def test_what_claude_dropped_unread_is_not_taken_and_that_is_told(state: str) -> None:
    commands = working().hear(became("u_1", "queued"), became("u_1", state))

    assert of(Take, commands) == []
    (notice,) = published(Notice, commands)
    assert (notice.level, notice.about) == ("warning", "not taken")


@pytest.mark.parametrize("state", ["queued", "discarded", "dances"])
def test_what_was_not_taken_up_waits_and_nobody_is_bothered(state: str) -> None:
    assert working().hear(became("u_1", state)) == []


@pytest.mark.parametrize(
    ("seconds", "exit_code", "returned"), [(1, -9, True), (1, 1, True), (3, -9, False), (1, 0, False)]
)
def test_what_was_taken_up_just_before_claude_was_killed_waits_again(
    seconds: float, exit_code: int, returned: bool
) -> None:
    talk = working()
    talk.hear(replayed("u_1"))

    commands = talk.later(seconds).observe(ProcessEnded(exit_code, ""))

    assert of(Return, commands) == ([Return("u_1")] if returned else [])
    assert len(published(SessionEnded, commands)) == 1


def resuming(**memory: Any) -> Talk:
    talk = Talk(Memory(way="resume", turn=2, **memory))
    talk.observe(ProcessStarted())
    return talk


NOTHING = "No conversation found with session ID: 1234"


@pytest.mark.parametrize("text", [NOTHING, "Aucune conversation"])
def test_a_claude_that_found_nothing_to_resume_begins_anew(text: str) -> None:
    talk = resuming(unfinished={"u_1": NOON - timedelta(days=1), "u_2": NOON})
    assert published(TurnEnded, talk.hear(result(is_error=True, result=None, errors=[text]))) == []

    commands = talk.observe(ProcessEnded(1, ""))

    assert of(Return, commands) == [Return("u_1"), Return("u_2")]
    assert published(SessionEnded, commands) == []
    assert [each.about for each in published(Notice, commands)] == ["starts over"]
    assert (talk.memory.phase, talk.memory.missing, talk.memory.ended) == ("queued", "resume", None)
    assert talk.observe(ProcessEnded(1, NOTHING)) == []


@pytest.mark.parametrize(
    "memory",
    [Memory(way="begin"), Memory(way="resume", phase="stopping", stop_reason="ana stopped it")],
    ids=["begun", "stopping"],
)
def test_who_had_nothing_to_resume_or_is_being_stopped_does_not_begin_anew(memory: Memory) -> None:
    talk = Talk(memory)

    (ended,) = published(SessionEnded, talk.observe(ProcessEnded(1, NOTHING)))

    assert ended.how in ("failed", "stopped")
    assert talk.memory.phase == "ended"


def test_a_resumed_claude_that_fails_in_another_way_has_failed() -> None:
    for errors in ("Invalid API key", NOTHING):
        (ended,) = published(SessionEnded, resuming().observe(ProcessEnded(1, errors)))
        assert (ended.how, ended.reason) == ("failed", errors)


def test_a_turn_ends_the_search() -> None:
    talk = Talk(Memory(way="begin", missing="resume"))
    talk.observe(ProcessStarted())

    talk.hear(init())

    assert talk.memory.missing == ""


def test_another_name_for_the_conversation_is_kept_and_has_another_opening() -> None:
    talk = working()
    talk.hear(init(session_id="one"), replayed("u_1"), result())
    assert (talk.memory.claude_id, talk.memory.opening) == ("one", "u_1")

    talk.hear(init(session_id="one"), replayed("u_2"), result())
    assert talk.memory.opening == "u_1"
    talk.hear(init(session_id="two"), replayed("u_3"), result())
    assert (talk.memory.claude_id, talk.memory.opening) == ("two", "u_3")
