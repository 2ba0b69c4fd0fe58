"""An external agent's call as an ask's body, and a settlement as the call's result. Pure; errors deny."""

import json
from typing import Any, assert_never

from handraise.model.agent_replies import (
    NO_REASON,
    NOBODY,
    NOBODY_ALLOWED,
    NOT_REVISED,
    OUTLINE,
    Reply,
    ask_user_reply,
    in_words,
)
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import Answered, Ask, Body, Expired, Permission, Question, Withdrawn
from handraise.model.inputs import MalformedInput, read_ask_user, read_plan, read_questions
from handraise.model.own_tools import APPROVAL_PROMPT, ASK_USER
from handraise.model.tools import tool_named


def read_call(tool: str, arguments: dict[str, Any]) -> Body:
    """What to ask people; raises MalformedInput."""
    match tool:
        case "ask_user":
            return read_ask_user(arguments)
        case "approval_prompt":
            return _read_approval(arguments)
        case _:
            raise MalformedInput(f"There is no tool {tool!r} here.")


def subject(tool: str, arguments: dict[str, Any]) -> str:
    """The tool that the ask is about: the one in `approval_prompt`, or `ask_user` itself."""
    return str(arguments["tool_name"]) if tool == APPROVAL_PROMPT else tool


def as_stored(tool: str, arguments: dict[str, Any]) -> str:
    """A call as it is stored with its ask; the result is built from it."""
    return json.dumps({"tool": tool, "arguments": arguments})


def result_of(ask: Ask) -> Reply:
    """The result of the call that raised this settled ask."""
    call = json.loads(ask.origin.request)
    if ask.settlement is None:
        return refused(call["tool"], "Nobody has answered yet.")
    if call["tool"] == ASK_USER:
        return ask_user_reply(ask.settlement)
    return _as_block(_permission_result(ask, call["arguments"].get("input") or {}))


def refused(tool: str, reason: str) -> Reply:
    """The result of a call without asking anyone."""
    if tool == APPROVAL_PROMPT:
        return _as_block({"behavior": "deny", "message": reason})
    return Reply(reason, is_error=True)


def _read_approval(arguments: dict[str, Any]) -> Body:
    name, tool_input = arguments.get("tool_name"), arguments.get("input", {})
    if not isinstance(name, str) or not name.strip():
        raise MalformedInput("`tool_name` must name a tool.")
    if not isinstance(tool_input, dict):
        raise MalformedInput(f"The input of {name} is not an object.")
    match tool_named(name).kind:
        case "question":
            return read_questions(tool_input)
        case "plan":
            return read_plan(tool_input)
        case _:
            return Permission(tool=name, input=tool_input)


def _as_block(result: dict[str, Any]) -> Reply:
    """Claude expects one text block of JSON, even for a refusal."""
    return Reply(json.dumps(result))


def _permission_result(ask: Ask, asked: dict[str, Any]) -> dict[str, Any]:
    match ask.settlement:
        case Answered(answer=answer):
            return _decided(ask, asked, answer)
        case Expired():
            return _deny(NOBODY if isinstance(ask.body, Question) else NOBODY_ALLOWED)
        case Withdrawn():
            return _deny("Withdrawn, so not allowed.")
        case None:
            return _deny("Nobody has decided yet.")
        case _:
            assert_never(ask.settlement)


def _decided(ask: Ask, asked: dict[str, Any], answer: Answer) -> dict[str, Any]:
    match answer:
        case Choices(answers):
            return _allow({**asked, "answers": _answers(ask, answers)})
        case Allow(input=changed):
            return _allow(changed if changed is not None else asked)
        case Approve(mode, plan):
            modes = [{"type": "setMode", "mode": mode, "destination": "session"}]
            return {**_allow({**asked, **({"plan": plan} if plan is not None else {})}), "updatedPermissions": modes}
        case Deny(message, interrupt):
            return {**_deny(message.strip() or NO_REASON), **({"interrupt": True} if interrupt else {})}
        case Revise(message):
            return _deny(message.strip() or NOT_REVISED)
        case Outline():
            return _deny(OUTLINE)
        case Filled() | Trusting():
            return _deny("The answer doesn't fit the request.")
        case _:
            assert_never(answer)


def _answers(ask: Ask, choices: tuple[Choice, ...]) -> dict[str, str]:
    prompts = ask.body.questions if isinstance(ask.body, Question) else ()
    return {prompt.question: in_words(choice) for prompt, choice in zip(prompts, choices, strict=True)}


def _allow(updated: dict[str, Any]) -> dict[str, Any]:
    return {"behavior": "allow", "updatedInput": updated}


def _deny(message: str) -> dict[str, Any]:
    return {"behavior": "deny", "message": message}
