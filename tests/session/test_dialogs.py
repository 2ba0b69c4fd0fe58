"""Dialogs of Claude Code itself: which are declared, how they are asked, and what their answers become."""

from typing import Any

import pytest

from handraise.model.answers import Choice, Choices
from handraise.model.asks import Question, is_dialog, terms_of
from handraise.model.items import Notice
from handraise.session.commands import ProcessStarted, Raise, Stop, Withdraw
from handraise.session.dialogs import DECLARED
from session.claude_says import Line, Talk, cancel, dialog, of, published, responses, working, written


def asked(payload: Any = None) -> tuple[Talk, Question]:
    talk = working()
    assert len(of(Raise, talk.hear(dialog(payload=payload)))) == 1
    body = talk.asks["r_1"].body
    assert isinstance(body, Question)
    return talk, body


def picked(body: Question, number: int) -> Choices:
    return Choices((Choice((body.questions[0].options[number].label,)),))


def test_exactly_the_dialogs_that_are_shown_are_declared() -> None:
    (hello,) = written(Talk().observe(ProcessStarted()))

    assert hello["request"]["supportedDialogKinds"] == ["refusal_fallback_prompt"] == list(DECLARED)


def test_a_refusal_is_a_question_with_fixed_options_for_a_person() -> None:
    _, body = asked()
    (prompt,) = body.questions

    assert prompt.question == "claude-fable-5 declined to answer. Retry with claude-opus-4-8? (Category: cyber)"
    assert [option.label for option in prompt.options] == ["Retry with claude-opus-4-8", "Edit the message", "Dismiss"]
    assert prompt.is_closed
    assert is_dialog(body)
    assert terms_of(body).person


@pytest.mark.parametrize(
    ("number", "response"),
    [
        (0, {"behavior": "completed", "result": "retry_fallback"}),
        (1, {"behavior": "completed", "result": "edit_prompt"}),
        (2, {"behavior": "cancelled"}),
    ],
)
def test_each_option_has_its_result(number: int, response: dict[str, str]) -> None:
    talk, body = asked()

    assert responses(talk.answer("r_1", picked(body, number))) == [response]


@pytest.mark.parametrize("choice", [Choice(("Another",)), Choice(text="retry_fallback"), Choice(("a", "b"))])
def test_what_is_no_option_closes_the_dialog(choice: Choice) -> None:
    talk, _ = asked()

    assert responses(talk.answer("r_1", Choices((choice,)))) == [{"behavior": "cancelled"}]


def test_a_dialog_that_nobody_answered_in_time_is_closed() -> None:
    talk, _ = asked()

    assert responses(talk.expire("r_1")) == [{"behavior": "cancelled"}]


def test_a_dialog_that_claude_code_takes_back_is_withdrawn() -> None:
    talk, body = asked()

    assert len(of(Withdraw, talk.hear(cancel("r_1")))) == 1
    assert talk.answer("r_1", picked(body, 0)) == []


def test_a_session_that_is_being_stopped_closes_its_dialogs() -> None:
    talk = working()
    talk.machine.wish(Stop())

    assert responses(talk.hear(dialog())) == [{"behavior": "cancelled"}]


@pytest.mark.parametrize(
    "line",
    [
        dialog(kind="fable_overage_consent_prompt"),
        dialog(kind="enum_prompt"),
        dialog(kind=""),
        dialog(kind="\u202e" * 500),
        dialog(kind=7),
        dialog(payload="odd"),
        dialog(payload=[]),
    ],
)
def test_what_was_not_declared_or_cannot_be_read_is_left_alone(line: Line) -> None:
    talk = working()
    commands = talk.hear(line)

    assert written(commands) == []
    assert of(Raise, commands) == []
    (notice,) = published(Notice, commands)
    assert notice.text.isprintable()
    assert len(notice.text) < 250
    assert talk.hear(cancel("r_1")) == []


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"originalModel": 7, "fallbackModel": None, "apiRefusalCategory": ["cyber"], "guidanceText": {}},
        {"originalModel": "\u202e`x`\n\n" * 500, "fallbackModel": "", "apiRefusalCategory": "\x1b[2J"},
        {"fallbackModel": "Dismiss", "guidanceText": "Ask \u200b support.\n" * 200},
    ],
)
def test_odd_and_hostile_payloads_are_shown_on_one_line(payload: dict[str, Any]) -> None:
    talk, body = asked(payload)
    labels = [option.label for option in body.questions[0].options]

    assert len(set(labels)) == 3
    assert all(label.isprintable() and len(label) < 150 for label in labels)
    assert responses(talk.answer("r_1", picked(body, 2))) == [{"behavior": "cancelled"}]
