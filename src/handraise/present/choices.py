"""The choices of a card: the possible answers, their labels and their keys. Pure."""

from collections.abc import Iterator
from typing import Any, assert_never

from msgspec import UNSET, Struct
from msgspec.structs import replace

from handraise.model.asks import Ask, Form, Permission, Plan, Question, terms_of
from handraise.model.intent import Weight
from handraise.model.keys import On, key_of
from handraise.model.trust import Trust
from handraise.present.headlines import one_line
from handraise.present.offers import offer_in_words, suggestion_in_words
from handraise.texts import t

OPTION = "option"
"""The act of choosing one of a question's options."""
_DANGEROUS = (("permission", "deny"), ("permission", "stop"), ("trust", "exactly"))
_REFUSING = ("deny", "stop", "revise", "outline")
_LASTING = ("session", "always", "suggestion")
_LAST_DIGIT = 9


class CardChoice(Struct, frozen=True):
    """One answer. `answer` is None if the person adds something first: an edit, a text, form values."""

    act: str
    """As in the table of keys."""
    label: str
    detail: str
    key: str
    digit: int | None
    weight: Weight
    danger: bool = False
    answer: dict[str, Any] | None = None


def choices(ask: Ask) -> tuple[CardChoice, ...]:
    """Everything that answers an ask, in the order of its digits. Several prompts have no ready choices."""
    match ask.body:
        case Question():
            return tuple(_of_question(ask.body))
        case Permission():
            terms = terms_of(ask.body)
            offered = tuple(_of_permission(ask.body))
            if terms.is_strict:
                offered = tuple(each for each in offered if each.act not in _LASTING)
            return _refusing_first(offered) if terms.deny_first else offered
        case Plan():
            return _refusing_first(_of_plan()) if terms_of(ask.body).deny_first else _of_plan()
        case Form(url=url):
            return (
                _choice("form", "fill", None, "") if url is UNSET else _choice("form", "done", {"action": "accept"}),
                _choice("form", "decline", {"action": "decline"}, ""),
                _choice("form", "cancel", {"action": "cancel"}, ""),
            )
        case Trust(unreadable=unreadable):
            exactly = _choice("trust", "exactly", {"trust": "exactly"})
            refusing = (_choice("trust", "without", {"trust": "without"}, ""), _never())
            return refusing if unreadable else (exactly, *refusing)
        case _:
            assert_never(ask.body)


def _never() -> CardChoice:
    return _choice("trust", "never", {"trust": "never"})


def _of_question(body: Question) -> Iterator[CardChoice]:
    if len(body.questions) != 1:
        return
    (prompt,) = body.questions
    for place, option in enumerate(prompt.options, 1):
        answer = None if prompt.multi_select else {"answers": [{"labels": [option.label]}]}
        digit = place if place <= _LAST_DIGIT else None
        label, detail = one_line(option.label), one_line(option.description)
        yield CardChoice(OPTION, label, detail, "", digit, "answer", answer=answer)
    if not prompt.is_closed:
        yield _choice("question", "free text", None, "")


def _of_plan() -> tuple[CardChoice, ...]:
    return (
        _choice("plan", "approve", {"approve": True}),
        _choice("plan", "free", {"approve": True, "mode": "acceptEdits"}),
        _choice("plan", "edit", None),
        _choice("plan", "revise", None),
        _choice("plan", "outline", {"outline": True}),
    )


def _of_permission(body: Permission) -> Iterator[CardChoice]:
    yield _choice("permission", "once", {"allow": True}, "")
    for offer in body.offers:
        # An older hub's offer may have no rules; then its scope is all there is to show.
        words = offer_in_words(offer.lasting, offer.rules) if offer.rules else one_line(offer.scope)
        yield _choice("permission", offer.lasting, {"allow": True, "for": offer.lasting}, "", label=words)
    yield _choice("permission", "edit", None)
    yield _choice("permission", "deny", {"allow": False})
    yield _choice("permission", "stop", {"allow": False, "interrupt": True})
    for place, suggestion in enumerate(body.suggestions):
        yield _suggestion(place, suggestion_in_words(suggestion))


def _refusing_first(offered: tuple[CardChoice, ...]) -> tuple[CardChoice, ...]:
    """No single key allows, or leads to it: neither a letter nor a digit."""
    refusing = [each for each in offered if each.act in _REFUSING]
    rest = [replace(each, key="", digit=None) for each in offered if each.act not in _REFUSING]
    return (*refusing, *rest)


def _suggestion(place: int, words: str) -> CardChoice:
    key = key_of("permission", "suggestion")
    digit = (key.digit or 0) + place
    label = t("card.choice.permission.suggestion")
    shown = digit if digit <= _LAST_DIGIT else None
    answer = {"allow": True, "suggestions": [place]}
    return CardChoice(key.act, label, words, key.letter, shown, key.weight, answer=answer)


def _choice(
    on: On, act: str, answer: dict[str, Any] | None, detail: str | None = None, *, label: str | None = None
) -> CardChoice:
    key, name = key_of(on, act), act.replace(" ", "_")
    return CardChoice(
        act,
        t(f"card.choice.{on}.{name}") if label is None else label,
        t(f"card.detail.{on}.{name}") if detail is None else detail,
        key.letter,
        key.digit,
        key.weight,
        (on, act) in _DANGEROUS,
        answer,
    )
