"""Whether an answer fits its ask. Never guesses: what a person didn't say isn't an answer."""

import re
from typing import Any

from handraise.model.answers import (
    Allow,
    Answer,
    Approve,
    Choice,
    Choices,
    Deny,
    Filled,
    Misfit,
    Outline,
    Revise,
    Trusting,
)
from handraise.model.asks import Body, Form, Permission, Plan, Prompt, Question, kind_of
from handraise.model.trust import Trust

_FORMATS = {
    "email": (r"[^@\s]+@[^@\s]+\.[^@\s]+", "an email address"),
    "uri": (r"[A-Za-z][A-Za-z0-9+.-]*:\S+", "a URL, for example https://example.org"),
    "date": (r"\d{4}-\d\d-\d\d", "a date, for example 2026-03-01"),
    "date-time": (r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*", "a date and time, for example 2026-03-01T12:00:00Z"),
}


def check(body: Body, answer: Answer) -> None:
    """Raises Misfit with a sentence unless the answer fits."""
    match body, answer:
        case Question(questions), Choices(answers):
            _check_choices(questions, answers)
        case Permission(suggestions=offered), Allow(input=changed, suggestions=chosen):
            if changed == {} and body.input:
                raise Misfit("An edited input can't be empty.")
            if answer.scope != "once":
                _check_scope(body, answer)
            if any(not 0 <= number < len(offered) for number in chosen):
                raise Misfit(f"There is no suggestion with that number (of {len(offered)}).")
        case (Permission(), Deny()) | (Plan(), Revise() | Outline()):
            pass
        case Plan(), Approve(plan=plan):
            if plan is not None and not plan.strip():
                raise Misfit("An edited plan can't be empty. Send it back with a message instead.")
        case Form(schema=schema), Filled("accept", content):
            _check_form(schema, content)
        case Form(), Filled():
            pass
        case Trust(unreadable=hidden), Trusting(level):
            if level == "exactly" and hidden:
                raise Misfit(f"This can't be trusted. {hidden[0]}")
        case _:
            raise Misfit(f"A {kind_of(body)} can't be answered like this.")


def _check_scope(body: Permission, answer: Allow) -> None:
    if all(offer.lasting != answer.scope for offer in body.offers):
        raise Misfit("This can only be allowed once.")
    if answer.input is not None:
        raise Misfit("An edited input can only be allowed once.")


def _check_choices(prompts: tuple[Prompt, ...], choices: tuple[Choice, ...]) -> None:
    if len(prompts) != len(choices):
        raise Misfit(f"Expected {len(prompts)} {'answer' if len(prompts) == 1 else 'answers'}, got {len(choices)}.")
    for prompt, choice in zip(prompts, choices, strict=True):
        name = f"“{prompt.question}”"
        text = (choice.text or "").strip()
        if not choice.labels and not text:
            raise Misfit(f"{name} has no answer yet.")
        known = {option.label for option in prompt.options}
        for label in choice.labels:
            if label not in known:
                raise Misfit(f"{name} has no option {label!r}. Put your own words in 'text'.")
        if len(set(choice.labels)) != len(choice.labels):
            raise Misfit(f"{name} has the same option twice.")
        if not prompt.multi_select and len(choice.labels) + bool(text) > 1:
            raise Misfit(f"{name} takes one answer.")


def _check_form(schema: dict[str, Any], content: dict[str, Any] | None) -> None:
    if content is None:
        raise Misfit("An accepted form needs content.")
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return
    for name in content:
        if name not in fields:
            raise Misfit(f"The form has no field {name!r}.")
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if content.get(name) in (None, ""):
            raise Misfit(f"{_title(fields.get(name), str(name))} is required.")
    for name, value in content.items():
        if isinstance(fields[name], dict) and value is not None:
            _check_field(_title(fields[name], name), fields[name], value)


def _title(field: object, name: str) -> str:
    title = field.get("title") if isinstance(field, dict) else None
    return title if isinstance(title, str) and title else name


def _check_field(title: str, field: dict[str, Any], value: object) -> None:
    allowed = _allowed(field)
    if allowed and value not in allowed:
        raise Misfit(f"{title} must be one of {', '.join(str(each) for each in allowed)}.")
    match field.get("type"):
        case "boolean":
            if not isinstance(value, bool):
                raise Misfit(f"{title} must be true or false.")
        case "integer" | "number" as kind:
            _check_number(title, kind, field, value)
        case "array":
            _check_several(title, field, value)
        case "string":
            _check_text(title, field, value)
        case _:
            pass


def _check_number(title: str, kind: str, field: dict[str, Any], value: object) -> None:
    whole = kind == "integer"
    if isinstance(value, bool) or not isinstance(value, int | float) or (whole and not float(value).is_integer()):
        raise Misfit(f"{title} must be a {'whole ' if whole else ''}number.")
    low, high = field.get("minimum"), field.get("maximum")
    if isinstance(low, int | float) and value < low:
        raise Misfit(f"{title} must be at least {low}.")
    if isinstance(high, int | float) and value > high:
        raise Misfit(f"{title} must be at most {high}.")


def _check_text(title: str, field: dict[str, Any], value: object) -> None:
    if not isinstance(value, str):
        raise Misfit(f"{title} must be text.")
    low, high = field.get("minLength"), field.get("maxLength")
    if isinstance(low, int) and len(value) < low:
        raise Misfit(f"{title} must have at least {low} characters.")
    if isinstance(high, int) and len(value) > high:
        raise Misfit(f"{title} must have at most {high} characters.")
    pattern, expected = _FORMATS.get(str(field.get("format")), (".*", "text"))
    if not re.fullmatch(pattern, value, re.DOTALL):
        raise Misfit(f"{title} must be {expected}.")


def _check_several(title: str, field: dict[str, Any], value: object) -> None:
    if not isinstance(value, list):
        raise Misfit(f"{title} must be a list.")
    items = field.get("items")
    allowed = _allowed(items) if isinstance(items, dict) else []
    for each in value:
        if allowed and each not in allowed:
            raise Misfit(f"{title} may contain only {', '.join(str(each) for each in allowed)}.")
        if isinstance(items, dict) and items.get("type") == "string" and not isinstance(each, str):
            raise Misfit(f"{title} may contain only text.")
    low, high = field.get("minItems"), field.get("maxItems")
    if isinstance(low, int) and len(value) < low:
        raise Misfit(f"{title} needs at least {low}.")
    if isinstance(high, int) and len(value) > high:
        raise Misfit(f"{title} takes at most {high}.")


def _allowed(field: dict[str, Any]) -> list[Any]:
    if isinstance(field.get("enum"), list):
        return list(field["enum"])
    for key in ("oneOf", "anyOf"):
        if isinstance(field.get(key), list):
            return [each["const"] for each in field[key] if isinstance(each, dict) and "const" in each]
    return []
