"""Makes an ask's body of what Claude requests, or says why it is malformed. Nothing empty passes for a question."""

from typing import Any

import msgspec

from handraise.model.asks import Body, Form, Option, Permission, Plan, Prompt, Question
from handraise.wire.requests import CanUseTool, Elicitation


class Malformed(Exception):
    """Claude asked for something that cannot be put to a person. The text is for Claude."""


def body_of(request: CanUseTool | Elicitation) -> Body:
    """What to put to people; raises Malformed."""
    if isinstance(request, Elicitation):
        return _form(request)
    told = _read(request)
    match request.tool_name:
        case "AskUserQuestion":
            return read_questions(told)
        case "ExitPlanMode":
            return _plan(told)
        case _:
            return _permission(request, told)


def _read(request: CanUseTool) -> dict[str, Any]:
    try:
        told = msgspec.json.decode(request.input)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Malformed(f"The input of {request.tool_name} cannot be read: {error}.") from error
    if not isinstance(told, dict):
        raise Malformed(f"The input of {request.tool_name} is not an object.")
    return told


def read_questions(told: dict[str, Any]) -> Question:
    """The questions of an `AskUserQuestion` input; raises Malformed."""
    asked = told.get("questions")
    if not isinstance(asked, list) or not asked:
        raise Malformed("There are no questions in this call: `questions` must be a list with at least one.")
    prompts = tuple(_prompt(each, number) for number, each in enumerate(asked, 1))
    if len({prompt.question for prompt in prompts}) != len(prompts):
        raise Malformed("Two questions have the same text; answers are matched by it.")
    return Question(prompts)


def _prompt(told: object, number: int) -> Prompt:
    if not isinstance(told, dict):
        raise Malformed(f"Question {number} is not an object.")
    question = told.get("question")
    if not isinstance(question, str) or not question.strip():
        raise Malformed(f"Question {number} has no text.")
    options = told.get("options")
    if not isinstance(options, list) or not options:
        raise Malformed(f"Question {number} has no options: give at least two.")
    read = tuple(_option(each, number) for each in options)
    if len({option.label for option in read}) != len(read):
        raise Malformed(f"Question {number} has two options with the same label.")
    header, several = told.get("header", ""), told.get("multiSelect", False)
    if not isinstance(header, str) or not isinstance(several, bool):
        raise Malformed(f"Question {number}: `header` must be text and `multiSelect` true or false.")
    return Prompt(question, header, read, several)


def _option(told: object, number: int) -> Option:
    if not isinstance(told, dict):
        raise Malformed(f"An option of question {number} is not an object.")
    label, description, preview = told.get("label"), told.get("description", ""), told.get("preview")
    if not isinstance(label, str) or not label.strip():
        raise Malformed(f"An option of question {number} has no label.")
    if not isinstance(description, str) or not isinstance(preview, str | None):
        raise Malformed(f"An option of question {number} has a description or preview that is not text.")
    return Option(label, description, preview)


def _plan(told: dict[str, Any]) -> Plan:
    plan = told.get("plan")
    if not isinstance(plan, str) or not plan.strip():
        raise Malformed("The plan is empty: write it down before asking to leave plan mode.")
    return Plan(plan)


def _permission(request: CanUseTool, told: dict[str, Any]) -> Permission:
    return Permission(
        tool=request.tool_name,
        input=told,
        description=request.description or "",
        reason=request.decision_reason or "",
        blocked_path=request.blocked_path,
        suggestions=tuple(request.permission_suggestions or ()),
    )


def _form(request: Elicitation) -> Form:
    schema = request.requested_schema or {}
    if request.mode != "form":
        raise Malformed(f"An elicitation of mode {request.mode!r} cannot be shown as a form.")
    if not isinstance(schema.get("properties", {}), dict):
        raise Malformed("The form's schema has no properties.")
    return Form(request.message, request.mcp_server_name, schema)
