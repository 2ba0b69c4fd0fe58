"""How the evidence of an ask fits into messages: whole, in several parts, or as files. Pure.

It never depends on how far a person got: what comes before the message with the buttons is sent once.
"""

import re
from collections.abc import Iterable, Sequence
from typing import assert_never

from msgspec import Struct

from handraise.model.asks import Ask, Form, Plan, Question, is_link
from handraise.present.cards import Card
from handraise.present.evidence import Evidence
from handraise.present.forms import BEGIN
from handraise.present.harmless import evidence, one_line, sealed_lines
from handraise.present.steps import AskFlow, Row, Step, StepInput
from handraise.surfaces.telegram.formatted import (
    LONGEST,
    Formatted,
    bold,
    clip,
    code,
    cut,
    italic,
    join,
    pre,
    quote,
    split,
    units,
)
from handraise.texts import t

RESERVED = 1000
"""Units of a message that are left for its first line, what to confirm and what to reply."""
ROOM = LONGEST - RESERVED
_GLANCE = 300
"""Units that are shown of what is in a file."""
_MOST_PARTS = 20
_QUOTES = re.compile("`([^`]*)`")
_FILES = {"command": "command.sh", "diff": "changes.diff", "input": "input.json", "plan": "plan.md"}
_LANGUAGES = {"command": "bash", "diff": "diff", "input": "json"}
_WHOLE = "request.txt"
_MOST_FILES = 3
_OBVIOUS = ("deny", "stop", "edit")


class CardFile(Struct, frozen=True):
    """Evidence that is too long for a message."""

    name: str
    data: bytes


class CardLayout(Struct, frozen=True):
    """What comes before the message with the buttons, and what that one says first."""

    before: tuple[Formatted, ...]
    last: Formatted
    files: tuple[CardFile, ...]

    @property
    def is_whole(self) -> bool:
        """Whether everything is in the message with the buttons."""
        return not self.before and not self.files


class _Paragraph(Struct, frozen=True):
    """A paragraph of the message, and the file for it if it is too long."""

    content: Formatted
    file: str


def layout_of(ask: Ask, flow: AskFlow, step: Step) -> CardLayout:
    """The messages and files of an ask, while it is at this step."""
    match ask.body:
        case Plan():
            return _of_plan(flow.card, described(flow.steps({})[0].rows))
        case Form() | Question() if not is_link(ask.body):
            return _of_steps(flow.steps({BEGIN: StepInput(("fill",))}), step, ask.kind)
        case _:
            return _of_pieces(list(_pieces(flow.card, flow.steps({})[0])))


def shortened(ask: Ask, flow: AskFlow, step: Step) -> Formatted:
    """As much as fits into one message, for a place that files can't be sent to; and a note that there is more."""
    match ask.body:
        case Plan(plan):
            whole = join("\n\n", [bold(marked(flow.card.headline)), quote(sealed_lines(plan).strip("\n"))])
        case Form() | Question() if not is_link(ask.body):
            steps = flow.steps({BEGIN: StepInput(("fill",))})
            whole = join("\n\n", [_of_step(each) for each in steps if each.name != "review"])
        case _:
            whole = _paragraphs(_pieces(flow.card, step))
    note = "⚠️ " + bold(t("telegram.card.no_files"))
    return join("\n\n", [cut(clip(whole, 0, ROOM), ROOM - note.units - 2), note])


def marked(text: str) -> Formatted:
    """One of our sentences; what stands in backquotes becomes code."""
    parts: list[Formatted | str] = []
    at = 0
    for found in _QUOTES.finditer(text):
        parts += [text[at : found.start()], code(found[1]) if found[1] else "``"]
        at = found.end()
    return join("", [*parts, text[at:]])


def numbered(rows: Sequence[Row]) -> Formatted:
    """The options, each with its number and everything that it says."""
    return join("\n", (_numbered(number, row) for number, row in enumerate(rows, 1) if is_option(row)))


def is_option(row: Row) -> bool:
    """Whether it comes from the asker, so that its whole text must be in the message."""
    return row.name.isdecimal() or row.name.startswith("=")


def described(rows: Iterable[Row]) -> Formatted:
    """What the choices do, where the labels of their buttons don't say it."""
    shown = (row for row in rows if row.name not in _OBVIOUS and (row.says or short_label(row) != row.label))
    return join("\n", (join("", [bold(short_label(row)), " – ", marked(row.says or row.label)]) for row in shown))


def short_label(row: Row) -> str:
    """The label of a choice whose own says exactly what it would allow, and is long."""
    match row.name:
        case "session":
            return t("telegram.card.session")
        case "always":
            return t("telegram.card.always")
        case name if name.startswith("suggestion "):
            return t("telegram.card.suggestion", number=int(name.removeprefix("suggestion ")) + 1)
        case _:
            return row.label


def shown_evidence(each: Evidence) -> Formatted:
    """One piece of evidence, whole."""
    text = sealed_lines(each.text).strip("\n")
    match each.kind:
        case "command" | "diff" | "input":
            return _labelled(each.label, pre(text, _LANGUAGES[each.kind]))
        case "piece":
            return _labelled(each.label, pre(text)) if text.strip() else bold(marked(one_line(each.label)))
        case "plan":
            return quote(text)
        case "note":
            note = t("telegram.card.labelled", label=each.label, text=text) if each.label else text
            return italic(marked(one_line(note)))
        case "warning" | "danger":
            return _warned(text)
        case _:
            assert_never(each.kind)


def _pieces(card: Card, step: Step) -> Iterable[_Paragraph]:
    yield _Paragraph(bold(marked(step.sentence)), "headline.txt")
    for number, each in enumerate(card.evidence, 1):
        yield _Paragraph(shown_evidence(each), _FILES.get(each.kind) or f"{each.kind}-{number}.txt")
    if card.why:
        yield _Paragraph(italic(marked(one_line(card.why))), "reason.txt")
    if card.risk.reason and not any(each.kind in ("warning", "danger") for each in card.evidence):
        yield _Paragraph(_warned(card.risk.reason), "risk.txt")
    choices = described(step.rows)
    if choices.text:
        yield _Paragraph(choices, "choices.txt")


def _warned(text: str) -> Formatted:
    return "⚠️ " + marked(one_line(text))


def _labelled(label: str, content: Formatted) -> Formatted:
    return join("\n", [bold(marked(one_line(label))), content]) if label else content


def _of_pieces(pieces: Sequence[_Paragraph]) -> CardLayout:
    """In one message; what makes it too long goes into files, the longest first."""
    shown, files = list(pieces), []
    for at in sorted(range(len(pieces)), key=lambda number: -pieces[number].content.units)[:_MOST_FILES]:
        if _paragraphs(shown).units > ROOM and pieces[at].content.units > _GLANCE:
            files.append(_file(pieces[at].file, pieces[at].content.text))
            shown[at] = _Paragraph(_glance(pieces[at].content, pieces[at].file, _GLANCE), pieces[at].file)
    if _paragraphs(shown).units <= ROOM:
        return CardLayout((), _paragraphs(shown), tuple(files))
    whole = _paragraphs(pieces)
    return CardLayout((), _glance(whole, _WHOLE, ROOM), (_file(_WHOLE, whole.text),))


def _of_plan(card: Card, choices: Formatted) -> CardLayout:
    """In as many messages as it needs."""
    notes = [shown_evidence(each) for each in card.evidence if each.kind == "warning"]
    plan = next(each.text for each in card.evidence if each.kind == "plan")
    headline, text = bold(marked(card.headline)), sealed_lines(plan).strip("\n")
    room = ROOM - choices.units - 2
    if units(text) > _MOST_PARTS * ROOM:
        shown = _glance(quote(text), _FILES["plan"], room // 2)
        return CardLayout((), join("\n\n", [headline, shown, *notes, choices]), (_file(_FILES["plan"], text),))
    *before, last = split(join("\n\n", [headline, _headings(text), *notes]))
    if last.units > room:
        *more, last = split(last, room)
        before += more
    return CardLayout(tuple(before), join("\n\n", [last, choices]), ())


def _headings(text: str) -> Formatted:
    """A plan as Claude wrote it, with its headings in bold. Nothing is rendered, so nothing can hide in it."""
    return quote(join("\n", (bold(row) if row.startswith("#") else row for row in text.split("\n"))))


def _of_steps(steps: Sequence[Step], step: Step, kind: str) -> CardLayout:
    """One message that changes with each step. If one step is too long for it, a file has all of them."""
    shown = _of_step(step)
    every = [_of_step(each) for each in steps if each.name != "review"]
    if all(each.units <= ROOM for each in every):
        return CardLayout((), cut(shown, ROOM), ())
    name = f"{kind}.txt"
    return CardLayout((), _glance(shown, name, ROOM), (_file(name, join("\n\n\n", every).text),))


def _of_step(step: Step) -> Formatted:
    asked = bold(marked(step.sentence)) if step.name != "review" else Formatted(step.sentence)
    previews = (
        _labelled(f"{number}. {row.label}", pre(row.preview.strip("\n")))
        for number, row in enumerate(step.rows, 1)
        if row.preview.strip()
    )
    default = "" if step.rows or not step.first else t("telegram.card.default", text=evidence(step.first))
    return join(
        "\n\n", [each for each in (asked, numbered(step.rows), Formatted(default), *previews) if each.text.strip()]
    )


def _numbered(number: int, row: Row) -> Formatted:
    label = row.label or t("telegram.card.unnamed")
    return join("", [f"{number}. ", bold(label), *([" – ", row.says] if row.says else [])])


def _paragraphs(pieces: Iterable[_Paragraph]) -> Formatted:
    return join("\n\n", [piece.content for piece in pieces])


def _glance(content: Formatted, file: str, room: int) -> Formatted:
    note = italic(marked(t("telegram.card.in_file", file=file)))
    if content.units <= room:
        return content
    return join("\n", [cut(clip(content, 0, room), room - note.units - 1), note])


def _file(name: str, text: str) -> CardFile:
    return CardFile(name, text.encode("utf-8", "replace") + b"\n")
