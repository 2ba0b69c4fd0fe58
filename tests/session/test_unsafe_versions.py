"""Plan mode in versions of Claude Code in which commands can run unasked."""

import pytest

from handraise.session.commands import ChangeMode, Consult
from handraise.session.machine import SessionLimits, WishRefused
from handraise.session.memory import Memory
from session.claude_says import HELLO, Line, Talk, init, of, responses, written

ALLOWED = SessionLimits(unsafe_plan=True)


def enter_plan_mode() -> Line:
    call = {"tool_name": "EnterPlanMode", "tool_input": {}, "tool_use_id": "t_1"}
    inside = {"subtype": "hook_callback", "callback_id": "handraise", "input": call}
    return {"type": "control_request", "request_id": "h_1", "request": inside}


def session(version: str, limits: SessionLimits | None = None) -> Talk:
    talk = Talk(Memory(version=version), limits=limits or SessionLimits())
    talk.hear(HELLO, init())
    return talk


@pytest.mark.parametrize("version", ["2.1.197", "2.1.222", ""])
def test_an_unsafe_claude_is_not_switched_to_plan_mode(version: str) -> None:
    talk = session(version)

    with pytest.raises(WishRefused, match=r"Update to 2\.1\.223"):
        talk.wish(ChangeMode("plan"))
    assert talk.memory.granted == []
    assert written(talk.wish(ChangeMode("acceptEdits")))


def test_an_unsafe_claude_does_not_enter_plan_mode_by_itself() -> None:
    (response,) = responses(session("2.1.197").hear(enter_plan_mode()))

    assert response["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize(("version", "limits"), [("2.1.223", SessionLimits()), ("2.1.197", ALLOWED), ("", ALLOWED)])
def test_a_safe_one_and_what_the_settings_allow_may_plan(version: str, limits: SessionLimits) -> None:
    talk = session(version, limits)

    assert written(talk.wish(ChangeMode("plan")))
    assert of(Consult, talk.hear(enter_plan_mode()))


def test_the_version_that_claude_itself_names_counts() -> None:
    talk = session("")
    talk.hear(init(claude_code_version="2.1.325"))
    assert written(talk.wish(ChangeMode("plan")))

    talk.hear(init(claude_code_version="2.1.197"))
    with pytest.raises(WishRefused):
        talk.wish(ChangeMode("plan"))
