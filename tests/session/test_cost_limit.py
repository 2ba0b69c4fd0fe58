"""The cost limit of a session: beyond it, it is stopped between turns, and accepts nothing more."""

import pytest

from handraise.model.sessions import Say
from handraise.session import ending
from handraise.session.commands import ProcessStarted, Speak, Terminate
from handraise.session.machine import SessionLimits, WishRefused
from handraise.session.memory import Memory
from session.claude_says import ANA, HELLO, NOON, Talk, init, of, result, working

SAY = Say("u_1", "s_1", "go on", ANA, "web", NOON)
LIMIT = SessionLimits(cost_usd=1.0)


def test_a_session_below_its_limit_goes_on() -> None:
    talk = working(LIMIT)
    assert of(Terminate, talk.hear(result(total_cost_usd=0.99))) == []
    talk.machine.wish(Speak(SAY))


def test_a_session_that_reaches_its_limit_is_stopped_when_the_turn_ends() -> None:
    talk = working(LIMIT)
    assert len(of(Terminate, talk.hear(result(total_cost_usd=1.2)))) == 1
    assert talk.memory.stop_reason == "it cost $1.20, and the project's limit is $1.00"


def test_what_earlier_processes_cost_counts_too_and_a_say_is_refused() -> None:
    talk = Talk(Memory(phase="idle", greeted=True, cost_before=1.0), limits=LIMIT)
    with pytest.raises(WishRefused, match="limit"):
        talk.machine.wish(Speak(SAY))


def test_a_session_that_has_cost_its_limit_before_it_is_greeted_is_stopped_and_takes_nothing() -> None:
    talk = Talk(Memory(cost_before=1.0), limits=LIMIT)
    talk.observe(ProcessStarted())

    assert len(of(Terminate, talk.hear(HELLO))) == 1
    assert talk.memory.stop_reason == "it cost $1.00, and the project's limit is $1.00"


def test_the_refusal_names_what_it_cost_and_the_limit_and_how_to_raise_it() -> None:
    assert ending.refusal(1.2, 1.0, "'my shop'") == (
        "The session can't continue: it cost $1.20, and the project's limit is $1.00. "
        "Raise the limit first: handraise project set 'my shop' cost_limit_usd=3"
    )


def test_without_a_limit_nothing_is_too_much() -> None:
    talk = working()
    assert of(Terminate, talk.hear(result(total_cost_usd=5000.0), init())) == []
