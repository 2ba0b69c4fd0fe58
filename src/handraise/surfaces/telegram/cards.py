"""The card: an ask as Telegram shows it, with its buttons; and what remains of it once it is settled. Pure.

Only the last message and its buttons depend on how far people got.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from urllib.parse import urlsplit

from msgspec import Struct

from handraise.model.actors import Person
from handraise.model.asks import Answered, Ask, Expired
from handraise.present.flows import flow_of
from handraise.present.harmless import one_line
from handraise.present.headlines import clipped, headline, without_marks
from handraise.present.links import CardLink
from handraise.present.outcomes import outcome
from handraise.present.steps import FREE_TEXT, AskFlow, Row, Step
from handraise.surfaces.telegram.conversation import CardState, refusing, step_of
from handraise.surfaces.telegram.formatted import Formatted, bold, cut, italic, join, units
from handraise.surfaces.telegram.layout import CardFile, is_option, layout_of, marked, short_label, shortened
from handraise.texts import span, t

LONGEST_LABEL = 40
"""Phones cut longer ones."""
_HALF = 20
"""The longest label that leaves room for another one beside it."""
_ON_A_PAGE = 24
_HEADER, _TITLE, _NOTE, _CONFIRMED = 120, 80, 200, 300
_HEADLINE, _OUTCOME = 1000, 2000


class CardButton(Struct, frozen=True):
    """A button: what its press means, or the address that it opens."""

    label: str
    act: str = ""
    argument: str = ""
    url: str = ""


CardKeyboard = tuple[tuple[CardButton, ...], ...]


class CardMessages(Struct, frozen=True):
    """Everything that is sent for a card. The last part has the keyboard; the files come before it."""

    parts: tuple[Formatted, ...]
    files: tuple[CardFile, ...]
    keyboard: CardKeyboard


def render(ask: Ask, directory: str | None, state: CardState, *, title: str = "", link: str = "") -> CardMessages:
    """The card of an ask. `title`: the session that asks; `link`: where the page shows it, for what needs an editor."""
    flow = flow_of(ask, directory)
    step, at = step_of(flow, state)
    layout = layout_of(ask, flow, step)
    last = join("\n\n", [_head(ask, step, title), layout.last, *_tail(state, step), *_expiry(ask)])
    keyboard = _keyboard(flow.card.link, state, step, at, link) if _is_answerable(ask, flow) else ()
    return CardMessages((*layout.before, last), layout.files, keyboard)


def render_shortened(
    ask: Ask, directory: str | None, state: CardState, *, title: str = "", link: str = ""
) -> CardMessages:
    """The card in a place that files can't be sent to: what fits, and no way to grant what can't be seen there."""
    flow = flow_of(ask, directory)
    step, state = refusing(flow, state)
    address = [link] if link and not can_be_opened(link) else []
    reply = _tail(state, step) if state.wants_text else ()
    content = join("\n\n", [_head(ask, step, title), shortened(ask, flow, step), *address, *reply, *_expiry(ask)])
    opening = [CardButton(t("telegram.card.page"), url=link)] if can_be_opened(link) else []
    keyboard = _keyboard(None, state, step, 0, "") if _is_answerable(ask, flow) else ()
    return CardMessages((content,), (), (*_rows(opening), *keyboard))


def closed(ask: Ask, directory: str | None, *, title: str = "") -> Formatted:
    """What a settled ask's card says: which session asked, what about, how it ended, who did it and from where."""
    settled = outcome(ask, directory)
    about = cut(marked(headline(ask, directory)), _HEADLINE)
    who = clipped(one_line(title or ask.agent or ""), _TITLE)
    kind = bold(f"✋ {t(f'card.kind.{ask.kind}')}")
    lines = [join(" · ", [kind, who] if who else [kind]), about]
    if settled is None:
        return join("\n\n", lines)
    answered = _answered(ask)
    text = settled.text
    if answered is not None and isinstance(answered.by, Person):
        text = t("telegram.card.settled", outcome=settled.text, source=one_line(answered.source))
    return join("\n\n", [*lines, cut(marked(one_line(text)), _OUTCOME)])


def _answered(ask: Ask) -> Answered | None:
    match ask.settlement:
        case (Answered() as answered) | Expired(late=Answered() as answered):
            return answered
        case _:
            return None


def _is_answerable(ask: Ask, flow: AskFlow) -> bool:
    return ask.settlement is None or bool(flow.card.choices)


def _head(ask: Ask, step: Step, title: str) -> Formatted:
    """What it is and who asks."""
    header = clipped(step.header or t(f"card.kind.{ask.kind}"), _HEADER)
    who = [step.place, clipped(one_line(title), _TITLE), clipped(one_line(ask.agent or ""), _TITLE)]
    return join(" · ", [bold(f"✋ {header}"), *(each for each in who if each)])


def _tail(state: CardState, step: Step) -> Iterator[Formatted]:
    """What comes below the evidence: what was written, and what to do next."""
    if state.text and FREE_TEXT in state.ticked:
        note = t("telegram.card.labelled", label=t("card.choice.question.free_text"), text=one_line(state.text))
        yield cut(Formatted(note), _NOTE)
    row = next((each for each in step.rows if each.name == state.confirming), None)
    if row is not None:
        yield cut(
            bold(marked(t("telegram.card.confirm", what=row.says if _is_suggested(row) else row.label))), _CONFIRMED
        )
    elif state.wants_text or not step.rows:
        yield cut(bold(t("telegram.card.reply", wants=step.wants)), _NOTE)


def _expiry(ask: Ask) -> Iterator[Formatted]:
    if ask.expires_at is not None:
        yield italic(t("telegram.card.expires", span=span(ask.expires_at - ask.opened_at)))


def _is_suggested(row: Row) -> bool:
    return row.name.startswith("suggestion ")


def _keyboard(visited: CardLink | None, state: CardState, step: Step, at: int, link: str) -> CardKeyboard:
    back = _button(t("telegram.card.back"), "back")
    if state.confirming:
        row = next(each for each in step.rows if each.name == state.confirming)
        return (_button(t("telegram.card.confirm", what=short_label(row)), "confirm", row.name),), (back,)
    if state.wants_text:
        return ((back,),)
    # What grants never has a refusal beside it.
    groups = groupby(_visible(step.rows, state.page), key=lambda row: (row.weight == "grant", row.then == "edit"))
    choices = ([each for row in rows for each in _choice(row, state, step, link)] for _, rows in groups)
    moves = [*_moves(step), *([back] if at else [])]
    every = (_opening(visited), *choices, _turns(step, state.page), moves)
    return tuple(row for group in every for row in _rows(group))


def _choice(row: Row, state: CardState, step: Step, link: str) -> Iterator[CardButton]:
    if row.then == "edit":
        if can_be_opened(link):
            yield CardButton(t("telegram.card.browser"), url=link)
        return
    yield _button(_label(row, state, step), "row", row.name)
    if row.name == "deny":
        yield _button(t("telegram.card.reason"), "reason", row.name)


def _label(row: Row, state: CardState, step: Step) -> str:
    label = without_marks(short_label(row)) or t("telegram.card.unnamed")
    if is_option(row):
        label = f"{step.rows.index(row) + 1}. {label}"
    return f"{'✅' if row.name in state.ticked else '⬜️'} {label}" if step.several else label


def _visible(rows: Sequence[Row], page: int) -> list[Row]:
    """The options of one page, and everything else."""
    options = [row for row in rows if is_option(row)][page * _ON_A_PAGE : (page + 1) * _ON_A_PAGE]
    return [*options, *(row for row in rows if not is_option(row))]


def _turns(step: Step, page: int) -> list[CardButton]:
    """To the other pages of many options."""
    last = (sum(is_option(row) for row in step.rows) - 1) // _ON_A_PAGE
    previous = [_button(t("telegram.card.previous"), "page", str(page - 1))] if page else []
    return [*previous, *([_button(t("telegram.card.more"), "page", str(page + 1))] if page < last else [])]


def _moves(step: Step) -> Iterator[CardButton]:
    if step.several:
        yield _button(t("telegram.card.done"), "done")
    if not step.rows and step.first:
        yield _button(t("telegram.card.suggested", text=one_line(step.first)), "suggested")
    if not step.rows and step.optional:
        yield _button(t("telegram.card.skip"), "skip")


def _opening(link: CardLink | None) -> list[CardButton]:
    if link is None or link.cautions or not can_be_opened(link.href):
        return []
    return [CardButton(clipped(t("telegram.card.open", host=link.host), LONGEST_LABEL), url=link.href)]


def can_be_opened(url: str) -> bool:
    """Whether a button may open it: Telegram refuses a message with a button for a bare name such as `localhost`."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and "." in (parts.hostname or "")


def _button(label: str, act: str, argument: str = "") -> CardButton:
    return CardButton(clipped(label, LONGEST_LABEL), act, argument)


def _rows(buttons: Iterable[CardButton]) -> list[tuple[CardButton, ...]]:
    """Two short ones in a row, long ones alone."""
    rows: list[tuple[CardButton, ...]] = []
    for each in buttons:
        pairs = rows and len(rows[-1]) == 1 and all(units(one.label) <= _HALF for one in (rows[-1][0], each))
        if pairs:
            rows[-1] = (rows[-1][0], each)
        else:
            rows.append((each,))
    return rows
