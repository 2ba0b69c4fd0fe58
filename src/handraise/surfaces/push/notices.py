"""The notice: an ask, or the end of a session, as one device shows it. Pure; the page's worker reads it.

An answer is offered only if it is safe at a glance: refusing always is; allowing is, if the notice shows everything.
Nothing that lasts longer than once is offered.
"""

from typing import Any

from msgspec import Struct, json
from msgspec.structs import replace

from handraise.model.asks import (
    Answered,
    Ask,
    Body,
    Expired,
    Permission,
    Plan,
    is_link,
    was_completed,
)
from handraise.model.intent import Weight
from handraise.model.names import reveal
from handraise.model.trust import Trust
from handraise.present.choices import OPTION
from handraise.present.glances import LONGEST_TEXT, QuickAnswer, clip, glance, quick_answers, seen_below
from handraise.present.headlines import headline, without_marks
from handraise.present.outcomes import outcome
from handraise.present.states import ending_in_words
from handraise.surfaces.push.device_log import Ending
from handraise.texts import t

MOST = 3_500
"""The most bytes a notice may have; encrypted, every push service accepts it."""
_TITLE = 160


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
    title = _title(ask, where)
    seen = seen_below(title, glance(ask))
    lines = [
        seen.text,
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
        answers=tuple(_button(each) for each in quick_answers(ask, whole=seen.whole)) if may_answer else (),
    )


def of_settled(ask: Ask, where: NoticeContext, device: str, waiting: int) -> SettledNotice:
    """Removes a notification."""
    return SettledNotice(
        device, ask.id, clip(_title(ask, where), _TITLE), clip(_outcome(ask, where), LONGEST_TEXT), waiting
    )


def of_ended(ending: Ending, title: str, device: str) -> EndedNotice:
    """How a session ended; an alarm says so first, because the title is always shown."""
    how, reason = ending_in_words(ending.how), reveal(ending.reason)
    if ending.alarm:
        headed, body = t("push.alarm", title=reveal(title)), reason
    else:
        headed, body = reveal(title), t("push.ended", how=how, reason=reason) if reason else how
    return EndedNotice(
        device, ending.session, clip(headed, _TITLE), clip(body, LONGEST_TEXT), f"/sessions/{ending.session}"
    )


def of_test(device: str) -> TestNotice:
    """What a person sees who sends a test."""
    return TestNotice(device, t("push.test.title"), t("push.test.body"), "/")


def encode(notice: Notice) -> bytes:
    """At most MOST bytes: longer texts are shortened, and say so."""
    written = json.encode(notice)
    most = LONGEST_TEXT
    while len(written) > MOST and most > 0:
        most //= 2
        notice = replace(notice, title=clip(notice.title, max(most, 20)), body=clip(notice.body, most))
        if isinstance(notice, AskNotice):
            notice = replace(notice, answers=tuple(each for each in notice.answers if each.name == "no"))
        written = json.encode(notice)
    return written


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


def _button(quick: QuickAnswer) -> NoticeButton:
    done = t("push.answered", label=quick.label) if quick.act == OPTION else t(f"push.done.{quick.act}")
    return NoticeButton(quick.name, quick.label, done, quick.answer, quick.weight)
