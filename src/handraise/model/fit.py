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
from handraise.model.asks import Body, Form, Permission, Plan, Prompt, Question, kind_of, terms_of
from handraise.model.trust import Trust
from handraise.texts import t

_FORMATS = {
    "email": (r"[^@\s]+@[^@\s]+\.[^@\s]+", "error.fit.email"),
    "uri": (r"[A-Za-z][A-Za-z0-9+.-]*:\S+", "error.fit.uri"),
    "date": (r"\d{4}-\d\d-\d\d", "error.fit.date"),
    "date-time": (r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*", "error.fit.date_time"),
}


def check(body: Body, answer: Answer) -> None:
    """Raises Misfit with a sentence unless the answer fits."""
    match body, answer:
        case Question(questions), Choices(answers):
            _check_choices(questions, answers)
        case Permission(suggestions=offered), Allow(input=changed, suggestions=chosen):
            if changed == {} and body.input:
                raise Misfit(t("error.fit.empty_input"))
            if terms_of(body).is_strict and (answer.scope != "once" or chosen):
                raise Misfit(t("error.fit.once"))
            if answer.scope != "once":
                _check_scope(body, answer)
            if any(not 0 <= number < len(offered) for number in chosen):
                raise Misfit(t("error.fit.no_suggestion", total=len(offered)))
        case (Permission(), Deny()) | (Plan(), Revise() | Outline()):
            pass
        case Plan(), Approve(plan=plan):
            if plan is not None and not plan.strip():
                raise Misfit(t("error.fit.empty_plan"))
        case Form(url=str()), Filled("accept", content):
            if content:
                raise Misfit(t("error.fit.link_content"))
        case Form(schema=schema), Filled("accept", content):
            _check_form(schema, content)
        case Form(), Filled():
            pass
        case Trust(unreadable=hidden), Trusting(level):
            if level == "exactly" and hidden:
                raise Misfit(t("error.fit.untrusted", why=hidden[0]))
        case _:
            raise Misfit(t(f"error.fit.wrong.{kind_of(body)}"))


def _check_scope(body: Permission, answer: Allow) -> None:
    if all(offer.lasting != answer.scope for offer in body.offers):
        raise Misfit(t("error.fit.once"))
    if answer.input is not None:
        raise Misfit(t("error.fit.edited_once"))


def _check_choices(prompts: tuple[Prompt, ...], choices: tuple[Choice, ...]) -> None:
    if len(prompts) != len(choices):
        raise Misfit(t("error.fit.number", count=len(prompts), got=len(choices)))
    for prompt, choice in zip(prompts, choices, strict=True):
        name = prompt.question
        text = (choice.text or "").strip()
        if not choice.labels and not text:
            raise Misfit(t("error.fit.no_answer", question=name))
        if text and prompt.is_closed:
            raise Misfit(t("error.fit.closed", question=name))
        known = {option.label for option in prompt.options}
        for label in choice.labels:
            if label not in known:
                key = "error.fit.closed" if prompt.is_closed else "error.fit.no_option"
                raise Misfit(t(key, question=name, option=repr(label)))
        if len(set(choice.labels)) != len(choice.labels):
            raise Misfit(t("error.fit.twice", question=name))
        if not prompt.multi_select and len(choice.labels) + bool(text) > 1:
            raise Misfit(t("error.fit.one", question=name))


def _check_form(schema: dict[str, Any], content: dict[str, Any] | None) -> None:
    if content is None:
        raise Misfit(t("error.fit.no_content"))
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return
    for name in content:
        if name not in fields:
            raise Misfit(t("error.fit.no_field", name=repr(name)))
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if content.get(name) in (None, ""):
            raise Misfit(t("error.fit.required", title=_title(fields.get(name), str(name))))
    for name, value in content.items():
        if isinstance(fields[name], dict) and value is not None:
            _check_field(_title(fields[name], name), fields[name], value)


def _title(field: object, name: str) -> str:
    title = field.get("title") if isinstance(field, dict) else None
    return title if isinstance(title, str) and title else name


def _check_field(title: str, field: dict[str, Any], value: object) -> None:
    allowed = _allowed(field)
    if allowed and value not in allowed:
        raise Misfit(t("error.fit.one_of", title=title, values=", ".join(str(each) for each in allowed)))
    match field.get("type"):
        case "boolean":
            if not isinstance(value, bool):
                raise Misfit(t("error.fit.boolean", title=title))
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
        raise Misfit(t("error.fit.whole" if whole else "error.fit.a_number", title=title))
    low, high = field.get("minimum"), field.get("maximum")
    if isinstance(low, int | float) and value < low:
        raise Misfit(t("error.fit.low", title=title, limit=low))
    if isinstance(high, int | float) and value > high:
        raise Misfit(t("error.fit.high", title=title, limit=high))


def _check_text(title: str, field: dict[str, Any], value: object) -> None:
    if not isinstance(value, str):
        raise Misfit(t("error.fit.text", title=title))
    low, high = field.get("minLength"), field.get("maxLength")
    if isinstance(low, int) and len(value) < low:
        raise Misfit(t("error.fit.short", title=title, count=low))
    if isinstance(high, int) and len(value) > high:
        raise Misfit(t("error.fit.long", title=title, count=high))
    pattern, expected = _FORMATS.get(str(field.get("format")), (".*", "error.fit.text"))
    if not re.fullmatch(pattern, value, re.DOTALL):
        raise Misfit(t(expected, title=title))


def _check_several(title: str, field: dict[str, Any], value: object) -> None:
    if not isinstance(value, list):
        raise Misfit(t("error.fit.list", title=title))
    items = field.get("items")
    allowed = _allowed(items) if isinstance(items, dict) else []
    for each in value:
        if allowed and each not in allowed:
            raise Misfit(t("error.fit.only", title=title, values=", ".join(str(each) for each in allowed)))
        if isinstance(items, dict) and items.get("type") == "string" and not isinstance(each, str):
            raise Misfit(t("error.fit.only_text", title=title))
    low, high = field.get("minItems"), field.get("maxItems")
    if isinstance(low, int) and len(value) < low:
        raise Misfit(t("error.fit.too_few", title=title, limit=low))
    if isinstance(high, int) and len(value) > high:
        raise Misfit(t("error.fit.too_many", title=title, limit=high))


def _allowed(field: dict[str, Any]) -> list[Any]:
    if isinstance(field.get("enum"), list):
        return list(field["enum"])
    for key in ("oneOf", "anyOf"):
        if isinstance(field.get(key), list):
            return [each["const"] for each in field[key] if isinstance(each, dict) and "const" in each]
    return []
