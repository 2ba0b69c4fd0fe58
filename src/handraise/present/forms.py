"""The flow of a form: one step for each field, each checked as soon as it is filled in. Pure."""

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from handraise.model import fit
from handraise.model.answers import Answer, Filled, Misfit
from handraise.model.asks import Form
from handraise.present.cards import Card
from handraise.present.harmless import evidence, one_line
from handraise.present.steps import Row, Step, StepInput, row_of
from handraise.texts import t

BEGIN = "begin"
"""The first step of a form: fill in or decline."""
_NOTHING = "leave empty"
_FIELD = "field "
_FORMATS = ("email", "uri", "date", "date-time")


class FormFlow(Struct, frozen=True):
    """Fill in or decline; then field by field; then a review before it is sent."""

    card: Card
    form: Form

    def steps(self, inputs: Mapping[str, StepInput]) -> tuple[Step, ...]:
        begin = Step(
            BEGIN,
            evidence(self.form.message),
            self._header,
            tuple(row_of(choice) for choice in self.card.choices),
        )
        if inputs.get(BEGIN, StepInput()).rows != ("fill",):
            return (begin,)
        fields = (self._step(number, name) for number, name in enumerate(self._fields, 1))
        return begin, *fields, self._review(inputs)

    def editable(self, _inputs: Mapping[str, StepInput]) -> tuple[str, str]:
        raise Misfit(t("card.edit.form"))

    def check(self, step: Step, entered: StepInput) -> None:
        if step.name.startswith(_FIELD):
            name = step.name.removeprefix(_FIELD)
            value = self._value(name, entered)
            required = [name] if name in self._required else []
            schema = {"properties": {name: self._fields[name]}, "required": required}
            fit.check(Form("", "", schema), Filled("accept", {} if value is None else {name: value}))

    def answer(self, inputs: Mapping[str, StepInput]) -> Answer:
        match inputs[BEGIN].rows[0]:
            case "fill":
                return Filled("accept", self._content(inputs))
            case "decline":
                return Filled("decline")
            case _:
                return Filled("cancel")

    @property
    def _header(self) -> str:
        return t("card.form.header", server=one_line(self.form.server))

    @property
    def _fields(self) -> dict[str, dict[str, Any]]:
        found = self.form.schema.get("properties")
        fields = found if isinstance(found, dict) else {}
        return {str(name): field if isinstance(field, dict) else {} for name, field in fields.items()}

    @property
    def _required(self) -> list[str]:
        found = self.form.schema.get("required")
        return [str(name) for name in found] if isinstance(found, list) else []

    def _step(self, number: int, name: str) -> Step:
        field, optional = self._fields[name], name not in self._required
        title = one_line(str(field.get("title") or name))
        title = t("card.field.optional", title=title) if optional else title
        description = evidence(str(field.get("description") or ""))
        several = field.get("type") == "array" and bool(_choices(field))
        rows = tuple(
            Row(f"={number}", one_line(label), digit=number + 1) for number, (_, label) in enumerate(_choices(field))
        )
        if rows and optional and not several:
            rows = (*rows, Row(_NOTHING, t("card.field.leave_empty"), digit=len(rows) + 1))
        return Step(
            f"{_FIELD}{name}",
            t("card.field.described", title=title, description=description) if description else title,
            self._header,
            rows,
            several,
            optional,
            place=t("card.step.place", place=number, total=len(self._fields)),
            wants=t("card.field.nothing" if optional else "card.field.required", wanted=_wants(field)),
            first=_pointed(field) if rows else _spelled(field.get("default")),
            marked=_marked(field) if several else frozenset(),
        )

    def _review(self, inputs: Mapping[str, StepInput]) -> Step:
        values = [
            f"{one_line(str(field.get('title') or name))}: {_shown(self._value(name, inputs.get(_FIELD + name)))}"
            for name, field in self._fields.items()
        ]
        rows = (Row("send", t("card.step.send_form"), digit=1),)
        text = "\n".join(values) or t("card.step.empty_form")
        return Step("review", text, t("card.step.ready"), rows, first="send")

    def _content(self, inputs: Mapping[str, StepInput]) -> dict[str, Any]:
        values = {name: self._value(name, inputs.get(_FIELD + name)) for name in self._fields}
        return {name: value for name, value in values.items() if value is not None}

    def _value(self, name: str, entered: StepInput | None) -> object:
        """The input in the field's own type; None for nothing."""
        field = self._fields[name]
        if entered is None or entered.rows == (_NOTHING,):
            return None
        choices = _choices(field)
        if choices:
            picked = [choices[int(row.removeprefix("="))][0] for row in entered.rows]
            return picked if field.get("type") == "array" else picked[0]
        text = (entered.text or "").strip()
        if not text:
            return None
        return _typed(field.get("type"), text)


class LinkFlow(Struct, frozen=True):
    """Done, decline or dismiss. The link is only shown: people open it themselves. Nothing is selected first."""

    card: Card
    form: Form

    def steps(self, _inputs: Mapping[str, StepInput]) -> tuple[Step, ...]:
        header = t("card.form.link_header", server=one_line(self.form.server))
        rows = tuple(row_of(choice) for choice in self.card.choices)
        return (Step("decide", evidence(self.form.message), header, rows),)

    def editable(self, _inputs: Mapping[str, StepInput]) -> tuple[str, str]:
        raise Misfit(t("card.edit.link"))

    def check(self, _step: Step, _entered: StepInput) -> None:
        """Every row is an answer."""

    def answer(self, inputs: Mapping[str, StepInput]) -> Answer:
        match inputs["decide"].rows[0]:
            case "done":
                return Filled("accept")
            case "decline":
                return Filled("decline")
            case _:
                return Filled("cancel")


def _choices(field: Mapping[str, Any]) -> list[tuple[object, str]]:
    """The values that a field may have, each with its name; none if it is free text."""
    if field.get("type") == "boolean":
        return [(True, t("card.field.yes")), (False, t("card.field.no"))]
    inside = field.get("items") if field.get("type") == "array" else field
    if not isinstance(inside, dict):
        return []
    for key in ("oneOf", "anyOf"):
        if isinstance(inside.get(key), list):
            named = [each for each in inside[key] if isinstance(each, dict) and "const" in each]
            return [(each["const"], str(each.get("title") or each["const"])) for each in named]
    values = inside.get("enum")
    names = inside.get("enumNames")
    if not isinstance(values, list):
        return []
    labels = names if isinstance(names, list) and len(names) == len(values) else values
    return [(value, str(label)) for value, label in zip(values, labels, strict=True)]


def _marked(field: Mapping[str, Any]) -> frozenset[str]:
    default = field.get("default")
    marked = default if isinstance(default, list) else []
    return frozenset(f"={number}" for number, (value, _) in enumerate(_choices(field)) if value in marked)


def _pointed(field: Mapping[str, Any]) -> str:
    if "default" not in field:
        return ""
    values = [value for value, _ in _choices(field)]
    return f"={values.index(field['default'])}" if field["default"] in values else ""


def _typed(kind: object, text: str) -> object:
    """The text in the given type; unchanged if it can't be converted, so that the check can say why."""
    match kind:
        case "integer" | "number":
            return _number(text)
        case "array":
            return [part.strip() for part in text.split(",") if part.strip()]
        case _:
            return text


def _number(text: str) -> object:
    for read in (int, float):
        try:
            found = read(text)
        except ValueError:
            continue
        # JSON has neither infinity nor NaN.
        return found if math.isfinite(found) else text
    return text


def _wants(field: Mapping[str, Any]) -> str:
    match field.get("type"):
        case "integer":
            return _bounded(t("card.field.integer"), field)
        case "number":
            return _bounded(t("card.field.number"), field)
        case "array":
            return t("card.field.list")
        case _:
            form = field.get("format")
            if form in _FORMATS:
                return t(f"card.field.format.{str(form).replace('-', '_')}")
            return t("card.field.formatted", format=one_line(str(form))) if form else t("card.field.text")


def _bounded(wanted: str, field: Mapping[str, Any]) -> str:
    low, high = field.get("minimum"), field.get("maximum")
    match isinstance(low, int | float), isinstance(high, int | float):
        case True, True:
            return t("card.field.between", wanted=wanted, low=low, high=high)
        case True, False:
            return t("card.field.from", wanted=wanted, low=low)
        case False, True:
            return t("card.field.to", wanted=wanted, high=high)
        case _:
            return wanted


def _spelled(default: object) -> str:
    match default:
        case None:
            return ""
        case list():
            return ", ".join(str(each) for each in default)
        case _:
            return str(default)


def _shown(value: object) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return t("card.field.yes") if value else t("card.field.no")
        case _:
            return one_line(_spelled(value))
