"""Turns a settlement into the line that Claude waits for. Pure; never allows what nobody allowed."""

from typing import Any, assert_never

import msgspec
from msgspec import Raw

from handraise.model.agent_replies import NO_REASON, NOBODY, NOBODY_ALLOWED, NOT_REVISED, OUTLINE, in_words
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import Answered, Ask, Dialog, Expired, Form, Question, Settlement, Withdrawn, is_dialog
from handraise.session import requests
from handraise.session.dialogs import CANCELLED
from handraise.wire.connection import Connection

HOOK = "hook_callback"
COOLING = (
    "The person asked for an outline first. Write it as a normal message and wait for their reply before asking again."
)


def reply(wire: Connection, ask: Ask) -> bytes | None:
    """The line for a settled ask; None if there is nothing to send."""
    request_id = ask.origin.reference
    result = requests.result(ask)
    if result is not None:
        return wire.send_mcp(request_id, result)
    if checks_a_call(ask):
        return _objection(wire, request_id, ask.settlement)
    match ask.settlement:
        case Answered(answer=answer):
            return _answer(wire, request_id, ask, answer)
        case Expired():
            if isinstance(ask.body, Form):
                return wire.send_filled(request_id, "cancel")
            if is_dialog(ask.body):
                return wire.send_dialog(request_id, None)
            return wire.send_deny(request_id, NOBODY if isinstance(ask.body, Question) else NOBODY_ALLOWED)
        case Withdrawn() | None:
            return None
        case _:
            assert_never(ask.settlement)


def checks_a_call(ask: Ask) -> bool:
    """Whether Claude did not ask, and only had us check a call."""
    return msgspec.json.decode(ask.origin.request, type=_Request).subtype == HOOK


def _answer(wire: Connection, request_id: str, ask: Ask, answer: Answer) -> bytes:
    match answer:
        case Choices(answers) if is_dialog(ask.body):
            return wire.send_dialog(request_id, _result(ask, answers))
        case Choices(answers):
            return wire.send_allow(request_id, _with_answers(ask, answers))
        case Allow(input=changed, suggestions=chosen):
            return wire.send_allow(request_id, changed or _input(ask), _suggested(ask, chosen))
        case Deny(message, interrupt):
            return wire.send_deny(request_id, message.strip() or NO_REASON, interrupt=interrupt)
        case Approve(mode, plan):
            asked: Any = msgspec.json.decode(_input(ask)) | ({"plan": plan} if plan is not None else {})
            # Without the mode, Claude would ask about every later edit, or about none: the person chose.
            return wire.send_allow(request_id, asked, [{"type": "setMode", "mode": mode, "destination": "session"}])
        case Revise(message):
            return wire.send_deny(request_id, message.strip() or NOT_REVISED)
        case Outline():
            return wire.send_deny(request_id, OUTLINE)
        case Filled(action, content):
            return wire.send_filled(request_id, action, content if action == "accept" else None)
        case Trusting():
            return wire.send_refusal(request_id, "This was never asked by Claude.")
        case _:
            assert_never(answer)


def allows(settlement: Settlement | None) -> bool:
    """Whether Claude may do what it asked about."""
    return isinstance(settlement, Answered) and isinstance(settlement.answer, Allow | Approve | Choices | Filled)


def modes(ask: Ask) -> list[str]:
    """The permission modes that the answer lets Claude switch to."""
    match ask.settlement:
        case Answered(answer=Approve(mode=mode)):
            return [mode]
        case Answered(answer=Allow(suggestions=chosen)):
            return [str(each.get("mode")) for each in _suggested(ask, chosen) if each.get("type") == "setMode"]
        case _:
            return []


def _objection(wire: Connection, request_id: str, settlement: Settlement | None) -> bytes | None:
    """A hook is never answered with yes: anything but a denial asks people."""
    match settlement:
        case Answered(answer=Deny(message=message)):
            return wire.send_objection(request_id, "deny", message.strip() or NO_REASON)
        case Answered() | Expired():
            return wire.send_objection(request_id, "ask", NO_REASON)
        case Withdrawn() | None:
            return None
        case _:
            assert_never(settlement)


class _Request(msgspec.Struct):
    subtype: str = ""
    input: Raw = Raw(b"{}")


def _input(ask: Ask) -> Raw:
    """What Claude wanted to do, verbatim."""
    return msgspec.json.decode(ask.origin.request, type=_Request).input


def _with_answers(ask: Ask, choices: tuple[Choice, ...]) -> dict[str, Any]:
    asked: dict[str, Any] = msgspec.json.decode(_input(ask))
    prompts = ask.body.questions if isinstance(ask.body, Question) else ()
    words = {prompt.question: in_words(choice) for prompt, choice in zip(prompts, choices, strict=True)}
    return {**asked, "answers": words}


def _result(ask: Ask, choices: tuple[Choice, ...]) -> str | None:
    """What Claude Code calls the chosen option; None if none was, or if it closes the dialog."""
    match ask.body, choices:
        case Question(questions=(prompt,), dialog=Dialog(results=results)), (Choice(labels=(label,)),):
            chosen = [result for option, result in zip(prompt.options, results, strict=False) if option.label == label]
            return chosen[0] if chosen and chosen[0] != CANCELLED else None
        case _:
            return None


def _suggested(ask: Ask, chosen: tuple[int, ...]) -> list[dict[str, Any]]:
    offered = getattr(ask.body, "suggestions", ())
    return [offered[number] for number in chosen if 0 <= number < len(offered)]
