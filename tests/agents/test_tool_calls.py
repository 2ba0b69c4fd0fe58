"""The calls of external agents and their results: nothing is allowed that nobody allowed."""

import json
from typing import Any

import pytest

from handraise.agents import tool_calls
from handraise.model.actors import Person
from handraise.model.agent_replies import (
    ASK_USER_EXPIRED,
    NO_REASON,
    NOBODY,
    NOBODY_ALLOWED,
    NOT_REVISED,
    OUTLINE,
    Reply,
)
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise
from handraise.model.asks import Answered, Ask, Body, Expired, Origin, Permission, Plan, Question, Settlement, Withdrawn
from handraise.model.inputs import MalformedInput
from handraise.model.own_tools import APPROVAL_PROMPT, ASK_USER
from inbox.waiting_room import NOON

BASH = {"tool_name": "Bash", "input": {"command": "ls"}}
PLAN = {"tool_name": "ExitPlanMode", "input": {"plan": "1. Look"}}
QUESTION: dict[str, Any] = {
    "tool_name": "AskUserQuestion",
    "input": {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}], "more": 1},
}


def settled(tool: str, arguments: dict[str, Any], settlement: Settlement | None) -> Ask:
    body = tool_calls.read_call(tool, arguments)
    origin = Origin("c/1", request=tool_calls.as_stored(tool, arguments))
    return Ask(
        "a_1", None, None, body, tool_calls.subject(tool, arguments), origin, NOON, "agent", settlement=settlement
    )


def decided(arguments: dict[str, Any], answer: Answer) -> dict[str, Any]:
    reply = tool_calls.result_of(settled(APPROVAL_PROMPT, arguments, Answered(answer, Person("ana"), "web", NOON)))
    assert not reply.is_error
    response: dict[str, Any] = json.loads(reply.text)
    return response


@pytest.mark.parametrize(("arguments", "kind"), [(BASH, Permission), (PLAN, Plan), (QUESTION, Question)])
def test_what_claude_wants_to_use_decides_the_kind_of_ask(arguments: dict[str, Any], kind: type[Body]) -> None:
    assert isinstance(tool_calls.read_call(APPROVAL_PROMPT, arguments), kind)
    assert tool_calls.subject(APPROVAL_PROMPT, arguments) == arguments["tool_name"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("nothing", {}),
        (ASK_USER, {}),
        (ASK_USER, {"question": "  "}),
        (ASK_USER, {"question": "Which?", "options": "A"}),
        (ASK_USER, {"question": "Which?", "multiSelect": "yes"}),
        (APPROVAL_PROMPT, {}),
        (APPROVAL_PROMPT, {"tool_name": "Bash", "input": "ls"}),
        (APPROVAL_PROMPT, {"tool_name": "AskUserQuestion", "input": {"questions": []}}),  # lesson 14
        (APPROVAL_PROMPT, {"tool_name": "ExitPlanMode", "input": {"plan": " "}}),
    ],
)
def test_what_cannot_be_shown_is_malformed(tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(MalformedInput):
        tool_calls.read_call(tool, arguments)


def test_an_answer_to_ask_user_is_worded_as_specified() -> None:
    def reply(choice: Choice) -> Reply:
        answered = Answered(Choices((choice,)), Person("ana"), "web", NOON)
        return tool_calls.result_of(settled(ASK_USER, {"question": "Which?"}, answered))

    assert reply(Choice(("A",))) == Reply("User selected: A")
    assert reply(Choice(("A", "B"))) == Reply("User selected: A, B")
    assert reply(Choice((), "neither")) == Reply("neither")
    assert reply(Choice(("A",), "but small")) == Reply("User selected: A\nbut small")


def test_nobody_answered_ask_user() -> None:
    ask = settled(ASK_USER, {"question": "Which?"}, Expired(NOON))

    assert tool_calls.result_of(ask) == Reply(ASK_USER_EXPIRED, is_error=True)


def test_a_withdrawn_question_is_an_error_without_the_words_for_people() -> None:
    ask = settled(ASK_USER, {"question": "Which?"}, Withdrawn("the agent is gone", NOON))

    assert tool_calls.result_of(ask) == Reply("The question was withdrawn.", is_error=True)


def test_an_allowed_call_always_carries_its_input() -> None:  # lesson 2
    assert decided(BASH, Allow()) == {"behavior": "allow", "updatedInput": {"command": "ls"}}
    assert decided(BASH, Allow(input={"command": "pwd"})) == {"behavior": "allow", "updatedInput": {"command": "pwd"}}


def test_a_denial_always_has_a_reason() -> None:  # lesson 42
    assert decided(BASH, Deny("No.")) == {"behavior": "deny", "message": "No."}
    assert decided(BASH, Deny("  ")) == {"behavior": "deny", "message": NO_REASON}
    assert decided(BASH, Deny("Stop.", interrupt=True))["interrupt"] is True


def test_an_answered_question_keeps_what_was_asked_beside_the_answers() -> None:
    text = decided(QUESTION, Choices((Choice(("A",), "please"),)))

    assert text == {"behavior": "allow", "updatedInput": {**QUESTION["input"], "answers": {"Which?": "A, please"}}}


def test_an_approved_plan_says_which_mode_comes_next() -> None:  # lesson 10
    text = decided(PLAN, Approve("acceptEdits", "2. Leap"))

    assert text["updatedInput"] == {"plan": "2. Leap"}
    assert text["updatedPermissions"] == [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]


@pytest.mark.parametrize(
    ("answer", "message"), [(Revise("More."), "More."), (Revise(), NOT_REVISED), (Outline(), OUTLINE)]
)
def test_a_plan_that_is_not_approved_is_denied(answer: Answer, message: str) -> None:
    assert decided(PLAN, answer) == {"behavior": "deny", "message": message}


@pytest.mark.parametrize(
    ("arguments", "settlement", "message"),
    [
        (BASH, Expired(NOON), NOBODY_ALLOWED),
        (PLAN, Expired(NOON), NOBODY_ALLOWED),
        (QUESTION, Expired(NOON), NOBODY),
        (BASH, Withdrawn("the agent is gone", NOON), "Withdrawn, so not allowed."),
        (BASH, None, "Nobody has answered yet."),
        (BASH, Answered(Filled("accept", {}), Person("ana"), "web", NOON), "The answer doesn't fit the request."),
    ],
)
def test_whatever_else_becomes_of_it_denies(
    arguments: dict[str, Any], settlement: Settlement | None, message: str
) -> None:  # lesson 37
    reply = tool_calls.result_of(settled(APPROVAL_PROMPT, arguments, settlement))

    assert not reply.is_error
    assert json.loads(reply.text) == {"behavior": "deny", "message": message}


def test_a_refusal_is_worded_as_each_tool_wants_it() -> None:
    assert tool_calls.refused(ASK_USER, "No.") == Reply("No.", is_error=True)
    assert tool_calls.refused(APPROVAL_PROMPT, "No.") == Reply('{"behavior": "deny", "message": "No."}')
