"""Answers as JSON: they round-trip exactly, and nothing but consent counts as consent."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    answer_as_json,
    read_answer,
)
from handraise.model.asks import Kind
from store.values import answers, json_values


@pytest.mark.parametrize(
    ("kind", "text", "answer"),
    [
        ("question", {"answers": [{"labels": ["A"], "text": None}]}, Choices((Choice(("A",)),))),
        ("question", {"answers": [{"text": "x"}, {}]}, Choices((Choice(text="x"), Choice()))),
        ("permission", {"allow": True}, Allow()),
        ("permission", {"allow": True, "for": "always"}, Allow("always")),
        ("permission", {"allow": True, "input": {"a": 1}, "suggestions": [0]}, Allow("once", {"a": 1}, (0,))),
        ("permission", {"allow": False, "message": "no", "interrupt": True}, Deny("no", True)),
        ("plan", {"approve": True, "mode": "acceptEdits", "plan": "1."}, Approve("acceptEdits", "1.")),
        ("plan", {"approve": False, "message": "shorter"}, Revise("shorter")),
        ("plan", {"outline": True}, Outline()),
        ("form", {"action": "accept", "content": {"a": 1}}, Filled("accept", {"a": 1})),
        ("form", {"action": "decline"}, Filled("decline")),
    ],
)
def test_an_answer_is_read_as_the_api_words_it(kind: str, text: Any, answer: Answer) -> None:
    assert read_answer(kind, text) == answer


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("permission", {}),
        ("permission", {"allow": "yes"}),
        ("permission", {"allow": 1}),
        ("permission", {"allow": None}),
        ("permission", {"allow": True, "for": "ever"}),
        ("permission", {"allow": True, "message": "but"}),
        ("permission", {"allow": False, "for": "always"}),
        ("permission", {"approve": True}),
        ("permission", True),
        ("permission", None),
        ("plan", {}),
        ("plan", {"approve": "true"}),
        ("plan", {"approve": True, "mode": "bypassPermissions"}),
        ("plan", {"outline": False}),
        ("plan", {"outline": True, "approve": True}),
        ("question", {}),
        ("question", {"answers": "A"}),
        ("question", {"answers": [{"label": "A"}]}),
        ("form", {"action": "submit"}),
        ("form", {}),
        ("dance", {"allow": True}),
    ],
)
def test_what_is_not_clearly_an_answer_is_refused(kind: str, text: Any) -> None:  # lessons 36, 37
    with pytest.raises(Misfit):
        read_answer(kind, text)


@given(st.sampled_from(list(answers)).flatmap(lambda kind: st.tuples(st.just(kind), answers[kind])))
def test_every_answer_comes_back_as_it_was(text: tuple[Kind, Answer]) -> None:
    kind, answer = text

    text = msgspec.json.decode(msgspec.json.encode(answer_as_json(answer)))

    assert read_answer(kind, text) == answer


@given(st.sampled_from([*answers, "dance"]), json_values)
def test_whatever_is_sent_is_an_answer_or_a_misfit(kind: str, text: Any) -> None:
    with suppress(Misfit):
        answer_as_json(read_answer(kind, text))
