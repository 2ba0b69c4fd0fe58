"""Whether an answer fits its ask: what a person did not say is never an answer."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.model import fit
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Misfit, Outline, Revise
from handraise.model.asks import Body, Form, Offer, Option, Permission, Plan, Prompt, Question
from store.values import answers, bodies

ONE = Prompt("Which?", "", (Option("A"), Option("B")))
MANY = Prompt("Which ones?", "", (Option("A"), Option("B")), multi_select=True)
FREE = Prompt("Why?")
BASH = Permission("Bash", {"command": "ls"}, suggestions=({"type": "setMode"},), offers=(Offer("session", "…", ()),))
PLAN = Plan("1. Do it.")
LINK = Form("?", "post", {}, "https://example.com/")
CLOSED = Prompt("Which?", "", (Option("A"), Option("B")), closed=True)


def form(**fields: Any) -> Form:
    required = [name for name, field in fields.items() if field.pop("required", False)]
    return Form("Where to?", "post", {"type": "object", "properties": fields, "required": required})


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        (Question((ONE,)), Choices((Choice(("A",)),))),
        (Question((ONE,)), Choices((Choice(text="neither"),))),
        (Question((MANY,)), Choices((Choice(("A", "B"), "and C"),))),
        (Question((FREE,)), Choices((Choice(text="because"),))),
        (Question((ONE, FREE)), Choices((Choice(("B",)), Choice(text="because")))),
        (BASH, Allow()),
        (BASH, Allow("session")),
        (BASH, Allow(input={"command": "ls -l"})),
        (BASH, Allow(suggestions=(0,))),
        (Permission("Clock", {}), Allow(input={})),
        (BASH, Deny()),
        (BASH, Deny("no", interrupt=True)),
        (PLAN, Approve()),
        (PLAN, Approve("acceptEdits", "1. Do less.")),
        (PLAN, Revise()),
        (PLAN, Outline()),
        (form(), Filled("accept", {})),
        (form(a={"type": "string", "required": True}), Filled("decline")),
        (form(a={"type": "string", "required": True}), Filled("cancel")),
        (Form("?", "post", {}), Filled("accept", {"anything": 1})),
        (LINK, Filled("accept")),
        (LINK, Filled("accept", {})),
        (LINK, Filled("decline")),
        (LINK, Filled("cancel")),
        (Question((CLOSED,)), Choices((Choice(("A",)),))),
    ],
)
def test_it_fits(body: Body, answer: Answer) -> None:
    fit.check(body, answer)


@pytest.mark.parametrize(
    ("body", "answer", "sentence"),
    [
        (LINK, Filled("accept", {"a": 1}), "without content"),
        (LINK, Allow(), "A form can't be answered like this"),
        (Question((CLOSED,)), Choices((Choice(text="A"),)), "one of its options only"),
        (Question((CLOSED,)), Choices((Choice(("A",), "B"),)), "one of its options only"),
        (Question((CLOSED,)), Choices((Choice(("C",)),)), "one of its options only"),
        (Question((ONE,)), Choices(()), "Expected 1 answer, got 0"),
        (Question((ONE,)), Choices((Choice(("A",)), Choice(("A",)))), "Expected 1 answer, got 2"),
        (Question((ONE,)), Choices((Choice(),)), "has no answer yet"),
        (Question((ONE,)), Choices((Choice(text=" \n"),)), "has no answer yet"),
        (Question((ONE, FREE)), Choices((Choice(("A",)), Choice())), "“Why?” has no answer yet"),
        (Question((ONE,)), Choices((Choice(("C",)),)), "no option 'C'"),
        (Question((FREE,)), Choices((Choice(("A",)),)), "no option 'A'"),
        (Question((ONE,)), Choices((Choice(("A", "B")),)), "takes one answer"),
        (Question((ONE,)), Choices((Choice(("A",), "and C"),)), "takes one answer"),
        (Question((MANY,)), Choices((Choice(("A", "A")),)), "same option twice"),
        (BASH, Allow(input={}), "can't be empty"),
        (BASH, Allow("always"), "can only be allowed once"),
        (BASH, Allow("session", input={"command": "x"}), "can only be allowed once"),
        (BASH, Allow(suggestions=(1,)), "no suggestion with that number (of 1)"),
        (BASH, Allow(suggestions=(-1,)), "no suggestion with that number (of 1)"),
        (PLAN, Approve(plan="  "), "can't be empty"),
        (form(), Filled("accept"), "needs content"),
        (form(), Filled("accept", {"b": 1}), "no field 'b'"),
    ],
)
def test_it_does_not_fit_and_the_sentence_says_why(body: Body, answer: Answer, sentence: str) -> None:  # lesson 36
    with pytest.raises(Misfit) as error:
        fit.check(body, answer)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ({"type": "string", "required": True}, None, "a is required"),
        ({"type": "string", "required": True, "title": "Street"}, "", "Street is required"),
        ({"type": "string"}, 7, "must be text"),
        ({"type": "string", "minLength": 3}, "ab", "at least 3"),
        ({"type": "string", "maxLength": 3}, "abcd", "at most 3"),
        ({"type": "string", "enum": ["x", "y"]}, "z", "one of x, y"),
        ({"type": "string", "oneOf": [{"const": "x", "title": "X"}]}, "X", "one of x"),
        ({"type": "string", "format": "email"}, "ana@home", "an email address"),
        ({"type": "string", "format": "uri"}, "example", "a URL"),
        ({"type": "string", "format": "date"}, "tomorrow", "a date"),
        ({"type": "string", "format": "date-time"}, "2026-03-01", "a date and time"),
        ({"type": "integer"}, 1.5, "whole number"),
        ({"type": "integer"}, float("inf"), "whole number"),
        ({"type": "integer"}, True, "whole number"),
        ({"type": "integer", "enum": [1, 2]}, 3, "one of 1, 2"),
        ({"type": "number"}, "1", "must be a number"),
        ({"type": "number", "minimum": 0}, -1, "at least 0"),
        ({"type": "number", "maximum": 9}, 10, "at most 9"),
        ({"type": "boolean"}, 1, "true or false"),
        ({"type": "boolean"}, "yes", "true or false"),
        ({"type": "array"}, "x", "must be a list"),
        ({"type": "array", "minItems": 1}, [], "at least 1"),
        ({"type": "array", "maxItems": 1}, ["x", "y"], "at most 1"),
        ({"type": "array", "items": {"enum": ["x"]}}, ["z"], "only x"),
        ({"type": "array", "items": {"anyOf": [{"const": "x"}]}}, ["z"], "only x"),
        ({"type": "array", "items": {"type": "string"}}, [1], "only text"),
    ],
)
def test_a_field_of_a_form_is_held_to_its_schema(field: dict[str, Any], value: object, sentence: str) -> None:
    with pytest.raises(Misfit) as error:
        fit.check(form(a=dict(field)), Filled("accept", {"a": value}))
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ({"type": "string", "format": "email"}, "ana@example.org"),
        ({"type": "string", "format": "uri"}, "https://example.org/a"),
        ({"type": "string", "format": "date"}, "2026-03-01"),
        ({"type": "string", "format": "date-time"}, "2026-03-01T12:00:00Z"),
        ({"type": "string", "format": "unheard-of"}, "x\ny"),
        ({"type": "integer", "minimum": 0, "required": True}, 0),
        ({"type": "integer"}, 3.0),
        ({"type": "number"}, 1.5),
        ({"type": "boolean", "required": True}, False),
        ({"type": "array", "items": {"enum": ["x", "y"]}}, ["x", "y"]),
        ({"type": "hologram"}, {"anything": 1}),
        ({}, None),
        ("no schema at all", 5),
    ],
)
def test_a_field_that_keeps_to_its_schema_fits(field: Any, value: object) -> None:
    fields = dict(field) if isinstance(field, dict) else field
    properties = form(a=fields) if isinstance(fields, dict) else Form("?", "post", {"properties": {"a": fields}})

    fit.check(properties, Filled("accept", {"a": value}))


KINDS = list(bodies)


@given(st.sampled_from(KINDS).flatmap(lambda kind: bodies[kind]), st.sampled_from(KINDS).flatmap(lambda k: answers[k]))
def test_whatever_is_answered_to_whatever_it_fits_or_is_a_misfit(body: Body, answer: Answer) -> None:
    with suppress(Misfit):
        fit.check(body, answer)


@given(st.sampled_from(KINDS), st.sampled_from(KINDS), st.data())
def test_an_answer_of_another_kind_never_fits(kind: Any, other: Any, data: st.DataObject) -> None:  # lesson 40
    if kind != other:
        with pytest.raises(Misfit):
            fit.check(data.draw(bodies[kind]), data.draw(answers[other]))
