"""What fits into a notification, and the answers that are safe at a glance. Pure.

An answer is offered only if it is safe at a glance: refusing always is; allowing is, if everything is shown. Nothing
that lasts longer than once is offered.
"""

import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple, assert_never

from msgspec import UNSET, Struct, json

from handraise.model.answers import answer_as_json, read_answer
from handraise.model.asks import Ask, Form, Kind, Permission, Plan, Question, is_link, terms_of
from handraise.model.intent import Weight
from handraise.model.names import has_hidden_exactly, reveal, reveal_exactly
from handraise.model.tools import tool_named
from handraise.model.trust import Trust
from handraise.present.choices import OPTION, CardChoice, choices
from handraise.present.dangers import dangers_in_words
from handraise.present.evidence import brought_in_words
from handraise.present.headlines import without_marks
from handraise.present.links import link_of
from handraise.texts import t

LONGEST_TEXT = 700
_OBVIOUS = 40
"""Titles of this length are shown in full everywhere."""
_MOST_OPTIONS = 2
_REFUSING = ("deny", "revise", "decline", "without")
_REVISED = {"approve": False}
"""A plan is sent back without a reason: a notification has no text field."""
_COLUMNS = 36
_ROWS = 4
"""The rows that every device shows below a title with buttons: four on Windows and macOS, more on phones."""


class Glance(NamedTuple):
    """What to decide about. `whole`: it is complete, short, and hides nothing, so a glance is enough."""

    text: str
    whole: bool


class QuickAnswer(Struct, frozen=True):
    """An answer that fits on a button of a notification, and what it does."""

    name: str
    label: str
    act: str
    answer: dict[str, Any]
    weight: Weight


def clip(text: str, most: int) -> str:
    """At most this many characters, with a mark where something is missing."""
    return text if len(text) <= most else text[: max(most - 1, 0)].rstrip() + "…"


def seen_below(title: str, seen: Glance) -> Glance:
    """What is shown below a title. It is whole only if every device shows all of it."""
    text = _below(title, seen)
    return Glance(text, whole=seen.whole and is_shown_whole(text))


def quick_answers(ask: Ask, *, whole: bool) -> Iterator[QuickAnswer]:
    """The safest answer, and the most common one; both apply only once. `whole`: everything is shown."""
    if is_link(ask.body):
        return  # nobody can say at a glance whether they did what a website asked for
    offered = choices(ask)
    refusing = next((each for each in offered if each.act in _REFUSING), None)
    if refusing is not None:
        yield _quick("no", ask.kind, refusing)
    terms = terms_of(ask.body)
    if isinstance(ask.body, Permission) and whole and not terms.is_strict:
        yield _quick("yes", ask.kind, offered[0])
    if isinstance(ask.body, Question) and whole and not terms.person:
        options = [each for each in offered if each.act == OPTION and each.answer is not None]
        if len(options) <= _MOST_OPTIONS:
            for number, each in enumerate(options, 1):
                yield _quick(str(number), ask.kind, each)


def glance(ask: Ask) -> Glance:
    """The text below the title."""
    match ask.body:
        case Question():
            return _options(ask.body)
        case Permission():
            return _permission(ask.body)
        case Plan(plan=plan):
            return Glance(reveal(plan.strip()), whole=False)
        case Form(url=url):
            return Glance("" if url is UNSET else link_of(url).text, whole=False)
        case Trust(brought=brought):
            return Glance(brought_in_words(brought), whole=False)
        case _:
            assert_never(ask.body)


def is_shown_whole(text: str) -> bool:
    """Whether it takes no more rows than any device shows."""
    return sum(max(1, -(-_width(row) // _COLUMNS)) for row in text.rstrip().split("\n")) <= _ROWS


def _quick(name: str, kind: Kind, choice: CardChoice) -> QuickAnswer:
    answer = _REVISED if choice.answer is None else choice.answer
    return QuickAnswer(name, choice.label, choice.act, answer_as_json(read_answer(kind, answer)), choice.weight)


def _below(title: str, seen: Glance) -> str:
    """Everything to decide about: a device may cut off a title, so a long one is repeated."""
    is_in_title = bool(seen.text) and seen.text in title
    if len(title) <= _OBVIOUS:
        return "" if is_in_title else clip(seen.text, LONGEST_TEXT)
    return clip(seen.text if is_in_title else f"{title}\n{seen.text}".strip(), LONGEST_TEXT)


def _permission(body: Permission) -> Glance:
    tool = tool_named(body.tool)
    outside = ""
    if body.blocked_path:
        # Shorter than on the card: four rows are few, and the path is what counts.
        outside = t("push.outside", path=body.blocked_path) + "\n"
    dangers = dangers_in_words(body)
    if dangers:
        # Nobody should allow it at a glance.
        warned = "".join(f"⚠ {without_marks(each)}\n" for each in dangers)
        return Glance(reveal_exactly(warned + outside + tool.subject_of(body.input)).rstrip(), whole=False)
    if tool.change:
        text = outside + (body.diff or "").rstrip()
        return Glance(reveal(text), bool(body.diff) and not body.diff_note and _is_whole(text))
    if tool.says_all(body.input):
        text = outside + tool.subject_of(body.input)
    else:
        # Anything else is shown as it was sent.
        text = outside + json.encode(body.input).decode()
    return Glance(reveal_exactly(text), _is_whole(text))


def _options(body: Question) -> Glance:
    options = [option for prompt in body.questions for option in prompt.options]
    rows = [f"{each.label}: {each.description}" if each.description else each.label for each in options]
    text = "\n".join(rows)
    questions = "\n".join(prompt.question for prompt in body.questions)
    previewed = any(option.preview for option in options)
    is_one = len(body.questions) == 1
    return Glance(reveal(text), is_one and not previewed and _is_whole(f"{questions}\n{text}"))


def _is_whole(text: str) -> bool:
    return bool(text) and is_shown_whole(text) and not has_hidden_exactly(text)


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
