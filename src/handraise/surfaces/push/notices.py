"""The notice: an ask, or the end of a session, as one device shows it. Pure; the worker of the page reads it.

An answer is offered only where it is safe at a glance: refusing always is; saying yes is, where the notice shows all of
what is decided about. Nothing that lasts longer than once is offered.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, json
from msgspec.structs import replace

from handraise.model.answers import Allow, Answer, Choice, Choices, Deny, Filled, Revise, Trusting, answer_as_json
from handraise.model.asks import Ask, Form, Permission, Plan, Question
from handraise.model.hidden import reveal
from handraise.model.intent import Weight
from handraise.model.trust import Trust
from handraise.surfaces.push.ledger import Ending
from handraise.surfaces.push.sentences import Evidence, evidence, is_shown_whole, outcome, sentence

MOST = 3_500
"""How many bytes a notice may have; sealed, every push service takes it."""
_TITLE = 160
_BODY = 700
_OBVIOUS = 40
"""A title of this length is shown whole everywhere."""
_SEE_ALL = "Open it to see all."
_ENDED = {
    "stopped": "Stopped",
    "finished": "Finished",
    "failed": "Claude ended with an error",
    "lost": "Claude is gone",
}


class NoticeButton(Struct, frozen=True):
    """An answer on a button, what to call it when it was given, and what it does."""

    name: str
    title: str
    done: str
    answer: dict[str, Any]
    weight: Weight


class AskNotice(Struct, frozen=True, tag_field="kind", tag="ask"):
    """Somebody waits. `digest` names what is shown here, and goes back with the answer."""

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
    """Nobody waits any more: what was shown for this ask goes away."""

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
    """Somebody wants to see that it works."""

    device: str
    title: str
    body: str
    path: str


Notice = AskNotice | SettledNotice | EndedNotice | TestNotice


class NoticeContext(Struct, frozen=True):
    """What is known of the session that asks."""

    title: str = ""
    directory: str | None = None


def of_ask(ask: Ask, where: NoticeContext, device: str, waiting: int, *, may_answer: bool) -> AskNotice:
    """As a device shows it; who may not answer gets no buttons."""
    said, seen = sentence(ask, where.directory), evidence(ask)
    seen = seen._replace(whole=seen.whole and is_shown_whole(_below(said, seen)))
    lines = [
        _below(said, seen),
        _SEE_ALL if isinstance(ask.body, Permission | Plan | Trust) and not seen.whole else "",
        clip(reveal(where.title), _TITLE),
    ]
    return AskNotice(
        device=device,
        ask=ask.id,
        digest=ask.digest,
        title=clip(said, _TITLE),
        body="\n".join(line for line in lines if line),
        path=f"/sessions/{ask.session}" if ask.session else "/",
        waiting=waiting,
        answers=tuple(_offered(ask, seen)) if may_answer else (),
    )


def of_settled(ask: Ask, where: NoticeContext, device: str, waiting: int) -> SettledNotice:
    """What takes a notice back."""
    ended = outcome(ask.settlement) if ask.settlement else ""
    return SettledNotice(device, ask.id, clip(sentence(ask, where.directory), _TITLE), clip(ended, _BODY), waiting)


def of_ended(ending: Ending, title: str, device: str) -> EndedNotice:
    """How a session ended; an alarm says so first, for the title is what a device surely shows."""
    how = _ENDED.get(ending.how, ending.how)
    said = f"{how}: {reveal(ending.reason)}" if ending.reason else how
    named, body = (f"🚨 Alarm: {reveal(title)}", reveal(ending.reason)) if ending.alarm else (reveal(title), said)
    return EndedNotice(device, ending.session, clip(named, _TITLE), clip(body, _BODY), f"/sessions/{ending.session}")


def of_test(device: str) -> TestNotice:
    """What a person sees who tries it out."""
    return TestNotice(device, "Handraise reaches this device.", "You will see here what Claude needs.", "/")


def encode(notice: Notice) -> bytes:
    """At most MOST bytes: what is too long for that says so, and is shorter."""
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


def _offered(ask: Ask, seen: Evidence) -> Iterator[NoticeButton]:
    """The safest answer, and the one that is given most often; both good for this once."""
    match ask.body:
        case Permission():
            yield _offer("no", "Deny", "Denied", Deny(), "refuse")
            if seen.whole:
                yield _offer("yes", "Allow once", "Allowed", Allow(), "grant")
        case Question((prompt,)) if seen.whole and not prompt.multi_select and 1 <= len(prompt.options) <= 2:
            for number, option in enumerate(prompt.options, 1):
                choice = Choices((Choice((option.label,)),))
                yield _offer(str(number), option.label, f"Answered: {option.label}", choice, "answer")
        case Plan():
            yield _offer("no", "Send back", "Sent back", Revise(), "refuse")
        case Form():
            yield _offer("no", "Decline", "Declined", Filled("decline"), "refuse")
        case Trust():
            yield _offer("no", "Run without them", "Running without them", Trusting("without"), "refuse")
        case _:
            return


def _offer(name: str, title: str, done: str, answer: Answer, weight: Weight) -> NoticeButton:
    return NoticeButton(name, title, done, answer_as_json(answer), weight)


def _below(said: str, seen: Evidence) -> str:
    """All that is decided about: a title may be cut off by the device, so that a long one is said again."""
    is_said = bool(seen.text) and seen.text in said
    if len(said) <= _OBVIOUS:
        return "" if is_said else clip(seen.text, _BODY)
    return clip(seen.text if is_said else f"{said}\n{seen.text}".strip(), _BODY)
