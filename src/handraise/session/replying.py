"""Says a settlement as the line that Claude waits for. Pure; never allows what nobody allowed."""

from typing import Any, assert_never

import msgspec
from msgspec import Raw

from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise
from handraise.model.asks import Answered, Ask, Expired, Form, Question, Withdrawn
from handraise.wire.connection import Connection

NO_REASON = (
    "A person denied this and gave no reason. Do not try the same thing in another way; "
    "go on without it, or ask what they want instead."
)
OUTLINE = (
    "The person wants to see the steps before approving. Do not call ExitPlanMode again yet. First write, as a normal "
    "message, a step-by-step outline: each step with the files it touches and how it is checked. Then wait for a reply."
)
COOLING = (
    "The person asked for an outline first. Write it as a normal message and wait for their reply before asking again."
)
NOT_REVISED = "A person sent the plan back and gave no reason. Ask what should change before you show it again."
NOBODY = "Nobody answered in time. Go on with your best judgement where that is safe, and say what you assumed."
NOBODY_ALLOWED = (
    "Nobody answered in time, so this was not allowed. Go on without it, or finish and say what is missing."
)


def reply(wire: Connection, ask: Ask) -> bytes | None:
    """The line for an ask that is settled; None where nothing is to be said."""
    request_id = ask.origin.reference
    match ask.settlement:
        case Answered(answer=answer):
            return _answer(wire, request_id, ask, answer)
        case Expired():
            if isinstance(ask.body, Form):
                return wire.send_filled(request_id, "cancel")
            return wire.send_deny(request_id, NOBODY if isinstance(ask.body, Question) else NOBODY_ALLOWED)
        case Withdrawn() | None:
            return None
        case _:
            assert_never(ask.settlement)


def in_words(choice: Choice) -> str:
    """A choice as Claude reads it: labels joined by commas, then the free text."""
    text = (choice.text or "").strip()
    return ", ".join([*choice.labels, *([text] if text else [])])


def _answer(wire: Connection, request_id: str, ask: Ask, answer: Answer) -> bytes:
    match answer:
        case Choices(answers):
            return wire.send_allow(request_id, _with_answers(ask, answers))
        case Allow(input=changed, suggestions=chosen):
            return wire.send_allow(request_id, changed or _input(ask), _suggested(ask, chosen))
        case Deny(message, interrupt):
            return wire.send_deny(request_id, message.strip() or NO_REASON, interrupt=interrupt)
        case Approve(mode, plan):
            asked: Any = msgspec.json.decode(_input(ask)) | ({"plan": plan} if plan is not None else {})
            # Without the mode every later edit would be asked about, or none: the person chose.
            return wire.send_allow(request_id, asked, [{"type": "setMode", "mode": mode, "destination": "session"}])
        case Revise(message):
            return wire.send_deny(request_id, message.strip() or NOT_REVISED)
        case Outline():
            return wire.send_deny(request_id, OUTLINE)
        case Filled(action, content):
            return wire.send_filled(request_id, action, content if action == "accept" else None)
        case _:
            assert_never(answer)


class _Request(msgspec.Struct):
    input: Raw = Raw(b"{}")


def _input(ask: Ask) -> Raw:
    """What Claude wanted to do, to the letter."""
    return msgspec.json.decode(ask.origin.request, type=_Request).input


def _with_answers(ask: Ask, choices: tuple[Choice, ...]) -> dict[str, Any]:
    asked: dict[str, Any] = msgspec.json.decode(_input(ask))
    prompts = ask.body.questions if isinstance(ask.body, Question) else ()
    words = {prompt.question: in_words(choice) for prompt, choice in zip(prompts, choices, strict=True)}
    return {**asked, "answers": words}


def _suggested(ask: Ask, chosen: tuple[int, ...]) -> list[dict[str, Any]]:
    offered = getattr(ask.body, "suggestions", ())
    return [offered[number] for number in chosen if 0 <= number < len(offered)]
