"""A hook's request becomes an ask, and only an answer becomes a decision."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.model.actors import Person
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import Answered, Ask, Expired, Origin, Permission, Plan, Question, Terms, Withdrawn, terms_of
from handraise.model.inputs import MalformedInput
from handraise.terminals.hook_calls import HookCall, body_of_hook, decision_of, read_hook

NOW = datetime(2026, 11, 17, tzinfo=UTC)
RULE = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls"}], "behavior": "allow"}
CALL = HookCall("s", "/work", "PermissionRequest", "Bash", {"command": "ls"}, "", "p", "default", (RULE,))
QUESTIONS = {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def ask(call: HookCall, answer: Answer | None = None) -> Ask:
    opened = Ask("a", None, None, body_of_hook(call), call.tool_name, Origin("r"), NOW, "agent")
    return replace(opened, settlement=Answered(answer, Person("ana"), "web", NOW)) if answer else opened


def decided(call: HookCall, answer: Answer) -> Any:
    return decision_of(ask(call, answer), call)["hookSpecificOutput"]["decision"]


def test_an_allowed_call_runs_as_it_was_asked_or_as_it_was_edited() -> None:
    assert decided(CALL, Allow()) == {"behavior": "allow"}
    assert decided(CALL, Allow(input={"command": "pwd"})) == {"behavior": "allow", "updatedInput": {"command": "pwd"}}


def test_only_suggestions_that_a_person_chose_last() -> None:
    assert decided(CALL, Allow("always")) == {"behavior": "allow"}
    assert decided(CALL, Allow(suggestions=(0, 7, -1))) == {"behavior": "allow", "updatedPermissions": [RULE]}


def test_a_denial_says_why_and_may_end_the_turn() -> None:
    assert decided(CALL, Deny("Not now.")) == {"behavior": "deny", "message": "Not now."}
    stopped = decided(CALL, Deny("", interrupt=True))
    assert stopped["interrupt"] is True
    assert stopped["message"]


def test_a_question_is_answered_in_its_own_input() -> None:
    call = replace(CALL, tool_name="AskUserQuestion", tool_input=QUESTIONS)
    assert isinstance(body_of_hook(call), Question)
    answered = decided(call, Choices((Choice(("B",), "or so"),)))
    assert answered == {"behavior": "allow", "updatedInput": {**QUESTIONS, "answers": {"Which?": "B, or so"}}}


def test_a_plan_is_approved_with_its_input_because_claude_ignores_a_bare_approval() -> None:
    asked = {"plan": "# Plan", "planFilePath": "/p.md"}
    call = replace(CALL, tool_name="ExitPlanMode", tool_input=asked, permission_mode="plan")
    assert body_of_hook(call) == Plan("# Plan", Terms(person=True, once=True))
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    assert decided(call, Approve()) | {"updatedPermissions": []} == {
        "behavior": "allow",
        "updatedInput": asked,
        "updatedPermissions": [],
    }
    edited = decided(call, Approve("acceptEdits", "# Other"))
    assert edited["updatedInput"] == {**asked, "plan": "# Other"}
    assert edited["updatedPermissions"] == [mode]
    assert decided(call, Revise("Smaller."))["message"] == "Smaller."
    assert decided(call, Outline())["behavior"] == "deny"


@pytest.mark.parametrize("settlement", [None, Expired(NOW), Withdrawn("gone", NOW)])
def test_without_an_answer_the_terminal_decides(settlement: Any) -> None:
    assert decision_of(replace(ask(CALL), settlement=settlement), CALL) == {}


@pytest.mark.parametrize("answer", [Filled("accept", {}), Trusting("exactly")])
def test_an_answer_to_something_else_decides_nothing(answer: Answer) -> None:
    assert decision_of(ask(CALL, answer), CALL) == {}


@pytest.mark.parametrize("mode", ["auto", "plan", "", "somethingNew"])
def test_where_a_classifier_may_have_objected_only_a_person_decides(mode: str) -> None:
    terms = terms_of(body_of_hook(replace(CALL, permission_mode=mode)))
    assert (terms.person, terms.once) == (True, True)


def test_where_claude_suggests_nothing_that_lasts_nothing_lasts_here_either() -> None:
    assert terms_of(body_of_hook(replace(CALL, permission_suggestions=()))).once
    assert not terms_of(body_of_hook(CALL)).is_strict


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"\xff", b'{"session_id": "s"}', b"[" * 100_000]
    + [
        json.dumps({**json.loads(json.dumps({})), "session_id": "s", "cwd": "/", "tool_input": {}, **more}).encode()
        for more in (
            {"hook_event_name": "PreToolUse", "tool_name": "Bash"},
            {"hook_event_name": "PermissionRequest", "tool_name": " "},
            {"hook_event_name": "PermissionRequest", "tool_name": "x" * 301},
            {"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": []},
        )
    ],
)
def test_what_is_no_request_is_refused(content: bytes) -> None:
    with pytest.raises(MalformedInput):
        read_hook(content)


@given(st.dictionaries(st.text(max_size=12), JSON, max_size=5), JSON, JSON)
def test_no_field_of_a_request_allows_anything(more: dict[str, Any], tool_input: Any, suggestions: Any) -> None:
    payload = {"session_id": "s", "cwd": "/", "hook_event_name": "PermissionRequest", "tool_name": "Bash"}
    content = {**more, **payload, "tool_input": tool_input, "permission_suggestions": suggestions}
    try:
        call = read_hook(json.dumps(content).encode())
        body = body_of_hook(call)
    except MalformedInput:
        return
    assert isinstance(body, Permission)
    assert terms_of(body).person
    assert decision_of(ask(call), call) == {}


def test_two_hooks_of_one_claude_carry_the_same_request() -> None:
    assert CALL.key == replace(CALL, transcript_path="/elsewhere").key
    assert CALL.key != replace(CALL, tool_input={"command": "pwd"}).key
    assert CALL.key != replace(CALL, session_id="t").key
