"""The matter of each kind of ask: which steps a person goes through, and the answer that they come to. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Misfit, Outline, Revise
from handraise.model.asks import Ask, Form, Permission, Plan, Prompt, Question
from handraise.model.keys import key_of
from handraise.model.trust import Trust
from handraise.surfaces.terminal.dialogue import FREE_TEXT, AskFlow, Row, Step, StepInput, keyed
from handraise.surfaces.terminal.forms import FormFlow
from handraise.surfaces.terminal.harmless import evidence, one_line
from handraise.surfaces.terminal.trusting import TrustFlow
from handraise.surfaces.terminal.words import as_json, heading

_REASON = "Why? Claude reads it. Enter alone denies without a reason."
_EDITED = {"command": "command", "content": "content", "new_string": "new text"}
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,8}$")
_REFUSING = (("deny", "Deny, and say why"), ("stop", "Deny and stop"))
_ALLOWING = ("a, then Enter to allow", "d to deny")
_APPROVING = ("a, then Enter to approve", "d to send back")
_REVISION = "What should be different?"


def flow_of(ask: Ask) -> AskFlow:
    """What an ask wants to know."""
    match ask.body:
        case Question(questions):
            return QuestionFlow(questions)
        case Permission():
            return PermissionFlow(ask.body, heading(ask))
        case Plan(plan):
            return PlanFlow(plan)
        case Form():
            return FormFlow(ask.body)
        case Trust():
            return TrustFlow(ask.body)
        case _:
            assert_never(ask.body)


class QuestionFlow(Struct, frozen=True):
    """One step for each prompt; with several, a look at all of them before they are sent."""

    prompts: tuple[Prompt, ...]

    def steps(self, given: Mapping[str, StepInput]) -> tuple[Step, ...]:
        asked = tuple(_prompt(number, prompt, len(self.prompts)) for number, prompt in enumerate(self.prompts))
        return asked if len(asked) == 1 else (*asked, self._review(given))

    def editable(self, _given: Mapping[str, StepInput]) -> tuple[str, str]:
        raise Misfit("A question is answered here.")

    def check(self, step: Step, given: StepInput) -> None:
        if step.name != "review" and given.text is not None and not given.text.strip():
            raise Misfit("Write something, or go back with Esc.")

    def answer(self, given: Mapping[str, StepInput]) -> Answer:
        return Choices(tuple(self._choice(number, given) for number in range(len(self.prompts))))

    def _choice(self, number: int, given: Mapping[str, StepInput]) -> Choice:
        said = given.get(str(number), StepInput())
        options = self.prompts[number].options
        text = said.text.strip() if said.text is not None else None
        return Choice(tuple(options[int(name)].label for name in said.rows if name != FREE_TEXT), text)

    def _review(self, given: Mapping[str, StepInput]) -> Step:
        told = []
        for number, prompt in enumerate(self.prompts):
            choice = self._choice(number, given)
            said = ", ".join([*choice.labels, *([choice.text] if choice.text else [])])
            told.append(f"{one_line(prompt.header or prompt.question)}: {one_line(said)}")
        rows = (Row("send", "Send these answers", digit=1),)
        return Step("review", "\n".join(told), "Ready to send", rows, first="send")


class PermissionFlow(Struct, frozen=True):
    """Allow, for how long, with what; or deny, and why. What was edited is looked at once more."""

    body: Permission
    asked: str

    def steps(self, given: Mapping[str, StepInput]) -> tuple[Step, ...]:
        first = Step("decide", self.asked, "Permission", self._rows(), wants=_REASON, keys=_ALLOWING)
        if given.get("decide", StepInput()).rows != ("edit",):
            return (first,)
        rows = (keyed(key_of("permission", "once"), "Allow it like this, once"), _again("permission"))
        return first, Step("edited", "Allow it as you changed it?", "Permission, edited", rows, keys=_ALLOWING[:1])

    def editable(self, given: Mapping[str, StepInput]) -> tuple[str, str]:
        before = given.get("decide", StepInput()).text
        text = self.body.input[self.edits] if self.edits else as_json(self.body.input)
        return (before if before is not None else text), self._suffix

    def check(self, _step: Step, given: StepInput) -> None:
        if given.rows == ("edit",):
            self._input(given.text or "")

    def answer(self, given: Mapping[str, StepInput]) -> Answer:
        decided = given["decide"]
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
        """The one text of the input that is edited as it is; empty where the whole input is, as JSON."""
        match self.body.tool, self.body.input:
            case _, {"command": str()} if set(self.body.input) <= {"command", "description"}:
                return "command"
            case "Write", {"content": str()}:
                return "content"
            case "Edit", {"new_string": str()}:
                return "new_string"
            case _:
                return ""

    def edited_input(self, given: Mapping[str, StepInput]) -> dict[str, Any] | None:
        """What the input became in the editor."""
        decided = given.get("decide", StepInput())
        return self._input(decided.text or "") if decided.rows == ("edit",) else None

    def _rows(self) -> tuple[Row, ...]:
        what = _EDITED.get(self.edits, "input")
        refusing = (keyed(key_of("permission", name), label, then="write") for name, label in _REFUSING)
        return (
            keyed(key_of("permission", "once"), "Allow once"),
            *(keyed(key_of("permission", offer.lasting), one_line(offer.scope)) for offer in self.body.offers),
            keyed(key_of("permission", "edit"), f"Edit the {what}, then decide", then="edit"),
            *(replace(row, danger=True) for row in refusing),
            *(_suggestion(number, told) for number, told in enumerate(self.body.suggestions_in_words)),
        )

    @property
    def _suffix(self) -> str:
        """For the editor, which colours a file by its name."""
        if self.edits in ("", "command"):
            return ".sh" if self.edits else ".json"
        ending = _SUFFIX.search(str(self.body.input.get("file_path", "")))
        return ending[0] if ending else ".txt"

    def _input(self, text: str) -> dict[str, Any]:
        if self.edits:
            if self.edits == "command" and not text.strip():
                raise Misfit("The command was empty in the editor; nothing was sent.")
            # Editors end a text with a line feed, whether it had one or not.
            before = self.body.input[self.edits]
            end = "\r\n" if "\r\n" in before and text.endswith("\r\n") else "\n"
            return {**self.body.input, self.edits: text if before.endswith("\n") else text.removesuffix(end)}
        try:
            read = json.loads(text)
        except ValueError as error:
            raise Misfit(f"What you wrote is not valid JSON ({error}); nothing was sent.") from error
        if not isinstance(read, dict) or not read:
            raise Misfit("The input must be a JSON object; nothing was sent.")
        return read


class PlanFlow(Struct, frozen=True):
    """Approve into a mode, edit first, send back, or have the steps outlined."""

    plan: str

    def steps(self, given: Mapping[str, StepInput]) -> tuple[Step, ...]:
        approve = (
            keyed(key_of("plan", "approve"), "Approve; Claude asks before each change"),
            keyed(key_of("plan", "free"), "Approve; Claude changes files without asking"),
        )
        rows = (
            *approve,
            keyed(key_of("plan", "edit"), "Edit the plan, then decide", then="edit"),
            keyed(key_of("plan", "revise"), "Send back, and say what to change", then="write"),
            keyed(key_of("plan", "outline"), "Pause: outline the steps first"),
        )
        first = Step("decide", "Claude has a plan.", "Plan", rows, wants=_REVISION, keys=_APPROVING)
        if given.get("decide", StepInput()).rows != ("edit",):
            return (first,)
        edited = (*approve, _again("plan"))
        return first, Step("edited", "Approve the plan as you changed it?", "Plan, edited", edited, keys=_APPROVING[:1])

    def editable(self, given: Mapping[str, StepInput]) -> tuple[str, str]:
        before = given.get("decide", StepInput()).text
        return (before if before is not None else self.plan), ".md"

    def check(self, _step: Step, given: StepInput) -> None:
        if given.rows == ("edit",) and not (given.text or "").strip():
            raise Misfit("The plan was empty in the editor; send it back with a message instead.")
        if given.rows == ("revise",) and not (given.text or "").strip():
            raise Misfit("Say what should be different, or go back with Esc.")

    def answer(self, given: Mapping[str, StepInput]) -> Answer:
        decided = given["decide"]
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
                free = given["edited"].rows == ("free",)
                return Approve("acceptEdits" if free else "default", decided.text)


def _suggestion(number: int, told: str) -> Row:
    key = key_of("permission", "suggestion")
    row = keyed(key, "Allow, as Claude suggests", one_line(told))
    return replace(row, name=f"suggestion {number}", digit=(key.digit or 0) + number)


def _again(on: Literal["permission", "plan"]) -> Row:
    return keyed(key_of(on, "edit"), "Edit again", then="edit")


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
    if rows:
        rows = (*rows, keyed(key_of("question", FREE_TEXT), "Free text", then="write"))
    return Step(
        str(number),
        evidence(prompt.question),
        one_line(prompt.header),
        rows,
        prompt.multi_select,
        place=f"{number + 1} of {count}" if count > 1 else "",
        wants="Your answer" if not rows else "In your own words",
    )
