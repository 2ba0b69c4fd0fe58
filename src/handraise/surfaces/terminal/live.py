"""What is shown for now, below the lines that stay: what is being said and done, and the card on top. Pure."""

from datetime import datetime

from handraise.surfaces.terminal import cards, words
from handraise.surfaces.terminal.board import ViewState
from handraise.surfaces.terminal.cards import CardFrame, CardView
from handraise.surfaces.terminal.harmless import one_line
from handraise.surfaces.terminal.lines import EMPTY, Line, cut, joined, line, width_of
from handraise.surfaces.terminal.room import Fit

_ACTIONS = 3
"""How many of the actions under way are shown."""


def live(view: ViewState, now: datetime, width: int, height: int, waits: str = "") -> CardView:
    """What stands above the line that is being written, and below it. `waits`: why keys do not count yet."""
    current = view.stack.current
    above = [*view.timeline.tail(width), *view.timeline.under_way(now, width)[-_ACTIONS:], *_connection(view, width)]
    if current is None:
        return CardView([*above, *_nothing(view, width), *_waiting(view, width)], [], Fit())
    title = view.titles.get(current.ask.session or "", "") if view.session is None else ""
    body, foot, fit = cards.picture(current, CardFrame(width, height, now, title, view.stack.place, waits))
    room = height - len(body) - len(foot)
    # An empty row sets the card off from what was said before it.
    before = [*above, EMPTY][-room:] if room > 0 else []
    others = _others(view, width, now)[: max(0, room - len(before) - 1)]
    return CardView([*before, *body], [*foot, *([EMPTY, *others] if others else [])], fit)


def state(view: ViewState, now: datetime, width: int) -> Line:
    """The last row: what the session does, and the keys that always work."""
    if view.session is None:
        several = ["j k next and previous"] if len(view.stack.waiting) > 1 else []
        return line(("class:dim", joined(["inbox", "Ctrl-D leaves", *several], width)))
    timeline = view.timeline
    doing = "working" if timeline.working else "ended" if timeline.ended else "idle"
    if timeline.working and timeline.since is not None:
        doing = f"working {words.ago(now - timeline.since)}"
    waits = f"{len(timeline.waiting)} not yet taken" if timeline.waiting else ""
    keys = [*(["Ctrl-C interrupts"] if timeline.working else []), "Ctrl-D leaves"]
    told = ["needs you" if view.stack.top is not None else doing, timeline.mode, waits, f"${timeline.cost_usd:.4f}"]
    return line(("class:dim", joined([*told, *keys], width)))


def hint(view: ViewState) -> str:
    """What the empty line for Claude is for."""
    if view.timeline.ended is not None:
        return "What you say here resumes the session"
    return "What you say here steers Claude" if view.timeline.working else "Say what is next"


def nothing_open(view: ViewState) -> str:
    """For an inbox in which nothing waits; empty while it is not known, or something does."""
    if view.session is not None or not view.looked or not view.connected or view.stack.top is not None:
        return ""
    busy = f"{view.working} session{' is' if view.working == 1 else 's are'} working"
    return f"Nothing needs you. {busy if view.working else 'Nothing is working'}. Ctrl-D leaves."


def _connection(view: ViewState, width: int) -> list[Line]:
    told = "! No connection to the hub; what you choose here cannot be sent yet."
    return [] if view.connected else [cut(line(("class:warning", told)), width)]


def _nothing(view: ViewState, width: int) -> list[Line]:
    told = nothing_open(view)
    return [cut(line(("class:dim", told)), width)] if told else []


def _waiting(view: ViewState, width: int) -> list[Line]:
    """What was put aside, a row each; the last one says how to come back to it."""
    back = ("class:dim", " · Tab to answer")
    rows = [line(("class:accent bold", "✋ "), words.sentence(ask)) for ask in view.stack.waiting]
    kept = [cut(each, width) for each in rows[:-1]]
    return [*kept, *((*cut(each, width - width_of(back[1])), back) for each in rows[-1:])]


def _others(view: ViewState, width: int, now: datetime) -> list[Line]:
    """What waits behind the card on top, a row each."""
    rest = [ask for ask in view.stack.waiting if ask.id != view.stack.top]
    told = [(words.sentence(ask), view.titles.get(ask.session or "", ""), words.waiting(ask, now)) for ask in rest]
    return [
        cut(line(("class:accent", "✋ "), ("class:dim", joined(map(one_line, each), width - 3))), width)
        for each in told
    ]
