"""The steps of an ask: what a person chooses or writes, one decision after the other, on any surface. Pure."""

from collections.abc import Mapping
from typing import Literal, Protocol

from msgspec import Struct

from handraise.model.answers import Answer
from handraise.model.intent import Weight
from handraise.model.keys import Key
from handraise.present.cards import Card
from handraise.present.choices import CardChoice
from handraise.present.harmless import one_line

FREE_TEXT = "free text"


class Row(Struct, frozen=True):
    """Something to choose. `then`: choose it, ask for a text first, or open an editor.

    `weight`: what choosing it does. A key only selects a row that grants; Enter confirms. `digit` is its place; a
    place without an offer stays empty.
    """

    name: str
    label: str
    says: str = ""
    key: str = ""
    then: Literal["chosen", "write", "edit"] = "chosen"
    preview: str = ""
    danger: bool = False
    digit: int | None = None
    weight: Weight = "answer"


def keyed(key: Key, label: str, says: str = "", then: Literal["chosen", "write", "edit"] = "chosen") -> Row:
    """The row of something in the table of keys."""
    return Row(key.act, label, says, key.letter, then, digit=key.digit, weight=key.weight)


def row_of(choice: CardChoice, then: Literal["chosen", "write", "edit"] = "chosen") -> Row:
    """The row of one of a card's choices."""
    label, says = one_line(choice.label), one_line(choice.detail)
    return Row(
        choice.act,
        label,
        says,
        choice.key,
        then,
        danger=choice.danger,
        digit=choice.digit,
        weight=choice.weight,
    )


class Step(Struct, frozen=True):
    """One decision: one row, several, or a text if there are no rows."""

    name: str
    sentence: str
    header: str = ""
    rows: tuple[Row, ...] = ()
    several: bool = False
    optional: bool = False
    place: str = ""
    """Its position, if there are several."""
    wants: str = ""
    """What the text is for, shown next to the input."""
    first: str = ""
    """The initial text or selected row."""
    marked: frozenset[str] = frozenset()
    """The rows that are marked initially."""


class StepInput(Struct, frozen=True):
    """What was chosen or written at a step."""

    rows: tuple[str, ...] = ()
    text: str | None = None


class AskFlow(Protocol):
    """What an ask of one kind needs to know."""

    @property
    def card(self) -> Card:
        """What the ask says."""
        ...

    def steps(self, inputs: Mapping[str, StepInput]) -> tuple[Step, ...]:
        """All steps that follow from the input so far."""
        ...

    def editable(self, inputs: Mapping[str, StepInput], /) -> tuple[str, str]:
        """The text for the editor, and the suffix of its file."""
        ...

    def check(self, step: Step, entered: StepInput, /) -> None:
        """Raises Misfit if this can't be accepted."""
        ...

    def answer(self, inputs: Mapping[str, StepInput]) -> Answer: ...
