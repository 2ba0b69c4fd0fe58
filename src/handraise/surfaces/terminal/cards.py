"""The card: an ask as the terminal shows it. A dialogue in, lines out. Pure.

A card never takes more rows than it is given: long evidence folds, says how much more there is, and can be read whole.
"""

import difflib
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple, assert_never

from msgspec import Struct
from msgspec.structs import replace

from handraise.model.asks import Ask, Form, Permission, Plan, Question
from handraise.model.trust import Trust
from handraise.surfaces.terminal import markdown, trusting
from handraise.surfaces.terminal.dialogue import Dialogue, Row, Step
from handraise.surfaces.terminal.harmless import evidence, one_line
from handraise.surfaces.terminal.lines import (
    BETWEEN,
    EMPTY,
    Line,
    cut,
    flow,
    fold,
    indent,
    joined,
    line,
    width_of,
    wrap,
)
from handraise.surfaces.terminal.matters import PermissionFlow
from handraise.surfaces.terminal.room import Fit, Parts, arrange
from handraise.surfaces.terminal.words import as_json, command_of, short, waiting

BAR = ("class:accent", "▌ ")
_INSIDE = 2
_THEIRS = ("class:dim", "│ ")
_GOES_ON = ("class:dim", "↪ ")
_KEYS = 9
_KEPT = 16


class CardFrame(Struct, frozen=True):
    """Where a card is shown."""

    width: int
    height: int
    now: datetime
    title: str = ""
    """The session that asks."""
    place: str = ""
    """Which of several open asks it is."""
    waits: str = ""
    """Why keys do not count yet, or go elsewhere."""
    keys: bool = True
    """Whether it is answered by keys, or by lines that are typed."""


class CardView(NamedTuple):
    """A card above the line that is being written, and below it; and how much of it that is."""

    above: list[Line]
    below: list[Line]
    fit: Fit


def card(dialogue: Dialogue, frame: CardFrame) -> list[Line]:
    """The whole card, as high as there is room."""
    above, below, _ = picture(dialogue, frame)
    return [*above, *below]


def picture(dialogue: Dialogue, frame: CardFrame) -> CardView:
    """The card, in no more rows than the frame has."""
    width = frame.width - _INSIDE
    measure = min(width, markdown.MEASURE)
    if dialogue.reading is not None:
        rows, fit = _reader(dialogue, width, frame.height)
        return CardView(indent([cut(each, width) for each in rows], BAR), [], fit)
    parts = Parts(
        _head(dialogue, frame, measure),
        story(dialogue, width),
        _controls(dialogue, measure, keys=frame.keys),
        dialogue.pointer or 0 if dialogue.writing is None else 0,
        [*_note(dialogue, measure), *(_keys(dialogue, frame, measure) if frame.keys else [])],
    )
    above, below, fit = arrange(parts, frame.height, width)
    cards = [indent([cut(row, width) for row in rows], BAR) for rows in (above, below)]
    return CardView(cards[0], cards[1], fit)


def story(dialogue: Dialogue, width: int) -> list[Line]:
    """What is asked, and all of the evidence."""
    asked = _sentence(dialogue.step, min(width, markdown.MEASURE))
    shown = proof(dialogue, width)
    return [*asked, EMPTY, *shown] if shown else asked


def proof(dialogue: Dialogue, width: int) -> list[Line]:
    """The evidence, whole: command, diff, plan or preview."""
    body = dialogue.ask.body
    match body:
        case Permission():
            return _permission(body, dialogue, width)
        case Plan(plan=plan):
            told = dialogue.given.get("decide")
            changed = told.text if told and told.rows == ("edit",) and told.text else plan
            return [*_plan(changed, width)]
        case Question():
            return _preview(dialogue, width)
        case Form():
            return []
        case Trust(brought=brought):
            return trusting.proof(body, {each.text: _verbatim(each.text, width) for each in brought}, width)
        case _:
            assert_never(body)


def read(dialogue: Dialogue, key: str, width: int, height: int) -> Dialogue:
    """The evidence, read whole: `open` begins, other keys scroll, `v` and others leave it again."""
    page = max(1, height - 1)
    last = max(0, len(story(dialogue, width - _INSIDE)) - page)
    at = min(dialogue.reading or 0, last)
    moves = {"open": 0, "up": at - 1, "down": at + 1, "enter": at + 1, "home": 0, "end": last}
    moves |= {"pageup": at - page, "pagedown": at + page, "space": at + page}
    if key not in moves:
        return replace(dialogue, reading=None)
    return replace(dialogue, reading=min(last, max(0, moves[key])))


def _reader(dialogue: Dialogue, width: int, height: int) -> tuple[list[Line], Fit]:
    """As many rows of it as there is room for; the last row says which."""
    rows = story(dialogue, width)
    page = max(1, height - 1)
    first = min(dialogue.reading or 0, max(0, len(rows) - page))
    last = min(len(rows), first + page)
    where = f"{first + 1}-{last} of {len(rows)} lines"
    end = "the end" if last == len(rows) else "Space for more"
    keys = joined((where, end, "Esc to go back", "↑↓ PgUp PgDn to scroll"), width)
    return [*rows[first:last], line(("class:dim", keys))], Fit(first, last, len(rows), width)


def _head(dialogue: Dialogue, frame: CardFrame, width: int) -> list[Line]:
    """What it is, who asks and how long it waits: on a second row where one is too narrow for all of it."""
    step = dialogue.step
    count = f" {step.place}" if step.place else ""
    left = line(("class:accent bold", f"✋ {step.header or _kind(dialogue.ask)}"), ("class:dim", count))
    who = [each for each in (one_line(frame.title), _agent(dialogue.ask), frame.place) if each]
    waits = waiting(dialogue.ask, frame.now)
    rows = [BETWEEN.join([*who, waits])]
    if width_of(left) + 1 + width_of(rows[0]) > width:
        rows = [waits, *([BETWEEN.join(who)] if who else [])]
    gap = " " * max(1, width - width_of(left) - width_of(rows[0]))
    return [(*left, ("", gap), ("class:dim", rows[0])), *(line(("class:dim", each)) for each in rows[1:])]


def _kind(ask: Ask) -> str:
    return ask.kind.capitalize()


def _agent(ask: Ask) -> str:
    return f"agent {one_line(ask.agent)}" if ask.agent else ""


def _sentence(step: Step, width: int) -> list[Line]:
    return [row for text in step.sentence.split("\n") for row in wrap(line(("bold", text)), width)]


def _controls(dialogue: Dialogue, width: int, *, keys: bool) -> list[list[Line]]:
    if dialogue.writing is not None:
        picked = next((row for row in dialogue.step.rows if row.name == dialogue.writing), None)
        about = [line(("bold", picked.label))] if picked else []
        return [[*about, *wrap(line(("class:dim", dialogue.step.wants)), width)]]
    # A key is one digit; a typed line may have two.
    most = _KEYS if keys else len(dialogue.step.rows)
    rows = [(" " if row.digit is None or row.digit > most else str(row.digit), row) for row in dialogue.step.rows]
    return [_row(dialogue, at, digit, row, width) for at, (digit, row) in enumerate(rows)]


def _row(dialogue: Dialogue, number: int, named: str, row: Row, width: int) -> list[Line]:
    pointed = dialogue.pointer == number
    pointer = ("class:accent bold", "❯ ") if pointed else ("", "  ")
    style = " ".join(filter(None, ("bold" if pointed else "", "class:danger" if row.danger else "")))
    spans = [pointer, ("class:key", named)]
    if dialogue.step.several:
        spans.append(("", " [x]" if row.name in dialogue.marked else " [ ]"))
    spans.append((style, f" {row.label}"))
    if row.key:
        spans.append(("class:key", f" ({row.key})"))
    written = dialogue.drafts.get((dialogue.step.name, row.name), "")
    if written:
        spans.append(("class:dim", f": {short(written)}"))
    if row.says:
        spans.append(("class:dim", f" – {row.says}"))
    return wrap(tuple(spans), width, hang=8 if dialogue.step.several else 4)


def _note(dialogue: Dialogue, width: int) -> list[Line]:
    if dialogue.sending:
        return [line(("class:dim", "Sending…"))]
    return wrap(line(("class:warning", one_line(dialogue.note))), width) if dialogue.note else []


def _keys(dialogue: Dialogue, frame: CardFrame, width: int) -> list[Line]:
    if frame.waits:
        return [line(("class:dim", row)) for row in flow((frame.waits,), width)]
    if dialogue.writing is not None:
        last = dialogue.at + 1 == len(dialogue.steps)
        done = "to keep it" if dialogue.step.several else "to send" if last else "to continue"
        leave = "go back" if dialogue.writing or dialogue.at else "postpone"
        keys = [
            f"Enter {done}",
            *(["↑ to go back"] if dialogue.at and dialogue.writing == "" else []),
            f"Esc to {leave}",
        ]
    elif dialogue.step.several:
        keys = ["Space or number to toggle", "Enter to continue"]
    else:
        pointed = dialogue.step.rows[dialogue.pointer] if dialogue.pointer is not None else None
        if pointed is not None and pointed.weight == "grant":
            keys = [f"Enter: {pointed.label}"]
        else:
            keys = [*dialogue.step.keys] or ["↑↓ and Enter, or a number"]
    if dialogue.writing is None:
        keys += [*(["← to go back"] if dialogue.at else []), "Esc to postpone"]
    return [line(("class:dim", row)) for row in flow(keys, width)]


def _permission(body: Permission, dialogue: Dialogue, width: int) -> list[Line]:
    flow = dialogue.flow
    edited = flow.edited_input(dialogue.given) if isinstance(flow, PermissionFlow) else None
    key = flow.edits if isinstance(flow, PermissionFlow) else ""
    shown = body.input if edited is None else edited
    rows: list[Line] = []
    if edited is None and body.diff:
        rows += _diff(body.diff, width)
    elif edited is not None and key in ("content", "new_string"):
        rows += _diff(_changes(body.input[key], edited[key]), width)
    elif command_of(body) is not None and isinstance(shown.get("command"), str):
        rows += _verbatim(shown["command"], width)
        rest = {key: value for key, value in shown.items() if key not in ("command", "description")}
        rows += _verbatim(as_json(rest), width) if rest else ()
    else:
        rows += _verbatim(as_json(shown), width)
    notes = [body.diff_note if edited is None else "", body.description or str(shown.get("description") or "")]
    notes += [body.reason, f"Outside of what is allowed: {body.blocked_path}" if body.blocked_path else ""]
    notes += [f"Why you are asked: {dialogue.ask.why}" if dialogue.ask.why else ""]
    told = [row for note in notes if note for row in wrap(line(("class:dim", one_line(note))), width)]
    return [*rows, *told]


# A card is drawn again for each key and each second, and its evidence may have thousands of lines.
@lru_cache(maxsize=_KEPT)
def _diff(text: str, width: int) -> tuple[Line, ...]:
    """A diff in colours; every line starts with what became of it, so that it reads without them."""
    styles = {"+": "class:added", "-": "class:removed", "@": "class:hunk"}
    rows = evidence(text).removesuffix("\n").split("\n")
    return tuple(row for each in rows for row in _theirs(line((styles.get(each[:1], ""), each)), width))


@lru_cache(maxsize=_KEPT)
def _verbatim(text: str, width: int) -> tuple[Line, ...]:
    return tuple(row for each in evidence(text).split("\n") for row in _theirs(line(("class:code", each)), width))


@lru_cache(maxsize=_KEPT)
def _plan(text: str, width: int) -> tuple[Line, ...]:
    return tuple(indent(markdown.render(text, width - width_of(_THEIRS[1]), decided=True), _THEIRS))


def _theirs(given: Line, width: int) -> list[Line]:
    """Set off from our own words; a row that goes on says so, or the rest of it could pass for a row of its own."""
    first, *rest = fold(given, width - width_of(_THEIRS[1]))
    return [(_THEIRS, *first), *((_GOES_ON, *each) for each in rest)]


def _changes(before: str, after: str) -> str:
    """What a person changed in what Claude wanted."""
    # Only where lines end: whatever else could pass for an end, and a carriage return, is part of its line.
    told = difflib.unified_diff(
        before.split("\n"), after.split("\n"), "as Claude wants it", "as you want it", "", "", 3, ""
    )
    return "\n".join(told)


def _preview(dialogue: Dialogue, width: int) -> list[Line]:
    rows = dialogue.step.rows
    if dialogue.pointer is None or dialogue.pointer >= len(rows) or not rows[dialogue.pointer].preview:
        return []
    return [*_verbatim(rows[dialogue.pointer].preview, width)]
