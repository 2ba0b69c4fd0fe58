"""What a device surely shows of an ask below its title, and whether that is everything that is decided about. Pure."""

import unicodedata
from typing import NamedTuple, assert_never

from msgspec import json

from handraise.model.asks import Ask, Form, Permission, Plan, Question
from handraise.model.hidden import has_hidden, reveal
from handraise.model.tools import tool_named
from handraise.model.trust import Trust
from handraise.present.evidence import brought_in_words
from handraise.texts import t

_COLUMNS = 36
_ROWS = 4
"""What every device shows below a title where it has buttons: four rows on Windows and macOS, more on phones."""


class Glance(NamedTuple):
    """What is decided about. `whole`: it is all there, short, and hides nothing, so that a glance is enough."""

    text: str
    whole: bool


def glance(ask: Ask) -> Glance:
    """What belongs below the title."""
    match ask.body:
        case Question():
            return _options(ask.body)
        case Permission():
            return _permission(ask.body)
        case Plan(plan=plan):
            return Glance(reveal(plan.strip()), whole=False)
        case Form():
            return Glance("", whole=False)
        case Trust(brought=brought):
            return Glance(brought_in_words(brought), whole=False)
        case _:
            assert_never(ask.body)


def is_shown_whole(text: str) -> bool:
    """Whether it takes no more rows than any device shows."""
    return sum(max(1, -(-_width(row) // _COLUMNS)) for row in text.rstrip().split("\n")) <= _ROWS


def _permission(body: Permission) -> Glance:
    tool = tool_named(body.tool)
    outside = ""
    if body.blocked_path:
        # Shorter than on the card: four rows are little, and the path is what counts.
        outside = t("push.outside", path=body.blocked_path) + "\n"
    if tool.change:
        text = outside + (body.diff or "").rstrip()
        return Glance(reveal(text), bool(body.diff) and not body.diff_note and _is_whole(text))
    if tool.says_all(body.input):
        text = outside + tool.subject_of(body.input)
    else:
        # What is known by nothing better is shown as it was sent.
        text = outside + json.encode(body.input).decode()
    return Glance(reveal(text), _is_whole(text))


def _options(body: Question) -> Glance:
    options = [option for prompt in body.questions for option in prompt.options]
    rows = [f"{each.label}: {each.description}" if each.description else each.label for each in options]
    text = "\n".join(rows)
    questions = "\n".join(prompt.question for prompt in body.questions)
    previewed = any(option.preview for option in options)
    is_one = len(body.questions) == 1
    return Glance(reveal(text), is_one and not previewed and _is_whole(f"{questions}\n{text}"))


def _is_whole(text: str) -> bool:
    return bool(text) and is_shown_whole(text) and not has_hidden(text)


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
