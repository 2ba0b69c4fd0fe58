"""Turns a tool's input into the body of an ask, or says why it can't be shown to a person. Pure."""

from typing import Any

from handraise.model.asks import Option, Plan, Prompt, Question


class MalformedInput(Exception):
    """The input can't be shown to a person. The text is for the asker."""


def read_questions(arguments: dict[str, Any]) -> Question:
    """The input of `AskUserQuestion`: nothing empty counts as a question. Raises MalformedInput."""
    asked = arguments.get("questions")
    if not isinstance(asked, list) or not asked:
        raise MalformedInput("There are no questions in this call: `questions` must be a list with at least one.")
    prompts = tuple(_prompt(each, f"Question {number}") for number, each in enumerate(asked, 1))
    if len({prompt.question for prompt in prompts}) != len(prompts):
        raise MalformedInput("Two questions have the same text; answers are matched by it.")
    for number, prompt in enumerate(prompts, 1):
        if not prompt.options:
            raise MalformedInput(f"Question {number} has no options: give at least two.")
    return Question(prompts)


def read_plan(arguments: dict[str, Any]) -> Plan:
    """The input of `ExitPlanMode`; raises MalformedInput."""
    plan = arguments.get("plan")
    if not isinstance(plan, str) or not plan.strip():
        raise MalformedInput("The plan is empty: write it down before asking to leave plan mode.")
    return Plan(plan)


def read_ask_user(arguments: dict[str, Any]) -> Question:
    """The arguments of `ask_user`: one question, with free text if it has no options. Raises MalformedInput."""
    return Question((_prompt(arguments, "The question"),))


def _prompt(content: object, name: str) -> Prompt:
    if not isinstance(content, dict):
        raise MalformedInput(f"{name} is not an object.")
    question = content.get("question")
    if not isinstance(question, str) or not question.strip():
        raise MalformedInput(f"{name} has no text.")
    options = content.get("options")
    if not isinstance(options, list | None):
        raise MalformedInput(f"{name}: `options` must be a list.")
    read = tuple(_option(each, name) for each in options or ())
    if len({option.label for option in read}) != len(read):
        raise MalformedInput(f"{name} has two options with the same label.")
    header, several = content.get("header", ""), content.get("multiSelect", False)
    if not isinstance(header, str) or not isinstance(several, bool):
        raise MalformedInput(f"{name}: `header` must be text and `multiSelect` true or false.")
    return Prompt(question, header, read, several)


def _option(content: object, name: str) -> Option:
    if not isinstance(content, dict):
        raise MalformedInput(f"{name} has an option that is not an object.")
    label, description, preview = content.get("label"), content.get("description", ""), content.get("preview")
    if not isinstance(label, str) or not label.strip():
        raise MalformedInput(f"{name} has an option without a label.")
    if not isinstance(description, str) or not isinstance(preview, str | None):
        raise MalformedInput(f"{name} has an option with a description or preview that is not text.")
    return Option(label, description, preview)
