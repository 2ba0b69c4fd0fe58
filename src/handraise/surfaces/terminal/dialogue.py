"""The dialogue: one person answers one ask, step by step. Decides what each key does; never awaits, never draws.

What a kind of ask needs is its flow (`present/flows.py`); the dialogue only walks through its steps. Enter without a
choice decides nothing, and nothing is sent that was not chosen or written.
"""

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from handraise.model.answers import Answer, Misfit
from handraise.model.asks import Ask
from handraise.present.steps import FREE_TEXT, AskFlow, Row, Step, StepInput
from handraise.texts import t

EDIT = "edit"


class Send(Struct, frozen=True):
    """Answer the ask with this."""

    answer: Answer


class Edit(Struct, frozen=True):
    """Open an editor with this text, and return the result."""

    text: str
    suffix: str


class PutAside(Struct, frozen=True):
    """Not now: the ask stays open."""


Effect = Send | Edit | PutAside


class Dialogue(Struct, frozen=True):
    """How far a person is with an ask. A value: each key returns a new one."""

    ask: Ask
    flow: AskFlow
    inputs: Mapping[str, StepInput] = field(default_factory=dict)
    at: int = 0
    pointer: int | None = None
    marked: frozenset[str] = frozenset()
    writing: str | None = None
    """The row that the text is for; empty if the step itself is a text."""
    drafts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    note: str = ""
    reading: int | None = None
    """How far the whole evidence was scrolled while it is shown."""
    seeking: str | None = None
    """The text to search for while it is typed."""
    sought: str = ""
    """The text that was searched for in the whole evidence."""
    match: int | None = None
    """The row where it was found."""
    sending: bool = False

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.flow.steps(self.inputs)

    @property
    def step(self) -> Step:
        return self.steps[self.at]

    @property
    def draft(self) -> str:
        """The text in the input line."""
        return self.drafts.get((self.step.name, self.writing or ""), self.step.first)

    @property
    def unsent(self) -> str:
        """Everything written for this ask so far."""
        return "\n".join(text for text in self.drafts.values() if text.strip())


def begin(ask: Ask, flow: AskFlow) -> Dialogue:
    """The dialogue at its first step."""
    return _enter(Dialogue(ask, flow), 0)


def press(dialogue: Dialogue, key: str) -> tuple[Dialogue, Effect | None]:
    """What a key does: `up`, `down`, `enter`, `space`, `back`, `escape`, a digit or a letter."""
    if dialogue.sending:
        return dialogue, None
    calm = replace(dialogue, note="")
    if calm.writing is not None:
        return _press_while_writing(calm, key)
    match key:
        case "up" | "down":
            return _move(calm, -1 if key == "up" else 1), None
        case "space" if calm.step.several and calm.pointer is not None:
            return _pick(calm, calm.step.rows[calm.pointer])
        case "enter":
            return _confirm(calm)
        case "back":
            return (_enter(calm, calm.at - 1) if calm.at else calm), None
        case "escape":
            return calm, PutAside()
        case _:
            row = named(calm.step, key)
            if row is None:
                return calm, None
            pointed = point(calm, row)
            return (pointed, None) if row.weight == "grant" else _pick(pointed, row)


def named(step: Step, key: str) -> Row | None:
    """The row for a digit, a number or a letter."""
    if key.isdecimal() and key.isascii():
        return next((row for row in step.rows if row.digit == int(key)), None)
    return next((row for row in step.rows if row.key and row.key == key), None)


def write(dialogue: Dialogue, text: str) -> Dialogue:
    """Sets the text of the input line."""
    if dialogue.writing is None:
        return dialogue
    return replace(dialogue, drafts={**dialogue.drafts, (dialogue.step.name, dialogue.writing): text})


def edited(dialogue: Dialogue, text: str) -> Dialogue:
    """The editor was closed. Its text is kept, and editing continues from there."""
    if text == dialogue.flow.editable(dialogue.inputs)[0]:
        return replace(dialogue, note=t("terminal.edit.unchanged"))
    first = dialogue.steps[0].name
    entered = StepInput((EDIT,), text)
    drafted = replace(dialogue, drafts={**dialogue.drafts, (first, EDIT): text}, note="")
    try:
        dialogue.flow.check(dialogue.steps[0], entered)
    except Misfit as error:
        return replace(drafted, note=str(error))
    return _enter(replace(drafted, inputs={first: entered}), 1)


def not_sent(dialogue: Dialogue, why: str) -> Dialogue:
    """The answer did not count, and the ask is still open: everything stays as it was."""
    return replace(dialogue, sending=False, note=why)


def _press_while_writing(dialogue: Dialogue, key: str) -> tuple[Dialogue, Effect | None]:
    step, row = dialogue.step, dialogue.writing or ""
    match key:
        case "escape" | "back" if row:
            return replace(dialogue, writing=None), None
        case "escape":
            return dialogue, PutAside()
        case "back":
            return (_enter(dialogue, dialogue.at - 1) if dialogue.at else dialogue), None
        case "enter" if row and step.several:
            marked = dialogue.marked | {row} if dialogue.draft.strip() else dialogue.marked - {row}
            return replace(dialogue, writing=None, marked=marked), None
        case "enter":
            return _accept(dialogue, StepInput((row,) if row else (), dialogue.draft))
        case _:
            return dialogue, None


def _move(dialogue: Dialogue, by: int) -> Dialogue:
    rows = len(dialogue.step.rows)
    if dialogue.pointer is None:
        return replace(dialogue, pointer=0 if by > 0 else rows - 1)
    return replace(dialogue, pointer=(dialogue.pointer + by) % rows)


def point(dialogue: Dialogue, row: Row) -> Dialogue:
    """Selects this row."""
    return replace(dialogue, pointer=dialogue.step.rows.index(row))


def _pick(dialogue: Dialogue, row: Row) -> tuple[Dialogue, Effect | None]:
    match row.then:
        case "write" if not (dialogue.step.several and row.name in dialogue.marked):
            return replace(dialogue, writing=row.name), None
        case "edit":
            text, suffix = dialogue.flow.editable(dialogue.inputs)
            return dialogue, Edit(dialogue.drafts.get((dialogue.steps[0].name, EDIT), text), suffix)
        case _ if dialogue.step.several:
            return replace(dialogue, marked=dialogue.marked ^ {row.name}), None
        case _:
            return _accept(dialogue, StepInput((row.name,)))


def _confirm(dialogue: Dialogue) -> tuple[Dialogue, Effect | None]:
    step = dialogue.step
    if step.several:
        chosen = tuple(row.name for row in step.rows if row.name in dialogue.marked)
        if not chosen and not step.optional:
            return replace(dialogue, note=t("terminal.card.none_marked")), None
        text = dialogue.drafts.get((step.name, FREE_TEXT)) if FREE_TEXT in chosen else None
        return _accept(dialogue, StepInput(chosen, text))
    if dialogue.pointer is None:
        return replace(dialogue, note=t("terminal.card.none_chosen")), None
    return _pick(dialogue, step.rows[dialogue.pointer])


def _accept(dialogue: Dialogue, entered: StepInput) -> tuple[Dialogue, Effect | None]:
    step = dialogue.step
    try:
        dialogue.flow.check(step, entered)
        further = replace(dialogue, inputs={**dialogue.inputs, step.name: entered})
        if further.at + 1 < len(further.steps):
            return _enter(further, further.at + 1), None
        return replace(further, sending=True), Send(further.flow.answer(further.inputs))
    except Misfit as error:
        return replace(dialogue, note=str(error)), None


def _enter(dialogue: Dialogue, at: int) -> Dialogue:
    """A step as it was left, or its initial state."""
    step = dialogue.steps[at]
    before = dialogue.inputs.get(step.name)
    names = [row.name for row in step.rows]
    pointed = before.rows[0] if before and before.rows else step.first
    pointer = names.index(pointed) if pointed in names and not step.several else None
    marked = frozenset(before.rows) if before else step.marked
    return replace(
        dialogue,
        at=at,
        pointer=pointer,
        marked=marked if step.several else frozenset(),
        writing=None if step.rows else "",
        reading=None,
        seeking=None,
        sought="",
        match=None,
    )
