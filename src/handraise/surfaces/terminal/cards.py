"""The card: an ask as the terminal shows it. A dialogue in, lines out. Pure.

A card never takes more rows than it gets: long evidence folds, says how much more there is, and can be read in full.
"""

import difflib
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple, assert_never

from msgspec import UNSET, Struct
from msgspec.structs import replace

from handraise.model.asks import Ask, Form, Permission, Plan, Question
from handraise.model.trust import Trust
from handraise.present.evidence import Evidence, as_json
from handraise.present.flows import PermissionFlow
from handraise.present.harmless import apart, evidence, one_line
from handraise.present.headlines import clipped
from handraise.present.states import waiting
from handraise.present.steps import Row, Step
from handraise.surfaces.terminal import markdown
from handraise.surfaces.terminal.dialogue import Dialogue
from handraise.surfaces.terminal.fit import Fit, Parts, arrange
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
    text_of,
    width_of,
    wrap,
)
from handraise.texts import t

BAR = ("class:accent", "▌ ")
_INSIDE = 2
_THEIRS = ("class:dim", "│ ")
_GOES_ON = ("class:dim", "↪ ")
_KEYS, _NUMBERS = 9, 99
_CACHED = 16
_GLANCE = 60
_LETTERS = {
    "once": "terminal.key.allow",
    "deny": "terminal.key.deny",
    "approve": "terminal.key.approve",
    "revise": "terminal.key.revise",
}


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
    """Why keys don't count yet, or go elsewhere."""
    stored: str = ""
    """What becomes of an answer while the session's machine is away."""
    keys: bool = True
    """Whether it is answered with keys or with typed lines."""


class CardView(NamedTuple):
    """A card above and below the input line, and how much of it is shown."""

    above: list[Line]
    below: list[Line]
    fit: Fit


def card(dialogue: Dialogue, frame: CardFrame) -> list[Line]:
    """The whole card, as high as there is room."""
    above, below, _ = picture(dialogue, frame)
    return [*above, *below]


def picture(dialogue: Dialogue, frame: CardFrame) -> CardView:
    """The card, in at most as many rows as the frame has."""
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
        [*_stored(frame, measure), *_note(dialogue, measure), *(_keys(dialogue, frame, measure) if frame.keys else [])],
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
    """The complete evidence: command, diff, plan or preview."""
    body = dialogue.ask.body
    match body:
        case Permission():
            return _permission(body, dialogue, width)
        case Plan(plan=plan):
            decided = dialogue.inputs.get("decide")
            changed = decided.text if decided and decided.rows == ("edit",) and decided.text else plan
            return [*_plan(changed, width)]
        case Question():
            return _preview(dialogue, width)
        case Form(url=url):
            return [] if url is UNSET else _evidence(dialogue, width)
        case Trust():
            return _evidence(dialogue, width)
        case _:
            assert_never(body)


def read(dialogue: Dialogue, key: str, width: int, height: int) -> Dialogue:
    """Reads the whole evidence: `open` starts, other keys scroll, `v` and others leave."""
    page = max(1, height - 1)
    last = max(0, len(story(dialogue, width - _INSIDE)) - page)
    at = min(dialogue.reading or 0, last)
    moves = {"open": 0, "up": at - 1, "down": at + 1, "enter": at + 1, "home": 0, "end": last}
    moves |= {"pageup": at - page, "pagedown": at + page, "space": at + page}
    moves |= {"j": at + 1, "k": at - 1, "g": 0, "G": last, "b": at - page, "f": at + page}
    moves |= {"d": at + max(1, page // 2), "u": at - max(1, page // 2)}
    if key == "/":
        return replace(dialogue, seeking="")
    if key in ("n", "N"):
        return _sought(dialogue, width - _INSIDE, last, 1 if key == "n" else -1)
    if key not in moves:
        return replace(dialogue, reading=None, seeking=None, sought="")
    return replace(dialogue, reading=min(last, max(0, moves[key])))


def seek(dialogue: Dialogue, key: str, width: int, height: int) -> Dialogue:
    """A key of a text to search for while the whole evidence is read."""
    wanted = dialogue.seeking or ""
    match key:
        case "enter":
            last = max(0, len(story(dialogue, width - _INSIDE)) - max(1, height - 1))
            found = replace(dialogue, seeking=None, sought=wanted or dialogue.sought)
            return _sought(found, width - _INSIDE, last, 0)
        case "back":
            return replace(dialogue, seeking=wanted[:-1] if wanted else None)
        case "space":
            return replace(dialogue, seeking=f"{wanted} ")
        case _ if len(key) == 1:
            return replace(dialogue, seeking=f"{wanted}{key}"[:_GLANCE])
        case _:
            return replace(dialogue, seeking=None)


def _matches(dialogue: Dialogue, width: int) -> list[int]:
    """The rows that have the text, whatever its case."""
    wanted = dialogue.sought.casefold()
    return [at for at, row in enumerate(story(dialogue, width)) if wanted and wanted in text_of(row).casefold()]


def _sought(dialogue: Dialogue, width: int, last: int, by: int) -> Dialogue:
    """At the next match (`by` 1), the one before (-1), or the first from here on (0); around at the end."""
    found, at = _matches(dialogue, width), dialogue.match if dialogue.match is not None else -1
    if not found:
        return replace(dialogue, match=None)
    if by == 0:
        following = [each for each in found if each >= (dialogue.reading or 0)]
    else:
        following = [each for each in found if each > at] if by > 0 else [each for each in found[::-1] if each < at]
    chosen = following[0] if following else found[0 if by >= 0 else -1]
    return replace(dialogue, match=chosen, reading=min(last, chosen))


def _reader(dialogue: Dialogue, width: int, height: int) -> tuple[list[Line], Fit]:
    """As many rows of it as fit; the last row says which."""
    rows = story(dialogue, width)
    page = max(1, height - 1)
    first = min(dialogue.reading or 0, max(0, len(rows) - page))
    last = min(len(rows), first + page)
    where = t("terminal.card.lines", first=first + 1, last=last, count=len(rows))
    end = t("terminal.key.end") if last == len(rows) else t("terminal.key.more")
    found = _matches(dialogue, width)
    if dialogue.seeking is not None:
        keys = joined((t("terminal.card.seeking", text=one_line(dialogue.seeking)), t("terminal.key.seek")), width)
    elif dialogue.sought:
        place = found.index(dialogue.match) + 1 if dialogue.match in found else 0
        name = "terminal.card.matches" if found else "terminal.card.no_match"
        about = t(name, text=one_line(dialogue.sought), place=place, count=len(found))
        keys = joined((about, t("terminal.key.next"), where, t("terminal.key.back")), width)
    else:
        others = (t("terminal.key.search"), t("terminal.key.scroll"))
        keys = joined((where, end, t("terminal.key.back"), *others), width)
    shown = [
        tuple((f"{style} class:found".strip(), text) for style, text in row) if at in found else row
        for at, row in enumerate(rows[first:last], first)
    ]
    return [*shown, line(("class:dim", keys))], Fit(first, last, len(rows), width)


def _head(dialogue: Dialogue, frame: CardFrame, width: int) -> list[Line]:
    """What it is, who asks and how long it has waited; on two rows if one is too narrow."""
    step = dialogue.step
    count = f" {step.place}" if step.place else ""
    left = line(("class:accent bold", f"✋ {apart(step.header) or _kind(dialogue.ask)}"), ("class:dim", count))
    who = [each for each in (apart(one_line(frame.title)), _agent(dialogue.ask), frame.place) if each]
    waits = waiting(dialogue.ask, frame.now)
    rows = [BETWEEN.join([*who, waits])]
    if width_of(left) + 1 + width_of(rows[0]) > width:
        rows = [waits, *([BETWEEN.join(who)] if who else [])]
    gap = " " * max(1, width - width_of(left) - width_of(rows[0]))
    return [(*left, ("", gap), ("class:dim", rows[0])), *(line(("class:dim", each)) for each in rows[1:])]


def _kind(ask: Ask) -> str:
    return t(f"card.kind.{ask.kind}")


def _agent(ask: Ask) -> str:
    return t("terminal.card.agent", name=one_line(ask.agent)) if ask.agent else ""


def _sentence(step: Step, width: int) -> list[Line]:
    return [row for text in step.sentence.split("\n") for row in wrap(line(("bold", text)), width)]


def _controls(dialogue: Dialogue, width: int, *, keys: bool) -> list[list[Line]]:
    if dialogue.writing is not None:
        picked = next((row for row in dialogue.step.rows if row.name == dialogue.writing), None)
        about = [line(("bold", picked.label))] if picked else []
        return [[*about, *wrap(line(("class:dim", _wants(dialogue.step, picked))), width)]]
    # A key is one digit; a typed line may have two.
    most = _KEYS if keys else _NUMBERS
    rows = [(" " if row.digit is None or row.digit > most else str(row.digit), row) for row in dialogue.step.rows]
    return [_row(dialogue, at, digit, row, width) for at, (digit, row) in enumerate(rows)]


def _wants(step: Step, row: Row | None) -> str:
    can_be_empty = row is not None and row.name in ("deny", "stop")
    return t("terminal.card.no_reason", wants=step.wants) if can_be_empty else step.wants


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
        spans.append(("class:dim", f": {clipped(one_line(written), _GLANCE)}"))
    if row.says:
        spans.append(("class:dim", f" – {row.says}"))
    return wrap(tuple(spans), width, hang=8 if dialogue.step.several else 4)


def _stored(frame: CardFrame, width: int) -> list[Line]:
    return wrap(line(("class:warning", one_line(frame.stored))), width) if frame.stored else []


def _note(dialogue: Dialogue, width: int) -> list[Line]:
    if dialogue.sending:
        return [line(("class:dim", t("terminal.card.sending")))]
    return wrap(line(("class:warning", one_line(dialogue.note))), width) if dialogue.note else []


def _keys(dialogue: Dialogue, frame: CardFrame, width: int) -> list[Line]:
    if frame.waits:
        return [line(("class:dim", row)) for row in flow((frame.waits,), width)]
    if dialogue.writing is not None:
        last = dialogue.at + 1 == len(dialogue.steps)
        keys = [
            t(
                "terminal.key.save"
                if dialogue.step.several
                else "terminal.key.send"
                if last
                else "terminal.key.continue"
            ),
            *([t("terminal.key.up")] if dialogue.at and dialogue.writing == "" else []),
            t("terminal.key.back" if dialogue.writing or dialogue.at else "terminal.key.postpone"),
            t("terminal.key.new_line"),
        ]
    elif dialogue.step.several:
        keys = [t("terminal.key.toggle"), t("terminal.key.continue")]
    else:
        pointed = dialogue.step.rows[dialogue.pointer] if dialogue.pointer is not None else None
        if pointed is not None and pointed.weight == "grant":
            keys = [t("terminal.key.enter", label=pointed.label)]
        else:
            keys = _letters(dialogue.step) or [t("terminal.key.choose")]
    if dialogue.writing is None:
        keys += [*([t("terminal.key.left")] if dialogue.at else []), t("terminal.key.postpone")]
    return [line(("class:dim", row)) for row in flow(keys, width)]


def _letters(step: Step) -> list[str]:
    """What the letters of its first choices do."""
    offered = {row.name for row in step.rows if row.key}
    return [t(key) for name, key in _LETTERS.items() if name in offered]


def _permission(body: Permission, dialogue: Dialogue, width: int) -> list[Line]:
    flow = dialogue.flow
    edited = flow.edited_input(dialogue.inputs) if isinstance(flow, PermissionFlow) else None
    if edited is None or not isinstance(flow, PermissionFlow):
        return _evidence(dialogue, width)
    field = flow.edits
    if field == "command":
        rows = _verbatim(edited[field], width)
    elif field:
        rows = _diff(_changes(body.input[field], edited[field]), width)
    else:
        rows = _verbatim(as_json(edited), width)
    return [*rows, *_notes(dialogue, width)]


def _evidence(dialogue: Dialogue, width: int) -> list[Line]:
    """Everything to decide by, and why the request reached a person."""
    shown = [row for each in dialogue.flow.card.evidence for row in evidence_rows(each, width)]
    why = dialogue.flow.card.why
    return [*shown, *(wrap(line(("class:dim", one_line(why))), width) if why else [])]


def _notes(dialogue: Dialogue, width: int) -> list[Line]:
    """Notes on a request whose input was edited."""
    notes = [each for each in dialogue.flow.card.evidence if each.kind in ("note", "warning", "danger")]
    why = dialogue.flow.card.why
    shown = [row for each in notes for row in evidence_rows(each, width)]
    return [*shown, *(wrap(line(("class:dim", one_line(why))), width) if why else [])]


def evidence_rows(each: Evidence, width: int) -> Sequence[Line]:
    """One piece of evidence, whole."""
    match each.kind:
        case "diff":
            return _diff(each.text, width)
        case "command":
            return _verbatim(each.text, width)
        case "plan":
            return _plan(each.text, width)
        case "input":
            return [*_label(each, width), *_verbatim(each.text, width)]
        case "piece":
            return [*_label(each, width), *_verbatim(each.text, width), EMPTY]
        case "note" | "warning":
            style = "class:warning" if each.kind == "warning" else "class:dim"
            text = t("terminal.card.labelled", label=each.label, text=each.text) if each.label else each.text
            return wrap(line((style, one_line(text))), width)
        case "danger":
            return wrap(line(("class:danger bold", f"⚠ {one_line(each.text)}")), width, 2)
        case _:
            assert_never(each.kind)


def _label(each: Evidence, width: int) -> list[Line]:
    return wrap(line(("bold", one_line(each.label))), width) if each.label else []


# A card is redrawn for each key and each second, and its evidence may have thousands of lines.
@lru_cache(maxsize=_CACHED)
def _diff(text: str, width: int) -> tuple[Line, ...]:
    """A diff in colors; each line also starts with its sign, so that it reads without them."""
    styles = {"+": "class:added", "-": "class:removed", "@": "class:hunk"}
    rows = evidence(text).removesuffix("\n").split("\n")
    return tuple(row for each in rows for row in _theirs(line((styles.get(each[:1], ""), each)), width))


@lru_cache(maxsize=_CACHED)
def _verbatim(text: str, width: int) -> tuple[Line, ...]:
    return tuple(row for each in evidence(text).split("\n") for row in _theirs(line(("class:code", each)), width))


@lru_cache(maxsize=_CACHED)
def _plan(text: str, width: int) -> tuple[Line, ...]:
    return tuple(indent(markdown.render(text, width - width_of(_THEIRS[1]), decided=True), _THEIRS))


def _theirs(row: Line, width: int) -> list[Line]:
    """Set off from our own text; wrapped rows are marked, or the rest could look like a row of its own."""
    first, *rest = fold(row, width - width_of(_THEIRS[1]))
    return [(_THEIRS, *first), *((_GOES_ON, *each) for each in rest)]


def _changes(before: str, after: str) -> str:
    """What a person changed in Claude's input."""
    # Only real line ends: other separators, and a carriage return, are part of their line.
    names = t("terminal.card.before"), t("terminal.card.after")
    return "\n".join(difflib.unified_diff(before.split("\n"), after.split("\n"), *names, "", "", 3, ""))


def _preview(dialogue: Dialogue, width: int) -> list[Line]:
    rows = dialogue.step.rows
    if dialogue.pointer is None or dialogue.pointer >= len(rows) or not rows[dialogue.pointer].preview:
        return []
    return [*_verbatim(rows[dialogue.pointer].preview, width)]
