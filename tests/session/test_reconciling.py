"""An adopted Claude says what it waits on: unknown requests are raised, those it no longer waits on are withdrawn."""

from typing import Any

import pytest

from handraise.model.answers import Allow
from handraise.model.items import Notice
from handraise.session.commands import Deliver, ProcessStarted, Raise, Stop, TimerFired, WakeMe, Withdraw
from handraise.session.memory import Memory
from handraise.session.reconciling import SOON
from session.claude_says import (
    Line,
    Talk,
    acknowledged,
    ask_user,
    bash,
    cancel,
    form,
    of,
    published,
    responses,
    tool_result,
    working,
    written,
)


def adopted(*lines: Line) -> tuple[Talk, str]:
    """A session that heard these lines, with its next hub; and the id of that hub's question."""
    before = working()
    before.hear(*lines)
    return adopt(before)


def adopt(before: Talk) -> tuple[Talk, str]:
    talk = Talk(Memory.load(before.memory.dump()))
    talk.asks.update(before.asks)
    (asked,) = written(talk.observe(ProcessStarted()))
    return talk, asked["request_id"]


def pending(request_id: str, *requests: Any) -> Line:
    return acknowledged(request_id, response={"pid": 1}, pending_permission_requests=list(requests))


def test_nothing_is_said_if_both_agree() -> None:
    talk, again = adopted(bash("r_1"))

    assert talk.hear(pending(again, bash("r_1"))) == []
    assert list(talk.memory.requests) == ["r_1"]


def test_a_request_that_claude_waits_on_and_we_do_not_know_becomes_an_ask() -> None:
    talk, again = adopted()

    commands = talk.hear(pending(again, bash("r_9", "make", requires_user_interaction=True)))

    (raised,) = of(Raise, commands)
    assert (raised.ask.origin.reference, raised.ask.tool) == ("r_9", "Bash")
    assert [each.about for each in published(Notice, commands)] == ["reattached"]
    (response,) = responses(talk.answer("r_9", Allow()))
    assert response["behavior"] == "allow"
    assert of(Deliver, talk.hear(acknowledged("r_9"))) == [Deliver(raised.ask.id)]


def test_an_unknown_request_that_cannot_be_read_is_denied_like_its_frame() -> None:
    talk, again = adopted()

    commands = talk.hear(pending(again, bash("r_9") | {"request": {"subtype": "can_use_tool", "tool_name": "Bash",
                                                                  "input": ["ls"]}}))  # fmt: skip

    assert of(Raise, commands) == []
    assert [each["behavior"] for each in responses(commands)] == ["deny"]


def test_an_ask_that_claude_no_longer_waits_on_is_withdrawn_with_a_sentence() -> None:
    talk, again = adopted(bash("r_1"), bash("r_2", use="t_2"))

    commands = talk.hear(pending(again, bash("r_2", use="t_2")))

    (withdrawn,) = of(Withdraw, commands)
    assert withdrawn.reason == "Claude no longer waits for this request"
    assert [each.about for each in published(Notice, commands)] == ["reattached"]
    assert list(talk.memory.requests) == ["r_2"]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"pending_permission_requests": None},
        {"pending_permission_requests": "none"},
        {"pending_permission_requests": {}},
        {"pending_permission_requests": [None]},
        {"pending_permission_requests": [{"type": "control_request"}]},
        {"pending_permission_requests": [{"type": "control_request", "request_id": 7, "request": {}}]},
        {"subtype": "error", "error": "Already initialized", "pending_permission_requests": []},
    ],
)
def test_an_answer_without_a_whole_list_withdraws_nothing(answer: dict[str, Any]) -> None:
    talk, again = adopted(bash("r_1"))

    assert talk.hear(acknowledged(again, **{"subtype": "success", **answer})) == []
    assert list(talk.memory.requests) == ["r_1"]


def test_what_claude_does_not_list_is_left_alone() -> None:
    talk, again = adopted(form("r_1"), ask_user("r_2", question="Which?"))

    assert talk.hear(pending(again)) == []
    assert list(talk.memory.requests) == ["r_1", "r_2"]


def test_a_request_that_came_after_the_question_is_not_withdrawn_by_its_answer() -> None:
    talk, again = adopted()
    talk.hear(bash("r_1"))

    assert talk.hear(pending(again)) == []
    assert list(talk.memory.requests) == ["r_1"]


def test_an_answer_on_its_way_is_neither_lost_nor_sent_twice() -> None:
    talk, again = adopted(bash("r_1"))
    assert responses(talk.answer("r_1", Allow()))

    commands = talk.hear(pending(again, bash("r_1")))
    assert [*of(Raise, commands), *of(Withdraw, commands), *written(commands)] == []
    assert of(Deliver, talk.hear(acknowledged("r_1")))
    assert talk.memory.requests == {}


@pytest.mark.parametrize("end", [cancel("r_1"), tool_result("t_1", is_error=True)])
def test_a_request_that_ended_meanwhile_is_not_withdrawn_twice(end: Line) -> None:
    talk, again = adopted(bash("r_1"))
    assert len(of(Withdraw, talk.hear(end))) == 1

    assert talk.hear(pending(again)) == []


def test_a_request_that_was_denied_at_once_is_not_raised_while_claude_has_not_read_it() -> None:
    talk, again = adopted()
    malformed = bash("r_1") | {"request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": None}}
    assert [each["behavior"] for each in responses(talk.hear(malformed))] == ["deny"]

    assert talk.hear(pending(again, malformed)) == []


def test_the_answer_to_the_last_hub_says_nothing_about_this_one() -> None:
    first, old = adopted()
    first.hear(bash("r_1"))
    talk, again = adopt(first)

    assert again != old
    assert talk.hear(pending(old)) == []
    assert list(talk.memory.requests) == ["r_1"]
    assert len(of(Withdraw, talk.hear(pending(again)))) == 1


def test_the_same_answer_twice_says_nothing_more() -> None:
    talk, again = adopted()
    talk.hear(pending(again, bash("r_9")))

    assert talk.hear(pending(again, bash("r_9"))) == []


def test_a_session_that_is_being_stopped_raises_nothing() -> None:
    talk, again = adopted()
    talk.wish(Stop())

    assert of(Raise, talk.hear(pending(again, bash("r_9")))) == []


def said(state: str) -> Line:
    return {"type": "system", "subtype": "session_state_changed", "state": state, "session_id": "c"}


def test_a_claude_that_waits_for_something_unknown_is_asked_what_it_is() -> None:
    talk = working()
    assert of(WakeMe, talk.hear(said("requires_action"))) == [WakeMe("unknown wait", SOON)]

    commands = talk.observe(TimerFired("unknown wait"))

    assert [each.about for each in published(Notice, commands)] == ["reattached"]
    (asked,) = written(commands)
    (raised,) = of(Raise, talk.hear(pending(asked["request_id"], bash("r_9"))))
    assert raised.ask.origin.reference == "r_9"
    assert talk.observe(TimerFired("unknown wait")) == []


def test_a_claude_that_waits_for_what_is_open_or_waits_no_longer_is_not_questioned() -> None:
    talk = working()
    talk.hear(said("requires_action"), bash("r_1"))
    assert talk.observe(TimerFired("unknown wait")) == []

    talk = working()
    talk.hear(said("requires_action"))
    assert of(WakeMe, talk.hear(said("running"))) == [WakeMe("unknown wait", None)]
    assert talk.observe(TimerFired("unknown wait")) == []


@pytest.mark.parametrize("state", ["running", "idle", "", "something new"])
def test_any_other_state_changes_nothing(state: str) -> None:
    assert working().hear(said(state)) == []
