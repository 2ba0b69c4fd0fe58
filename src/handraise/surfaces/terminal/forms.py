"""The matter of a form: one step for each field, each checked as soon as it is filled. Pure."""

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from handraise.model import fit
from handraise.model.answers import Answer, Filled, Misfit
from handraise.model.asks import Form
from handraise.model.keys import key_of
from handraise.surfaces.terminal.dialogue import Row, Step, StepInput, keyed
from handraise.surfaces.terminal.harmless import evidence, one_line

_NOTHING = "leave empty"
_FIELD = "field "
_FORMATS = {
    "email": "An e-mail address",
    "uri": "An address such as https://example.org",
    "date": "A date such as 2026-03-01",
    "date-time": "A moment such as 2026-03-01T12:00:00Z",
}


class FormFlow(Struct, frozen=True):
    """Fill in or decline; then field by field; then a look at all of it before it is sent."""

    form: Form

    def steps(self, given: Mapping[str, StepInput]) -> tuple[Step, ...]:
        begin = Step(
            "begin",
            evidence(self.form.message),
            self._header,
            (
                keyed(key_of("form", "fill"), "Fill it in"),
                keyed(key_of("form", "decline"), "Decline"),
                keyed(key_of("form", "cancel"), "Dismiss without answering"),
            ),
        )
        if given.get("begin", StepInput()).rows != ("fill",):
            return (begin,)
        fields = (self._step(number, name) for number, name in enumerate(self._fields, 1))
        return begin, *fields, self._review(given)

    def editable(self, _given: Mapping[str, StepInput]) -> tuple[str, str]:
        raise Misfit("A form is filled here.")

    def check(self, step: Step, given: StepInput) -> None:
        if step.name.startswith(_FIELD):
            name = step.name.removeprefix(_FIELD)
            value = self._value(name, given)
            required = [name] if name in self._required else []
            schema = {"properties": {name: self._fields[name]}, "required": required}
            fit.check(Form("", "", schema), Filled("accept", {} if value is None else {name: value}))

    def answer(self, given: Mapping[str, StepInput]) -> Answer:
        match given["begin"].rows[0]:
            case "fill":
                return Filled("accept", self._content(given))
            case "decline":
                return Filled("decline")
            case _:
                return Filled("cancel")

    @property
    def _header(self) -> str:
        return f"Form · {one_line(self.form.server)}"

    @property
    def _fields(self) -> dict[str, dict[str, Any]]:
        found = self.form.schema.get("properties")
        told = found if isinstance(found, dict) else {}
        return {str(name): field if isinstance(field, dict) else {} for name, field in told.items()}

    @property
    def _required(self) -> list[str]:
        found = self.form.schema.get("required")
        return [str(name) for name in found] if isinstance(found, list) else []

    def _step(self, number: int, name: str) -> Step:
        field, optional = self._fields[name], name not in self._required
        title = f"{one_line(str(field.get('title') or name))}{' (optional)' if optional else ''}"
        says = evidence(str(field.get("description") or ""))
        several = field.get("type") == "array" and bool(_choices(field))
        rows = tuple(
            Row(f"={number}", one_line(label), digit=number + 1) for number, (_, label) in enumerate(_choices(field))
        )
        if rows and optional and not several:
            rows = (*rows, Row(_NOTHING, "Leave it empty", digit=len(rows) + 1))
        return Step(
            f"{_FIELD}{name}",
            f"{title}: {says}" if says else title,
            self._header,
            rows,
            several,
            optional,
            place=f"{number} of {len(self._fields)}",
            wants=f"{_wants(field)}{', or nothing' if optional else ''}.",
            first=_pointed(field) if rows else _spelled(field.get("default")),
            marked=_marked(field) if several else frozenset(),
        )

    def _review(self, given: Mapping[str, StepInput]) -> Step:
        told = [
            f"{one_line(str(field.get('title') or name))}: {_shown(self._value(name, given.get(_FIELD + name)))}"
            for name, field in self._fields.items()
        ]
        rows = (Row("send", "Send it", digit=1),)
        return Step("review", "\n".join(told) or "An empty form.", "Ready to send", rows, first="send")

    def _content(self, given: Mapping[str, StepInput]) -> dict[str, Any]:
        values = {name: self._value(name, given.get(_FIELD + name)) for name in self._fields}
        return {name: value for name, value in values.items() if value is not None}

    def _value(self, name: str, given: StepInput | None) -> object:
        """What was given as the field's own type; None for nothing."""
        field = self._fields[name]
        if given is None or given.rows == (_NOTHING,):
            return None
        choices = _choices(field)
        if choices:
            picked = [choices[int(row.removeprefix("="))][0] for row in given.rows]
            return picked if field.get("type") == "array" else picked[0]
        text = (given.text or "").strip()
        if not text:
            return None
        return _typed(field.get("type"), text)


def _choices(field: Mapping[str, Any]) -> list[tuple[object, str]]:
    """The values that a field may have, each with its name; none where it is free."""
    if field.get("type") == "boolean":
        return [(True, "Yes"), (False, "No")]
    inside = field.get("items") if field.get("type") == "array" else field
    if not isinstance(inside, dict):
        return []
    for key in ("oneOf", "anyOf"):
        if isinstance(inside.get(key), list):
            told = [each for each in inside[key] if isinstance(each, dict) and "const" in each]
            return [(each["const"], str(each.get("title") or each["const"])) for each in told]
    values = inside.get("enum")
    names = inside.get("enumNames")
    if not isinstance(values, list):
        return []
    labels = names if isinstance(names, list) and len(names) == len(values) else values
    return [(value, str(label)) for value, label in zip(values, labels, strict=True)]


def _marked(field: Mapping[str, Any]) -> frozenset[str]:
    default = field.get("default")
    told = default if isinstance(default, list) else []
    return frozenset(f"={number}" for number, (value, _) in enumerate(_choices(field)) if value in told)


def _pointed(field: Mapping[str, Any]) -> str:
    if "default" not in field:
        return ""
    values = [value for value, _ in _choices(field)]
    return f"={values.index(field['default'])}" if field["default"] in values else ""


def _typed(kind: object, text: str) -> object:
    """The text as the type says; as it is where it cannot be, so that the check can say why."""
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
        # JSON knows neither infinity nor what is no number.
        return found if math.isfinite(found) else text
    return text


def _wants(field: Mapping[str, Any]) -> str:
    low, high = field.get("minimum"), field.get("maximum")
    bounds = [f"{word} {bound}" for word, bound in (("from", low), ("to", high)) if isinstance(bound, int | float)]
    match field.get("type"):
        case "integer":
            return " ".join(("A whole number", *bounds))
        case "number":
            return " ".join(("A number", *bounds))
        case "array":
            return "Texts, with commas between them"
        case _:
            form = field.get("format")
            return _FORMATS.get(str(form), f"A text ({one_line(str(form))})") if form else "A text"


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
            return "yes" if value else "no"
        case _:
            return one_line(_spelled(value))
