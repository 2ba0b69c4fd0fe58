"""The flow of each kind of ask: the steps a person goes through, and the resulting answer. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, assert_never, cast

from msgspec import Struct
from msgspec.structs import replace

from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Misfit, Outline, Revise, Trusting
from handraise.model.asks import Ask, Form, Permission, Plan, Prompt, Question, terms_of
from handraise.model.keys import key_of
from handraise.model.tools import tool_named
from handraise.model.trust import Trust, TrustLevel
from handraise.present.cards import Card, card_of
from handraise.present.choices import CardChoice
from handraise.present.evidence import as_json
from handraise.present.forms import FormFlow, LinkFlow
from handraise.present.harmless import evidence, one_line
from handraise.present.steps import FREE_TEXT, AskFlow, Row, Step, StepInput, keyed, row_of
from handraise.texts import t

_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,8}$")
_WRITTEN = ("deny", "stop", "revise")
"""What needs a text: a reason, or what to change."""


def flow_of(ask: Ask, directory: str | None) -> AskFlow:
    """The flow of an ask; paths are relative to this directory."""
    card = card_of(ask, directory)
    match ask.body:
        case Question(questions):
            return QuestionFlow(card, questions)
        case Permission():
            return PermissionFlow(card, ask.body)
        case Plan(plan):
            return PlanFlow(card, plan)
        case Form(url=str()):
            return LinkFlow(card, ask.body)
        case Form():
            return FormFlow(card, ask.body)
        case Trust():
            return TrustFlow(card)
        case _:
            assert_never(ask.body)


class QuestionFlow(Struct, frozen=True):
    """One step for each prompt; with several, a review before they are sent."""

    card: Card
    prompts: tuple[Prompt, ...]

    def steps(self, inputs: Mapping[str, StepInput]) -> tuple[Step, ...]:
        asked = tuple(_prompt(number, prompt, len(self.prompts)) for number, prompt in enumerate(self.prompts))
        return asked if len(asked) == 1 else (*asked, self._review(inputs))

    def editable(self, _inputs: Mapping[str, StepInput]) -> tuple[str, str]:
        raise Misfit(t("card.edit.question"))

    def check(self, step: Step, entered: StepInput) -> None:
        if step.name != "review" and entered.text is not None and not entered.text.strip():
            raise Misfit(t("card.step.empty_answer"))

    def answer(self, inputs: Mapping[str, StepInput]) -> Answer:
        return Choices(tuple(self._choice(number, inputs) for number in range(len(self.prompts))))

    def _choice(self, number: int, inputs: Mapping[str, StepInput]) -> Choice:
        entered = inputs.get(str(number), StepInput())
        options = self.prompts[number].options
        text = entered.text.strip() if entered.text is not None else None
        return Choice(tuple(options[int(name)].label for name in entered.rows if name != FREE_TEXT), text)

    def _review(self, inputs: Mapping[str, StepInput]) -> Step:
        lines = []
        for number, prompt in enumerate(self.prompts):
            choice = self._choice(number, inputs)
            chosen = ", ".join([*choice.labels, *([choice.text] if choice.text else [])])
            lines.append(f"{one_line(prompt.header or prompt.question)}: {one_line(chosen)}")
        rows = (Row("send", t("card.step.send_answers"), digit=1),)
        return Step("review", "\n".join(lines), t("card.step.ready"), rows, first="send")


class PermissionFlow(Struct, frozen=True):
    """Allow, for how long, with what; or deny, and why. An edited input is reviewed once more."""

    card: Card
    body: Permission

    def steps(self, inputs: Mapping[str, StepInput]) -> tuple[Step, ...]:
        header, reason = t("card.kind.permission"), t("card.step.reason")
        rows = self._rows()
        first = Step("decide", evidence(self.card.headline), header, rows, wants=reason, first=_safest(rows))
        if inputs.get("decide", StepInput()).rows != ("edit",):
            return (first,)
        allow, again = keyed(key_of("permission", "once"), t("card.step.allow_edited")), _again("permission")
        question, header = t("card.step.allow_changes"), t("card.step.permission_edited")
        if terms_of(self.body).deny_first:
            rows = (again, replace(allow, key="", digit=None))
            return first, Step("edited", question, header, rows, first=again.name)
        return first, Step("edited", question, header, (allow, again))

    def editable(self, inputs: Mapping[str, StepInput]) -> tuple[str, str]:
        before = inputs.get("decide", StepInput()).text
        text = self.body.input[self.edits] if self.edits else as_json(self.body.input)
        return (before if before is not None else text), self._suffix

    def check(self, _step: Step, entered: StepInput) -> None:
        if entered.rows == ("edit",):
            self._input(entered.text or "")

    def answer(self, inputs: Mapping[str, StepInput]) -> Answer:
        decided = inputs["decide"]
        match decided.rows[0]:
            case "once":
                return Allow()
            case "session":
                return Allow("session")
            case "always":
                return Allow("always")
            case "edit":
                return Allow(input=self._input(decided.text or ""))
            case "deny" | "stop" as how:
                return Deny((decided.text or "").strip(), how == "stop")
            case suggested:
                return Allow(suggestions=(int(suggested.removeprefix("suggestion ")),))

    @property
    def edits(self) -> str:
        """The one field of the input that is edited as plain text; empty if the whole input is, as JSON."""
        if isinstance(self.body.input.get("command"), str):
            return "command" if set(self.body.input) <= {"command", "description"} else ""
        field = tool_named(self.body.tool).editable
        return field if isinstance(self.body.input.get(field), str) else ""

    def edited_input(self, inputs: Mapping[str, StepInput]) -> dict[str, Any] | None:
        """The input after editing."""
        decided = inputs.get("decide", StepInput())
        return self._input(decided.text or "") if decided.rows == ("edit",) else None

    def _rows(self) -> tuple[Row, ...]:
        rows = [_row(choice) for choice in self.card.choices]
        first = next((at for at, row in enumerate(rows) if row.name == "suggestion"), len(rows))
        suggested = (replace(row, name=f"suggestion {number}") for number, row in enumerate(rows[first:]))
        return (*rows[:first], *suggested)

    @property
    def _suffix(self) -> str:
        """For the editor, which chooses its highlighting by it."""
        if self.edits in ("", "command"):
            return ".sh" if self.edits else ".json"
        ending = _SUFFIX.search(tool_named(self.body.tool).subject_of(self.body.input))
        return ending[0] if ending else ".txt"

    def _input(self, text: str) -> dict[str, Any]:
        if self.edits:
            if self.edits == "command" and not text.strip():
                raise Misfit(t("card.edit.no_command"))
            # Editors end a text with a line feed, whether it had one or not.
            before = self.body.input[self.edits]
            end = "\r\n" if "\r\n" in before and text.endswith("\r\n") else "\n"
            return {**self.body.input, self.edits: text if before.endswith("\n") else text.removesuffix(end)}
        try:
            read = json.loads(text)
        except ValueError as error:
            raise Misfit(t("card.edit.bad_json", error=error)) from error
        if not isinstance(read, dict) or not read:
            raise Misfit(t("card.edit.no_object"))
        return read


class PlanFlow(Struct, frozen=True):
    """Approve into a mode, edit first, send back, or ask for an outline."""

    card: Card
    plan: str

    def steps(self, inputs: Mapping[str, StepInput]) -> tuple[Step, ...]:
        rows = tuple(_row(choice) for choice in self.card.choices)
        header, wants = t("card.kind.plan"), t("card.step.revision")
        first = Step("decide", evidence(self.card.headline), header, rows, wants=wants, first=_safest(rows))
        if inputs.get("decide", StepInput()).rows != ("edit",):
            return (first,)
        edited = (*(row for row in rows if row.weight == "grant"), _again("plan"))
        question, header = t("card.step.approve_changes"), t("card.step.plan_edited")
        return first, Step("edited", question, header, edited)

    def editable(self, inputs: Mapping[str, StepInput]) -> tuple[str, str]:
        before = inputs.get("decide", StepInput()).text
        return (before if before is not None else self.plan), ".md"

    def check(self, _step: Step, entered: StepInput) -> None:
        if entered.rows == ("edit",) and not (entered.text or "").strip():
            raise Misfit(t("card.edit.no_plan"))
        if entered.rows == ("revise",) and not (entered.text or "").strip():
            raise Misfit(t("card.step.no_revision"))

    def answer(self, inputs: Mapping[str, StepInput]) -> Answer:
        decided = inputs["decide"]
        match decided.rows[0]:
            case "approve":
                return Approve()
            case "free":
                return Approve("acceptEdits")
            case "revise":
                return Revise((decided.text or "").strip())
            case "outline":
                return Outline()
            case _:
                free = inputs["edited"].rows == ("free",)
                return Approve("acceptEdits" if free else "default", decided.text)


class TrustFlow(Struct, frozen=True):
    """Run without a directory's files, trust them, or never use them. The first selected row changes nothing."""

    card: Card

    def steps(self, _inputs: Mapping[str, StepInput]) -> tuple[Step, ...]:
        rows = tuple(row_of(choice) for choice in self.card.choices)
        return (Step("decide", evidence(self.card.headline), t("card.kind.trust"), rows, first="without"),)

    def editable(self, _inputs: Mapping[str, StepInput]) -> tuple[str, str]:
        raise Misfit(t("card.edit.trust"))

    def check(self, _step: Step, _entered: StepInput) -> None:
        """Every row is an answer."""

    def answer(self, inputs: Mapping[str, StepInput]) -> Answer:
        return Trusting(cast(TrustLevel, inputs["decide"].rows[0]))


def _row(choice: CardChoice) -> Row:
    return row_of(choice, "edit" if choice.act == "edit" else "write" if choice.act in _WRITTEN else "chosen")


def _safest(rows: tuple[Row, ...]) -> str:
    """The row to begin at: the first one, where refusing comes first."""
    return rows[0].name if rows and rows[0].weight == "refuse" else ""


def _again(on: Literal["permission", "plan"]) -> Row:
    return keyed(key_of(on, "edit"), t("card.step.edit_again"), then="edit")


def _prompt(number: int, prompt: Prompt, count: int) -> Step:
    rows = tuple(
        Row(
            str(place),
            one_line(option.label),
            one_line(option.description),
            preview=evidence(option.preview or ""),
            digit=place + 1,
        )
        for place, option in enumerate(prompt.options)
    )
    if rows and not prompt.is_closed:
        rows = (*rows, keyed(key_of("question", FREE_TEXT), t("card.choice.question.free_text"), then="write"))
    return Step(
        str(number),
        evidence(prompt.question),
        one_line(prompt.header),
        rows,
        prompt.multi_select,
        place=t("card.step.place", place=number + 1, total=count) if count > 1 else "",
        wants=t("card.step.own_words") if rows else t("card.step.your_answer"),
    )
