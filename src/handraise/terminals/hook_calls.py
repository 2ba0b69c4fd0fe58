"""A PermissionRequest of a Claude in a terminal as an ask's body, and a settlement as the hook's decision. Pure.

Anything but an answer leaves the decision to the dialog in the terminal; nothing here can allow by mistake.
"""

from hashlib import sha256
from typing import Any, assert_never

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from handraise.model.agent_replies import NO_REASON, NOT_REVISED, OUTLINE, in_words
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import Answered, Ask, Body, Permission, Question, Terms
from handraise.model.inputs import MalformedInput, read_plan, read_questions
from handraise.model.tools import tool_named

EVENT = "PermissionRequest"
_UNJUDGED = frozenset({"default", "acceptEdits", "bypassPermissions"})
"""The modes without a classifier. In any other, a classifier may have objected, and the hook doesn't say so."""
_LONGEST_NAME = 300


class HookCall(Struct, frozen=True):
    """What Claude Code 2.1.325 sends, as far as we use it. There is no ID of the tool call in it."""

    session_id: str
    cwd: str
    hook_event_name: str
    tool_name: str
    tool_input: dict[str, Any]
    transcript_path: str = ""
    prompt_id: str = ""
    permission_mode: str = ""
    permission_suggestions: tuple[dict[str, Any], ...] = ()
    agent_id: str = ""
    """The sub-agent that asks; empty if the conversation itself does."""

    @property
    def key(self) -> str:
        """The same for the same request, however many hooks of one Claude carry it to us."""
        named = [self.session_id, self.prompt_id, self.agent_id, self.tool_name, self.tool_input]
        return sha256(msgspec.json.encode(named, order="deterministic")).hexdigest()


def read_hook(content: bytes) -> HookCall:
    """The request; raises MalformedInput."""
    try:
        call = msgspec.json.decode(content, type=HookCall)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise MalformedInput(f"This is not a request of a hook: {error}.") from error
    if call.hook_event_name != EVENT:
        raise MalformedInput(f"Only the event {EVENT} is answered here.")
    if not call.session_id or not call.tool_name.strip():
        raise MalformedInput("The request names no session or no tool.")
    if max(map(len, (call.session_id, call.tool_name, call.prompt_id, call.agent_id))) > _LONGEST_NAME:
        raise MalformedInput("A name in the request is too long.")
    return call


def body_of_hook(call: HookCall) -> Body:
    """What to ask people; raises MalformedInput."""
    match tool_named(call.tool_name).kind:
        case "question":
            return replace(read_questions(call.tool_input), terms=_terms(call))
        case "plan":
            return replace(read_plan(call.tool_input), terms=_terms(call))
        case _:
            suggestions = call.permission_suggestions
            return Permission(call.tool_name, call.tool_input, suggestions=suggestions, terms=_terms(call))


def decision_of(ask: Ask, call: HookCall) -> dict[str, Any]:
    """The hook's response to a settled ask; empty if the terminal is to decide."""
    if not isinstance(ask.settlement, Answered):
        return {}
    decision = _decision(ask, call, ask.settlement.answer)
    return {"hookSpecificOutput": {"hookEventName": EVENT, "decision": decision}} if decision else {}


def _terms(call: HookCall) -> Terms | UnsetType:
    """The hook says less than a session's request does, so what it leaves out counts as the strictest.

    Where Claude Code suggests nothing that lasts, it has a reason that it doesn't name: a safety check, or a rule of
    the user that says to ask.
    """
    person = call.permission_mode not in _UNJUDGED or tool_named(call.tool_name).kind in ("question", "plan")
    terms = Terms(person=person, once=person or not call.permission_suggestions)
    return UNSET if terms == Terms() else terms


def _decision(ask: Ask, call: HookCall, answer: Answer) -> dict[str, Any] | None:
    match answer:
        case Choices(answers):
            return _allow({**call.tool_input, "answers": _answers(ask, answers)})
        case Allow(input=changed, suggestions=chosen):
            return {**_allow(changed), **_lasting([_suggested(call, each) for each in chosen])}
        case Approve(mode, plan):
            # Without `updatedInput`, Claude Code ignores the approval of a plan.
            asked = call.tool_input if plan is None else {**call.tool_input, "plan": plan}
            return {**_allow(asked), **_lasting([{"type": "setMode", "mode": mode, "destination": "session"}])}
        case Deny(message, interrupt):
            return {**_deny(message.strip() or NO_REASON), **({"interrupt": True} if interrupt else {})}
        case Revise(message):
            return _deny(message.strip() or NOT_REVISED)
        case Outline():
            return _deny(OUTLINE)
        case Filled() | Trusting():
            return None
        case _:
            assert_never(answer)


def _allow(updated: dict[str, Any] | None) -> dict[str, Any]:
    return {"behavior": "allow", **({"updatedInput": updated} if updated is not None else {})}


def _deny(message: str) -> dict[str, Any]:
    return {"behavior": "deny", "message": message}


def _lasting(permissions: list[dict[str, Any] | None]) -> dict[str, Any]:
    found = [each for each in permissions if each is not None]
    return {"updatedPermissions": found} if found else {}


def _suggested(call: HookCall, number: int) -> dict[str, Any] | None:
    offered = call.permission_suggestions
    return offered[number] if 0 <= number < len(offered) else None


def _answers(ask: Ask, choices: tuple[Choice, ...]) -> dict[str, str]:
    prompts = ask.body.questions if isinstance(ask.body, Question) else ()
    return {prompt.question: in_words(choice) for prompt, choice in zip(prompts, choices, strict=True)}
