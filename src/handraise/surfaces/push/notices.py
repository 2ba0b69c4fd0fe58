"""The notice: an ask, or the end of a session, as one device shows it. Pure; the page's worker reads it.

An answer is offered only if it is safe at a glance: refusing always is; allowing is, if the notice shows everything.
Nothing that lasts longer than once is offered.
"""

import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple, assert_never

from msgspec import UNSET, Struct, json
from msgspec.structs import replace

from handraise.model.answers import answer_as_json, read_answer
from handraise.model.asks import (
    Answered,
    Ask,
    Body,
    Expired,
    Form,
    Kind,
    Permission,
    Plan,
    Question,
    is_link,
    terms_of,
    was_completed,
)
from handraise.model.intent import Weight
from handraise.model.names import has_hidden_exactly, reveal, reveal_exactly
from handraise.model.tools import tool_named
from handraise.model.trust import Trust
from handraise.present.choices import OPTION, CardChoice, choices
from handraise.present.dangers import dangers_in_words
from handraise.present.evidence import brought_in_words
from handraise.present.headlines import headline, without_marks
from handraise.present.links import link_of
from handraise.present.outcomes import outcome
from handraise.present.states import ending_in_words
from handraise.surfaces.push.device_log import Ending
from handraise.texts import t

MOST = 3_500
"""The most bytes a notice may have; encrypted, every push service accepts it."""
_TITLE = 160
_BODY = 700
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


class NoticeButton(Struct, frozen=True):
    """An answer on a button, its label once given, and what it does."""

    name: str
    title: str
    done: str
    answer: dict[str, Any]
    weight: Weight


class AskNotice(Struct, frozen=True, tag_field="kind", tag="ask"):
    """An ask is open. `digest` identifies what is shown, and is sent back with the answer."""

    device: str
    ask: str
    digest: str
    title: str
    body: str
    path: str
    waiting: int
    """How many asks are open."""
    answers: tuple[NoticeButton, ...] = ()


class SettledNotice(Struct, frozen=True, tag_field="kind", tag="settled"):
    """Nobody is waiting any more: removes the notification of this ask."""

    device: str
    ask: str
    title: str
    body: str
    waiting: int


class EndedNotice(Struct, frozen=True, tag_field="kind", tag="ended"):
    """A session that the person started has ended."""

    device: str
    session: str
    title: str
    body: str
    path: str


class TestNotice(Struct, frozen=True, tag_field="kind", tag="trial"):
    """A test that someone asked for."""

    device: str
    title: str
    body: str
    path: str


Notice = AskNotice | SettledNotice | EndedNotice | TestNotice


class NoticeContext(Struct, frozen=True):
    """What we know about the session that asks."""

    title: str = ""
    directory: str | None = None


def of_ask(ask: Ask, where: NoticeContext, device: str, waiting: int, *, may_answer: bool) -> AskNotice:
    """As a device shows it; without buttons for those who can't answer."""
    title, seen = _title(ask, where), glance(ask)
    seen = seen._replace(whole=seen.whole and is_shown_whole(_below(title, seen)))
    lines = [
        _below(title, seen),
        t("push.see_all") if _is_long(ask.body) and not seen.whole else "",
        clip(reveal(where.title), _TITLE),
    ]
    return AskNotice(
        device=device,
        ask=ask.id,
        digest=ask.digest,
        title=clip(title, _TITLE),
        body="\n".join(line for line in lines if line),
        path=f"/sessions/{ask.session}" if ask.session else "/",
        waiting=waiting,
        answers=tuple(_buttons(ask, seen)) if may_answer else (),
    )


def of_settled(ask: Ask, where: NoticeContext, device: str, waiting: int) -> SettledNotice:
    """Removes a notification."""
    return SettledNotice(device, ask.id, clip(_title(ask, where), _TITLE), clip(_outcome(ask, where), _BODY), waiting)


def of_ended(ending: Ending, title: str, device: str) -> EndedNotice:
    """How a session ended; an alarm says so first, because the title is always shown."""
    how, reason = ending_in_words(ending.how), reveal(ending.reason)
    if ending.alarm:
        headed, body = t("push.alarm", title=reveal(title)), reason
    else:
        headed, body = reveal(title), t("push.ended", how=how, reason=reason) if reason else how
    return EndedNotice(device, ending.session, clip(headed, _TITLE), clip(body, _BODY), f"/sessions/{ending.session}")


def of_test(device: str) -> TestNotice:
    """What a person sees who sends a test."""
    return TestNotice(device, t("push.test.title"), t("push.test.body"), "/")


def encode(notice: Notice) -> bytes:
    """At most MOST bytes: longer texts are shortened, and say so."""
    written = json.encode(notice)
    most = _BODY
    while len(written) > MOST and most > 0:
        most //= 2
        notice = replace(notice, title=clip(notice.title, max(most, 20)), body=clip(notice.body, most))
        if isinstance(notice, AskNotice):
            notice = replace(notice, answers=tuple(each for each in notice.answers if each.name == "no"))
        written = json.encode(notice)
    return written


def clip(text: str, most: int) -> str:
    """At most this many characters, with a mark where something is missing."""
    return text if len(text) <= most else text[: max(most - 1, 0)].rstrip() + "…"


def _is_long(body: Body) -> bool:
    return isinstance(body, Permission | Plan | Trust) or is_link(body)


def _title(ask: Ask, where: NoticeContext) -> str:
    return without_marks(headline(ask, where.directory))


def _outcome(ask: Ask, where: NoticeContext) -> str:
    """How it ended, and where it was answered."""
    ended = outcome(ask, where.directory)
    text = without_marks(ended.text) if ended is not None else ""
    match ask.settlement:
        case Answered() as answered if was_completed(ask, answered):
            return text
        case Answered(source=source) | Expired(late=Answered(source=source)):
            return t("push.settled", outcome=text, source=reveal(source))
        case _:
            return text


def _buttons(ask: Ask, seen: Glance) -> Iterator[NoticeButton]:
    """The safest answer, and the most common one; both apply only once."""
    if is_link(ask.body):
        return  # nobody can say at a glance whether they did what a website asked for
    offered = choices(ask)
    refusing = next((each for each in offered if each.act in _REFUSING), None)
    if refusing is not None:
        yield _button("no", ask.kind, refusing)
    terms = terms_of(ask.body)
    if isinstance(ask.body, Permission) and seen.whole and not terms.is_strict:
        yield _button("yes", ask.kind, offered[0])
    if isinstance(ask.body, Question) and seen.whole and not terms.person:
        options = [each for each in offered if each.act == OPTION and each.answer is not None]
        if len(options) <= _MOST_OPTIONS:
            for number, each in enumerate(options, 1):
                yield _button(str(number), ask.kind, each)


def _button(name: str, kind: Kind, choice: CardChoice) -> NoticeButton:
    done = t("push.answered", label=choice.label) if choice.act == OPTION else t(f"push.done.{choice.act}")
    answer = _REVISED if choice.answer is None else choice.answer
    return NoticeButton(name, choice.label, done, answer_as_json(read_answer(kind, answer)), choice.weight)


def _below(title: str, seen: Glance) -> str:
    """Everything to decide about: a device may cut off a title, so a long one is repeated."""
    is_in_title = bool(seen.text) and seen.text in title
    if len(title) <= _OBVIOUS:
        return "" if is_in_title else clip(seen.text, _BODY)
    return clip(seen.text if is_in_title else f"{title}\n{seen.text}".strip(), _BODY)


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
