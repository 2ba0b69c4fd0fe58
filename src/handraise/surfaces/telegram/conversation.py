"""One ask's card as people answer it: what each press and each reply does. Never looks at a clock. Pure.

Nothing is granted but by a button that says so, on a message that has been there for a moment; and by a second one
where the first could not show everything, or would allow more than this once.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from handraise.model import fit
from handraise.model.answers import Answer, Misfit
from handraise.model.asks import Ask, Plan, terms_of
from handraise.model.intent import Act, Weight, attend
from handraise.present.flows import flow_of
from handraise.present.steps import FREE_TEXT, AskFlow, Row, Step, StepInput
from handraise.surfaces.telegram.layout import layout_of
from handraise.texts import t

_LASTING = ("session", "always", "free", "exactly")
"""What holds for more than this once."""
_REFUSING = ("deny", "stop", "revise", "outline", "decline", "cancel", "without", "never")
"""What can be chosen without having seen everything."""


class CardState(Struct, frozen=True):
    """How far people got with a card. `revision` counts the changes: a button of an earlier one no longer counts."""

    inputs: dict[str, StepInput] = field(default_factory=dict)
    step: str = ""
    """The name of the step; empty for the first."""
    ticked: tuple[str, ...] = ()
    text: str = ""
    """What was written for a ticked row."""
    confirming: str = ""
    """The row that the next press confirms."""
    wants_text: str = ""
    """The row that a reply is for."""
    page: int = 0
    revision: int = 0
    by: int = 0
    """Who changed it last, by their number; 0 if nobody did."""


class Next(Struct, frozen=True):
    """The card changes. `sentence` says why, if that can't be seen."""

    state: CardState
    sentence: str = ""


class SendAnswer(Struct, frozen=True):
    """The ask is answered with this."""

    answer: Answer


class Toast(Struct, frozen=True):
    """Nothing changes, and this is why."""

    sentence: str


Outcome = Next | SendAnswer | Toast


def step_of(flow: AskFlow, state: CardState) -> tuple[Step, int]:
    """The step that a card is at, and its place among all; the first one if it no longer exists."""
    steps = flow.steps(state.inputs)
    at = next((number for number, each in enumerate(steps) if each.name == state.step), 0)
    return steps[at], at


def refusing(flow: AskFlow, state: CardState) -> tuple[Step, CardState]:
    """What is left of a card where not everything could be shown: its first step, with the rows that refuse."""
    first = flow.steps({})[0]
    rows = tuple(row for row in first.rows if row.name in _REFUSING)
    step = Step(first.name, first.sentence, first.header, rows, wants=first.wants)
    wants_text = state.wants_text if state.wants_text in {row.name for row in rows} else ""
    return step, CardState(wants_text=wants_text, revision=state.revision, by=state.by)


def needs_confirming(ask: Ask, flow: AskFlow, step: Step, row: Row) -> bool:
    """Whether one press isn't enough: not everything is in the message, it is risky, or it holds for longer."""
    if row.weight != "grant":
        return False
    terms = terms_of(ask.body)
    # Every plan needs a person: its card is made for that, and one press on it isn't too few.
    if terms.deny_first or (terms.is_strict and not isinstance(ask.body, Plan)):
        return True
    if row.name in _LASTING or row.name.startswith("suggestion "):
        return True
    return flow.card.risk.level == "high" or not layout_of(ask, flow, step).is_whole


def press(
    ask: Ask,
    directory: str | None,
    state: CardState,
    act: str,
    argument: str,
    *,
    shown_at: datetime,
    now: datetime,
    same_hand: bool = True,
    lacks_files: bool = False,
) -> Outcome:
    """A button was pressed. `shown_at`: since when its message shows what it shows; `same_hand`: by who changed it.

    With `lacks_files`, not everything could be shown, and it can only be refused.
    """
    flow = flow_of(ask, directory)
    if flow.card.outcome is not None and not flow.card.choices:
        return Toast(flow.card.outcome.text)
    talk = _Conversation(ask, flow, state, lacks_files)
    weight = talk.weight(act, argument)
    if weight is None:
        return Toast(t("telegram.press.stale"))
    if act == "confirm" and not same_hand:
        # Two presses are two looks of one person.
        return Next(replace(state, revision=state.revision + 1), t("telegram.press.confirm_too"))
    if not _is_meant(ask, state if same_hand else CardState(), weight, shown_at, now):
        return Toast(t("telegram.press.early"))
    return talk.press(act, argument)


def reply(ask: Ask, directory: str | None, state: CardState, text: str, *, lacks_files: bool = False) -> Outcome:
    """Someone replied to the card. A reply never grants anything."""
    flow = flow_of(ask, directory)
    if flow.card.outcome is not None and not flow.card.choices:
        return Toast(flow.card.outcome.text)
    return _Conversation(ask, flow, state, lacks_files).reply(text)


def _is_meant(ask: Ask, state: CardState, weight: Weight, shown_at: datetime, now: datetime) -> bool:
    shown, at = _milliseconds(shown_at), _milliseconds(now)
    if state.revision and weight == "answer":
        # The person opened this step, so it appeared where they were looking.
        attention = attend("telegram", min(_milliseconds(ask.opened_at), shown)).turn(shown)
    else:
        attention = attend("telegram", shown, seen=True)
    return attention.judge(Act(weight, at)) == "meant"


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)


class _Conversation:
    """A card at its current step."""

    def __init__(self, ask: Ask, flow: AskFlow, state: CardState, lacks_files: bool) -> None:
        self._ask = ask
        self._flow = flow
        self._lacks_files = lacks_files
        if lacks_files:
            self._at = 0
            self._step, self._state = refusing(flow, state)
        else:
            self._state = state
            self._step, self._at = step_of(flow, state)

    def weight(self, act: str, argument: str) -> Weight | None:
        """What a press would do; None if nothing like it is offered."""
        state, step = self._state, self._step
        row = next((each for each in step.rows if each.name == argument), None)
        match act:
            case "row" if row is not None and row.then != "edit" and not state.confirming:
                # A tick answers nothing: *Done* does.
                return "refuse" if step.several or self._must_confirm(row) else row.weight
            case "reason" if row is not None and row.then == "write":
                return "refuse"
            case "confirm" if row is not None and row.name == state.confirming:
                return row.weight
            case "done" if step.several:
                return "answer"
            case "skip" if not step.rows and step.optional:
                return "answer"
            case "suggested" if not step.rows and step.first:
                return "answer"
            case "back" | "page":
                return "refuse"
            case _:
                return None

    def press(self, act: str, argument: str) -> Outcome:
        match act:
            case "row":
                return self._choose(argument)
            case "reason":
                return self._change(wants_text=argument)
            case "confirm":
                return self._accept(StepInput((argument,)))
            case "done":
                return self._finish()
            case "skip":
                return self._accept(StepInput((), ""))
            case "suggested":
                return self._accept(StepInput((), self._step.first))
            case "page":
                return self._change(page=int(argument))
            case _:
                return self._back()

    def reply(self, text: str) -> Outcome:
        state, step = self._state, self._step
        if self._lacks_files and not state.wants_text:
            return Toast(t("telegram.card.no_files"))
        if not step.rows:
            return self._accept(StepInput((), text))
        rows = {row.name: row for row in step.rows if row.then == "write"}
        name = state.wants_text or FREE_TEXT
        if name not in rows or state.confirming:
            return Toast(t("telegram.press.use_buttons"))
        if step.several:
            return self._tick(name, text)
        return self._accept(StepInput((name,), text))

    def _must_confirm(self, row: Row) -> bool:
        return needs_confirming(self._ask, self._flow, self._step, row)

    def _choose(self, name: str) -> Outcome:
        row = next(each for each in self._step.rows if each.name == name)
        if self._step.several:
            return self._toggle(row)
        if self._must_confirm(row):
            return self._change(confirming=name)
        if row.then == "write" and name not in ("deny", "stop"):
            return self._change(wants_text=name)
        return self._accept(StepInput((name,)))

    def _toggle(self, row: Row) -> Outcome:
        if row.name in self._state.ticked:
            left = tuple(each for each in self._state.ticked if each != row.name)
            return self._change(ticked=left, text="" if row.name == FREE_TEXT else self._state.text)
        if row.then == "write":
            return self._change(wants_text=row.name)
        return self._change(ticked=(*self._state.ticked, row.name))

    def _tick(self, name: str, text: str) -> Outcome:
        if not text.strip():
            return Toast(t("card.step.empty_answer"))
        ticked = self._state.ticked if name in self._state.ticked else (*self._state.ticked, name)
        return self._change(ticked=ticked, text=text)

    def _finish(self) -> Outcome:
        chosen = tuple(row.name for row in self._step.rows if row.name in self._state.ticked)
        if not chosen and not self._step.optional:
            return Toast(t("telegram.press.none_ticked"))
        return self._accept(StepInput(chosen, self._state.text if FREE_TEXT in chosen else None))

    def _back(self) -> Outcome:
        if self._state.confirming or self._state.wants_text:
            return self._change()
        return self._enter(self._state.inputs, max(0, self._at - 1))

    def _accept(self, entered: StepInput) -> Outcome:
        inputs = {**self._state.inputs, self._step.name: entered}
        try:
            self._flow.check(self._step, entered)
            if self._at + 1 < len(self._flow.steps(inputs)):
                return self._enter(inputs, self._at + 1)
            answer = self._flow.answer(inputs)
            fit.check(self._ask.body, answer)
        except Misfit as error:
            return Toast(str(error))
        return SendAnswer(answer)

    def _enter(self, inputs: Mapping[str, StepInput], at: int) -> Outcome:
        """A step as it was left, or as it is at first."""
        step = self._flow.steps(inputs)[at]
        before = inputs.get(step.name)
        ticked: Sequence[str] = ()
        if step.several:
            ticked = before.rows if before else [row.name for row in step.rows if row.name in step.marked]
        text = before.text or "" if before and step.several else ""
        revision = self._state.revision + 1
        return Next(CardState(dict(inputs), step.name, tuple(ticked), text, revision=revision))

    def _change(
        self,
        *,
        confirming: str = "",
        wants_text: str = "",
        ticked: tuple[str, ...] | None = None,
        text: str | None = None,
        page: int | None = None,
    ) -> Outcome:
        """The same step; whatever isn't named is no longer confirmed or awaited."""
        state = self._state
        return Next(
            replace(
                state,
                confirming=confirming,
                wants_text=wants_text,
                ticked=state.ticked if ticked is None else ticked,
                text=state.text if text is None else text,
                page=state.page if page is None else page,
                revision=state.revision + 1,
            )
        )
