"""What is drawn below the printed lines: partial text, running actions, and the card on top. Pure."""

from datetime import datetime

from handraise.present.harmless import one_line
from handraise.present.states import state_in_words, usage_in_words, waiting
from handraise.surfaces.terminal import cards
from handraise.surfaces.terminal.cards import CardFrame, CardView
from handraise.surfaces.terminal.fit import Fit
from handraise.surfaces.terminal.lines import BETWEEN, EMPTY, Line, cut, joined, line, width_of
from handraise.surfaces.terminal.view import ViewState
from handraise.texts import span, t

_ACTIONS = 3
"""How many running actions are shown."""


def live(view: ViewState, now: datetime, width: int, height: int, waits: str = "") -> CardView:
    """What is above and below the input line. `waits`: why keys don't count yet."""
    current = view.stack.current
    running = view.timeline.under_way(now, width)[-_ACTIONS:]
    above = [*view.timeline.tail(width), *running, *_dialogs(view, width), *_connection(view, width)]
    if current is None:
        return CardView([*above, *_nothing(view, width), *_waiting(view, width)], [], Fit())
    title, stored = view.asker_of(current.ask), view.stored_until(current.ask)
    frame = CardFrame(width, height, now, title, view.stack.place, waits, stored)
    body, foot, fit = cards.picture(current, frame)
    room = height - len(body) - len(foot)
    # An empty row separates the card from earlier output.
    before = [*above, EMPTY][-room:] if room > 0 else []
    others = _others(view, width, now)[: max(0, room - len(before) - 1)]
    return CardView([*before, *body], [*foot, *([EMPTY, *others] if others else [])], fit)


def state(view: ViewState, now: datetime, width: int) -> Line:
    """The last row: what the session does, and the keys that always work."""
    if view.session is None:
        several = [t("terminal.key.turn")] if len(view.stack.waiting) > 1 else []
        return line(("class:dim", joined([t("terminal.status.inbox"), t("terminal.key.leave"), *several], width)))
    timeline = view.timeline
    queued = t("terminal.status.queued", count=len(timeline.waiting)) if timeline.waiting else ""
    keys = [*([t("terminal.key.interrupt")] if timeline.working and view.speaks else []), t("terminal.key.leave")]
    where = t("terminal.status.terminal", host=one_line(timeline.terminal))
    machine = one_line(view.place_of(view.session))
    facts = [_doing(view, now), machine, timeline.mode, queued, f"${timeline.cost_usd:.4f}" if view.speaks else where]
    limits = [one_line(usage_in_words(each, now)) for each in timeline.usage]
    return line(("class:dim", joined([*facts, *keys, *limits], width)))


def hint(view: ViewState) -> str:
    """What the empty line to Claude is for."""
    if view.timeline.ended is not None:
        about = t("terminal.status.resume")
    else:
        about = t("terminal.status.guide") if view.timeline.working else t("terminal.status.next")
    return BETWEEN.join((about, t("terminal.key.new_line"), t("terminal.key.help")))


def nothing_open(view: ViewState) -> str:
    """For an inbox without open asks; empty while that is unknown, or there are some."""
    if view.session is not None or not view.looked or not view.connected or view.stack.top is not None:
        return ""
    if view.dialogs:
        return t("terminal.status.elsewhere")
    return t("terminal.status.busy", count=view.working) if view.working else t("terminal.status.nothing")


def _doing(view: ViewState, now: datetime) -> str:
    timeline = view.timeline
    if view.stack.top is not None or timeline.dialog:
        return state_in_words("needs you")
    if timeline.working and timeline.since is not None:
        return t("terminal.status.working_for", span=span(now - timeline.since))
    if timeline.working:
        return state_in_words("working")
    return state_in_words("ended" if timeline.ended else "idle")


def _dialogs(view: ViewState, width: int) -> list[Line]:
    """What waits in terminals, one per row: it can be answered only there."""
    if view.session is not None:
        texts = [view.timeline.dialog] if view.timeline.dialog else []
    else:
        texts = [joined([text, view.titles[name]], width - 3) for name, text in view.dialogs.items()]
    return [cut(line(("class:accent bold", "✋ "), one_line(each)), width) for each in texts]


def _connection(view: ViewState, width: int) -> list[Line]:
    return [] if view.connected else [cut(line(("class:warning", t("terminal.status.disconnected"))), width)]


def _nothing(view: ViewState, width: int) -> list[Line]:
    text = nothing_open(view)
    return [cut(line(("class:dim", text)), width)] if text else []


def _waiting(view: ViewState, width: int) -> list[Line]:
    """Postponed asks, one per row; the last row says how to come back to them."""
    back = ("class:dim", f"{BETWEEN}{t('terminal.key.answer')}")
    headlines = [one_line(view.stack.headline(ask.id)) for ask in view.stack.waiting]
    rows = [line(("class:accent bold", "✋ "), each) for each in headlines]
    before = [cut(each, width) for each in rows[:-1]]
    return [*before, *((*cut(each, width - width_of(back[1])), back) for each in rows[-1:])]


def _others(view: ViewState, width: int, now: datetime) -> list[Line]:
    """The asks behind the card on top, one per row."""
    rest = [ask for ask in view.stack.waiting if ask.id != view.stack.top]
    parts = [(view.stack.headline(ask.id), view.asker_of(ask), waiting(ask, now)) for ask in rest]
    return [
        cut(line(("class:accent", "✋ "), ("class:dim", joined(map(one_line, each), width - 3))), width)
        for each in parts
    ]
