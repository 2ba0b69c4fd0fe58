"""The card: an ask as the terminal shows it. A dialogue in, lines out. Pure.

A card never takes more rows than it is given: long evidence folds, says how much more there is, and can be read whole.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from handraise.model.asks import Ask, Form, Permission, Plan, Question
from handraise.surfaces.terminal import markdown
from handraise.surfaces.terminal.dialogue import Dialogue, Row, Step
from handraise.surfaces.terminal.harmless import evidence, one_line
from handraise.surfaces.terminal.lines import EMPTY, Line, cut, fold, indent, line, width_of, wrap
from handraise.surfaces.terminal.matters import PermissionMatter
from handraise.surfaces.terminal.words import as_json, command_of, waiting

BAR = ("class:accent", "▌ ")
_INSIDE = 2
_GOES_ON = ("class:dim", "↪ ")
_LEAST = 3
"""How many rows of evidence are always shown."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a card is shown."""

    width: int
    height: int
    now: datetime
    title: str = ""
    """The session that asks."""
    place: str = ""
    """Which of several open asks it is."""
    ready: bool = True
    """Whether keys count already: a card that has just come ignores them for a moment."""
    keys: bool = True
    """Whether it is answered by keys, or by lines that are typed."""


def card(dialogue: Dialogue, frame: Frame) -> list[Line]:
    """The whole card, as high as there is room."""
    width = frame.width - _INSIDE
    if dialogue.reading is not None:
        return indent(_whole(dialogue, width, frame.height), BAR)
    head = [_head(dialogue, frame, width), *_sentence(dialogue.step, width)]
    controls = _controls(dialogue, width)
    foot = [*_note(dialogue, width), *([_keys(dialogue, frame)] if frame.keys else [])]
    shown = proof(dialogue, width)
    room = frame.height - len(head) - len(controls) - len(foot) - 2
    body = [EMPTY, *_folded(shown, max(_LEAST, room), width), EMPTY] if shown else [EMPTY]
    most = frame.height - len(head) - len(body) - len(foot)
    rows = (*head, *body, *_around_pointer(controls, most), *foot)
    return indent([cut(each, width) for each in rows], BAR)


def proof(dialogue: Dialogue, width: int) -> list[Line]:
    """The evidence, whole: command, diff, plan or preview."""
    body = dialogue.ask.body
    match body:
        case Permission():
            return _permission(body, dialogue, width)
        case Plan(plan=plan):
            told = dialogue.given.get("decide")
            changed = told.text if told and told.rows == ("edit",) and told.text else plan
            return markdown.render(changed, width, decided=True)
        case Question():
            return _preview(dialogue, width)
        case Form():
            return []
        case _:
            assert_never(body)


def read(dialogue: Dialogue, key: str, width: int, height: int) -> Dialogue:
    """The evidence, read whole: `open` begins, other keys scroll, `v` and others leave it again."""
    page = _page(height - 2)
    last = max(0, len(proof(dialogue, width - _INSIDE)) - page)
    at = dialogue.reading or 0
    moves = {"open": 0, "up": at - 1, "down": at + 1, "enter": at + 1, "home": 0, "end": last}
    moves |= {"pageup": at - page, "pagedown": at + page, "space": at + page}
    if key not in moves:
        return replace(dialogue, reading=None)
    return replace(dialogue, reading=min(last, max(0, moves[key])))


def _page(height: int) -> int:
    """How many rows of evidence are seen at once when it is read whole."""
    return max(_LEAST, height - 2)


def _whole(dialogue: Dialogue, width: int, height: int) -> list[Line]:
    shown = proof(dialogue, width)
    rows = _page(height)
    first = min(dialogue.reading or 0, max(0, len(shown) - rows))
    seen = shown[first : first + rows]
    where = f"{first + 1}-{first + len(seen)} of {len(shown)} lines"
    keys = line(("class:dim", f"{where} · ↑↓ PgUp PgDn scroll · v or Esc back to the answer"))
    return [cut(each, width) for each in (line(("bold", dialogue.step.sentence.split("\n")[0])), *seen, keys)]


def _head(dialogue: Dialogue, frame: Frame, width: int) -> Line:
    steps = dialogue.steps
    asked = [step for step in steps if step.name != "review"]
    count = f"{dialogue.at + 1} of {len(asked)}" if len(asked) > 1 and dialogue.at < len(asked) else ""
    about = (one_line(frame.title), _agent(dialogue.ask), frame.place, waiting(dialogue.ask, frame.now))
    left = line(("class:accent bold", f"✋ {dialogue.step.header or _kind(dialogue.ask)}"), ("class:dim", f" {count}"))
    room = width - width_of(left) - 1
    told = " · ".join(each for each in about if each)
    right = cut(line(("class:dim", told)), room) if room > len("waits 00 min") else EMPTY
    gap = " " * max(1, width - width_of(left) - width_of(right))
    return (*left, ("", gap), *right)


def _kind(ask: Ask) -> str:
    return ask.kind.capitalize()


def _agent(ask: Ask) -> str:
    return f"agent {one_line(ask.agent)}" if ask.agent else ""


def _sentence(step: Step, width: int) -> list[Line]:
    return [row for text in step.sentence.split("\n") for row in wrap(line(("bold", text)), width)]


def _controls(dialogue: Dialogue, width: int) -> list[Line]:
    if dialogue.writing is not None:
        picked = next((row for row in dialogue.step.rows if row.name == dialogue.writing), None)
        about = [line(("bold", picked.label))] if picked else []
        return [*about, *wrap(line(("class:dim", dialogue.step.wants)), width)]
    rows = dialogue.step.rows
    return [made for number, row in enumerate(rows) for made in _row(dialogue, number, row, width)]


def _around_pointer(controls: list[Line], most: int) -> list[Line]:
    """On a low terminal not all choices are seen at once: those around the pointer are."""
    if len(controls) <= max(most, 1):
        return controls
    seen = max(most - 1, 1)
    pointed = next((at for at, row in enumerate(controls) if row and "❯" in row[0][1]), 0)
    first = min(max(0, pointed - seen // 2), len(controls) - seen)
    told = line(("class:warning", f"… {len(controls) - seen} more: ↑↓"))
    return [*controls[first : first + seen], told]


def _row(dialogue: Dialogue, number: int, row: Row, width: int) -> list[Line]:
    pointed = dialogue.pointer == number
    pointer = ("class:accent bold", "❯ ") if pointed else ("", "  ")
    style = " ".join(filter(None, ("bold" if pointed else "", "class:danger" if row.danger else "")))
    spans = [pointer, ("class:key", f"{number + 1}")]
    if dialogue.step.several:
        spans.append(("", " [x]" if row.name in dialogue.marked else " [ ]"))
    spans.append((style, f" {row.label}"))
    written = dialogue.drafts.get((dialogue.step.name, row.name), "")
    if written:
        spans.append(("class:dim", f": {one_line(written)}"))
    if row.says:
        spans.append(("class:dim", f" – {row.says}"))
    if row.key:
        spans.append(("class:key", f"  {row.key}"))
    return wrap(tuple(spans), width, hang=8 if dialogue.step.several else 4)


def _note(dialogue: Dialogue, width: int) -> list[Line]:
    if dialogue.sending:
        return [line(("class:dim", "Sending…"))]
    return wrap(line(("class:warning", evidence(dialogue.note))), width) if dialogue.note else []


def _keys(dialogue: Dialogue, frame: Frame) -> Line:
    if not frame.ready:
        return line(("class:dim", "…"))
    back = ["← back"] if dialogue.at else []
    if dialogue.writing is not None:
        done = (
            "Enter goes on" if dialogue.writing == "" else "Enter keeps it" if dialogue.step.several else "Enter sends"
        )
        keys = [done, *(["↑ back"] if dialogue.at and dialogue.writing == "" else []), "Esc leaves it"]
    else:
        pick = "Space or number marks · Enter goes on" if dialogue.step.several else "↑↓ Enter or number"
        keys = [pick, *back, *(["v reads all"] if proof(dialogue, frame.width - _INSIDE) else []), "Esc later"]
    return line(("class:dim", " · ".join(keys)))


def _folded(shown: list[Line], room: int, width: int) -> list[Line]:
    if len(shown) <= room:
        return shown
    left = len(shown) - (room - 1)
    told = line(("class:warning", f"… {left} more lines: v reads all"))
    return [*shown[: room - 1], cut(told, width)]


def _permission(body: Permission, dialogue: Dialogue, width: int) -> list[Line]:
    edited = dialogue.matter.edited_input(dialogue.given) if isinstance(dialogue.matter, PermissionMatter) else None
    shown = body.input if edited is None else edited
    rows: list[Line] = []
    if body.diff and edited is None:
        rows += diff(body.diff, width)
    elif command_of(body) is not None and isinstance(shown.get("command"), str):
        rows += _verbatim(shown["command"], width)
        rest = {key: value for key, value in shown.items() if key not in ("command", "description")}
        rows += _verbatim(as_json(rest), width) if rest else []
    else:
        rows += _verbatim(as_json(shown), width)
    notes = [body.diff_note if edited is None else "", body.description or str(shown.get("description") or "")]
    notes += [body.reason, f"Outside of what is allowed: {body.blocked_path}" if body.blocked_path else ""]
    notes += [f"Why you are asked: {dialogue.ask.why}" if dialogue.ask.why else ""]
    told = [row for note in notes if note for row in wrap(line(("class:dim", one_line(note))), width)]
    return [*rows, *told]


def diff(text: str, width: int) -> list[Line]:
    """A diff in colours; every line starts with what became of it, so that it reads without them."""
    styles = {"+": "class:added", "-": "class:removed", "@": "class:hunk"}
    rows = evidence(text).removesuffix("\n").split("\n")
    return [row for each in rows for row in _whole_row(line((styles.get(each[:1], ""), each)), width)]


def _verbatim(text: str, width: int) -> list[Line]:
    return [row for each in evidence(text).split("\n") for row in _whole_row(line(("class:code", each)), width)]


def _whole_row(given: Line, width: int) -> list[Line]:
    """A row that goes on says so, or the rest of a long one could pass for a row of its own."""
    first, *rest = fold(given, width) if width_of(given) <= width else fold(given, width - width_of(_GOES_ON[1]))
    return [first, *((_GOES_ON, *each) for each in rest)]


def _preview(dialogue: Dialogue, width: int) -> list[Line]:
    rows = dialogue.step.rows
    if dialogue.pointer is None or dialogue.pointer >= len(rows) or not rows[dialogue.pointer].preview:
        return []
    return _verbatim(rows[dialogue.pointer].preview, width)
