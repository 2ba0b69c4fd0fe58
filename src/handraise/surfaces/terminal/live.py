"""What is shown for now, below the lines that stay: what is being said and done, and the card on top. Pure."""

from datetime import datetime

from handraise.surfaces.terminal import cards, words
from handraise.surfaces.terminal.board import Board
from handraise.surfaces.terminal.cards import Frame, Picture
from handraise.surfaces.terminal.harmless import one_line
from handraise.surfaces.terminal.lines import EMPTY, Line, cut, joined, line, width_of
from handraise.surfaces.terminal.room import Fit

_ACTIONS = 3
"""How many of the actions under way are shown."""


def live(board: Board, now: datetime, width: int, height: int, waits: str = "") -> Picture:
    """What stands above the line that is being written, and below it. `waits`: why keys do not count yet."""
    current = board.tray.current
    above = [*board.timeline.tail(width), *board.timeline.under_way(now, width)[-_ACTIONS:], *_connection(board, width)]
    if current is None:
        return Picture([*above, *_nothing(board, width), *_waiting(board, width)], [], Fit())
    title = board.titles.get(current.ask.session or "", "") if board.session is None else ""
    body, foot, fit = cards.picture(current, Frame(width, height, now, title, board.tray.place, waits))
    room = height - len(body) - len(foot)
    # An empty row sets the card off from what was said before it.
    before = [*above, EMPTY][-room:] if room > 0 else []
    others = _others(board, width, now)[: max(0, room - len(before) - 1)]
    return Picture([*before, *body], [*foot, *([EMPTY, *others] if others else [])], fit)


def state(board: Board, now: datetime, width: int) -> Line:
    """The last row: what the session does, and the keys that always work."""
    if board.session is None:
        several = ["j k next and previous"] if len(board.tray.waiting) > 1 else []
        return line(("class:dim", joined(["inbox", "Ctrl-D leaves", *several], width)))
    timeline = board.timeline
    doing = "working" if timeline.working else "ended" if timeline.ended else "idle"
    if timeline.working and timeline.since is not None:
        doing = f"working {words.ago(now - timeline.since)}"
    waits = f"{len(timeline.waiting)} not yet taken" if timeline.waiting else ""
    keys = [*(["Ctrl-C interrupts"] if timeline.working else []), "Ctrl-D leaves"]
    told = ["needs you" if board.tray.top is not None else doing, timeline.mode, waits, f"${timeline.cost_usd:.4f}"]
    return line(("class:dim", joined([*told, *keys], width)))


def hint(board: Board) -> str:
    """What the empty line for Claude is for."""
    if board.timeline.ended is not None:
        return "What you say here resumes the session"
    return "What you say here steers Claude" if board.timeline.working else "Say what is next"


def nothing_open(board: Board) -> str:
    """For an inbox in which nothing waits; empty while it is not known, or something does."""
    if board.session is not None or not board.looked or not board.connected or board.tray.top is not None:
        return ""
    busy = f"{board.working} session{' is' if board.working == 1 else 's are'} working"
    return f"Nothing needs you. {busy if board.working else 'Nothing is working'}. Ctrl-D leaves."


def _connection(board: Board, width: int) -> list[Line]:
    told = "! No connection to the hub; what you choose here cannot be sent yet."
    return [] if board.connected else [cut(line(("class:warning", told)), width)]


def _nothing(board: Board, width: int) -> list[Line]:
    told = nothing_open(board)
    return [cut(line(("class:dim", told)), width)] if told else []


def _waiting(board: Board, width: int) -> list[Line]:
    """What was put aside, a row each; the last one says how to come back to it."""
    back = ("class:dim", " · Tab to answer")
    rows = [line(("class:accent bold", "✋ "), words.sentence(ask)) for ask in board.tray.waiting]
    kept = [cut(each, width) for each in rows[:-1]]
    return [*kept, *((*cut(each, width - width_of(back[1])), back) for each in rows[-1:])]


def _others(board: Board, width: int, now: datetime) -> list[Line]:
    """What waits behind the card on top, a row each."""
    rest = [ask for ask in board.tray.waiting if ask.id != board.tray.top]
    told = [(words.sentence(ask), board.titles.get(ask.session or "", ""), words.waiting(ask, now)) for ask in rest]
    return [
        cut(line(("class:accent", "✋ "), ("class:dim", joined(map(one_line, each), width - 3))), width)
        for each in told
    ]
