"""The answer that the options of `handraise answer` give. Pure; never guesses, never drops an option."""

import json
import re
from collections.abc import Sequence
from typing import Any, Literal, NoReturn

from msgspec import Struct

from handraise.model import fit
from handraise.model.answers import (
    Allow,
    Answer,
    Approve,
    Choice,
    Choices,
    Deny,
    Filled,
    Misfit,
    Outline,
    Revise,
    Trusting,
)
from handraise.model.asks import Body, Kind, Prompt, Question, kind_of
from handraise.present.harmless import seal
from handraise.surfaces.terminal.answer_options import PLACEHOLDER, offered

_NUMBERED = re.compile(r"([0-9]{1,3})=(.*)", re.DOTALL)
_NAMES: dict[Kind, str] = {
    "question": "a question",
    "permission": "a permission",
    "plan": "a plan",
    "form": "a form",
    "trust": "a trust request",
}


class Flags(Struct, frozen=True):
    """The options as typed; a sequence has one value for each time the option appears."""

    choose: Sequence[str] = ()
    text: Sequence[str] = ()
    allow: bool = False
    scope: Sequence[str] = ()
    edited: Sequence[str] = ()
    deny: Sequence[str] = ()
    approve: bool = False
    plan_mode: Sequence[str] = ()
    revise: Sequence[str] = ()
    outline: bool = False
    fill: Sequence[str] = ()
    done: bool = False
    decline: bool = False
    dismiss: bool = False
    without: bool = False
    trust: bool = False
    never: bool = False


class NoAnswer(Exception):
    """The options don't answer this request, so nothing is sent. The text says why, and lists what is possible."""


def answer_in(flags: Flags, body: Body) -> Answer:
    """The answer that these options give to this request; raises NoAnswer."""
    try:
        answer = _read(flags, body)
        fit.check(body, answer)
    except Misfit as error:
        sentence = str(error)
    else:
        return answer
    raise NoAnswer("\n".join(seal(line) for line in [sentence, "You can answer with:", *offered(body)]))


def _read(flags: Flags, body: Body) -> Answer:
    kind = kind_of(body)
    chosen = _chosen_options(flags)
    if len(chosen) > 1:
        raise Misfit(f"{_listed(list(chosen))} contradict each other. Nothing was sent.")
    if not chosen:
        raise Misfit(f"This is {_NAMES[kind]}. Choose an answer.")
    [(option, answers)] = chosen.items()
    if answers != kind:
        raise Misfit(f"{option} doesn't answer {_NAMES[kind]}.")
    _check_companions(flags, option)
    if isinstance(body, Question):
        return _choices(flags, body.questions)
    return _switch(flags, option)


def _chosen_options(flags: Flags) -> dict[str, Kind]:
    """Every option that is an answer and was used, with the kind of request it answers."""
    options: list[tuple[str, object, Kind]] = [
        ("--choose or --text", flags.choose or flags.text, "question"),
        ("--allow", flags.allow, "permission"),
        ("--deny", flags.deny, "permission"),
        ("--approve", flags.approve, "plan"),
        ("--revise", flags.revise, "plan"),
        ("--outline", flags.outline, "plan"),
        ("--fill", flags.fill, "form"),
        ("--done", flags.done, "form"),
        ("--decline", flags.decline, "form"),
        ("--dismiss", flags.dismiss, "form"),
        ("--without", flags.without, "trust"),
        ("--trust", flags.trust, "trust"),
        ("--never", flags.never, "trust"),
    ]
    names = {"--choose or --text": "--choose" if flags.choose else "--text"}
    return {names.get(option, option): kind for option, value, kind in options if value}


def _check_companions(flags: Flags, option: str) -> None:
    for companion, values, goes_with in (
        ("--for", flags.scope, "--allow"),
        ("--input", flags.edited, "--allow"),
        ("--mode", flags.plan_mode, "--approve"),
        ("--deny", flags.deny, "--deny"),
        ("--revise", flags.revise, "--revise"),
        ("--fill", flags.fill, "--fill"),
    ):
        if values and option != goes_with:
            raise Misfit(f"{companion} only goes with {goes_with}, not with {option}.")
        if len(values) > 1:
            raise Misfit(f"{companion} appears {len(values)} times. Use it once.")


def _switch(flags: Flags, option: str) -> Answer:
    match option:
        case "--allow":
            scope: Literal["once", "session", "always"] = _one_of(flags.scope, ("once", "session", "always"))
            return Allow(scope, _object(flags.edited[0], "--input") if flags.edited else None)
        case "--deny":
            return Deny(flags.deny[0])
        case "--approve":
            mode: Literal["default", "acceptEdits"] = _one_of(flags.plan_mode, ("default", "acceptEdits"))
            return Approve(mode)
        case "--revise":
            return Revise(flags.revise[0])
        case "--outline":
            return Outline()
        case "--fill":
            return Filled("accept", _object(flags.fill[0], "--fill"))
        case "--done":
            return Filled("accept")
        case "--decline":
            return Filled("decline")
        case "--dismiss":
            return Filled("cancel")
        case "--trust":
            return Trusting("exactly")
        case "--never":
            return Trusting("never")
        case _:
            return Trusting("without")


def _one_of(values: Sequence[str], known: tuple[Any, ...]) -> Any:  # noqa: ANN401 (one of the known)
    return values[0] if values else known[0]


def _choices(flags: Flags, prompts: tuple[Prompt, ...]) -> Choices:
    labels: dict[int, list[str]] = {}
    texts: dict[int, str] = {}
    for chosen in flags.choose:
        number, label = _chosen(chosen, prompts)
        labels.setdefault(number, []).append(label)
    for written in flags.text:
        number, text = _written(written, prompts)
        if number in texts:
            raise Misfit(f"{_name(number, prompts).capitalize()} has two texts. Use one.")
        texts[number] = text
    for number, prompt in enumerate(prompts, 1):
        _check_one(number, prompt, labels.get(number, []), texts.get(number), prompts)
    return Choices(tuple(Choice(tuple(labels.get(each, ())), texts.get(each)) for each in range(1, len(prompts) + 1)))


def _check_one(
    number: int, prompt: Prompt, labels: Sequence[str], text: str | None, prompts: tuple[Prompt, ...]
) -> None:
    name = _name(number, prompts)
    if not labels and text is None:
        raise Misfit(f"{name.capitalize()} has no answer.")
    if text is not None and text.strip() in ("", PLACEHOLDER):
        raise Misfit(f"The text for {name} is empty." if not text.strip() else f"Write your own text for {name}.")
    if len(set(labels)) != len(labels):
        raise Misfit(f"The same option is chosen twice for {name}.")
    if not prompt.multi_select and len(labels) + (text is not None) > 1:
        raise Misfit(f"{name.capitalize()} takes one answer: an option or a text.")


def _chosen(chosen: str, prompts: tuple[Prompt, ...]) -> tuple[int, str]:
    """The number of the question, and the label. A label may contain `=`."""
    numbered = _numbered(chosen, prompts)
    if len(prompts) > 1:
        if numbered is None:
            _lacks_number(f"--choose {chosen}", prompts)
        number, label = numbered
        meant = _label(prompts[number - 1], label)
        if meant is None:
            raise Misfit(f"{_name(number, prompts).capitalize()} has no option {label!r}.")
        return number, meant
    labels = _labels(prompts[0]) if prompts else set()
    meant = _label(prompts[0], numbered[1]) if numbered is not None else None
    if meant is not None and numbered is not None:
        if chosen in labels:
            raise Misfit(f"{chosen!r} is ambiguous. Write '1={chosen}' or {numbered[1]!r}.")
        return 1, meant
    meant = _label(prompts[0], chosen) if prompts else None
    if meant is None:
        own_words = "" if prompts and prompts[0].is_closed else " Use --text for your own words."
        raise Misfit(f"There is no option {chosen!r}.{own_words}")
    return 1, meant


def _written(written: str, prompts: tuple[Prompt, ...]) -> tuple[int, str]:
    numbered = _numbered(written, prompts)
    if numbered is not None:
        return numbered
    if len(prompts) > 1:
        _lacks_number(f"--text {written}", prompts)
    if _NUMBERED.fullmatch(written):
        raise Misfit(f"There is 1 question. To send {written!r} as is, write '1={written}'.")
    return 1, written


def _numbered(value: str, prompts: tuple[Prompt, ...]) -> tuple[int, str] | None:
    """`2=Yes` split in two, if there is a second question."""
    found = _NUMBERED.fullmatch(value)
    number = int(found[1]) if found else 0
    return (number, found[2]) if found and 1 <= number <= len(prompts) else None


def _lacks_number(option: str, prompts: tuple[Prompt, ...]) -> NoReturn:
    raise Misfit(f"There are {len(prompts)} questions. Which one does {option!r} answer? Use 1=…, 2=….")


def _label(prompt: Prompt, chosen: str) -> str | None:
    """The label that was typed, or that has this number. A label that is a number is never a position."""
    labels = [option.label for option in prompt.options]
    if chosen in labels:
        return chosen
    # Where labels are numbers, too, a number that is none of them is a slip, not a position.
    if any(each.strip().isdecimal() for each in labels):
        return None
    at = int(chosen) if chosen.isascii() and chosen.isdecimal() and len(chosen) < 4 else 0
    return labels[at - 1] if 1 <= at <= len(labels) else None


def _labels(prompt: Prompt) -> set[str]:
    return {option.label for option in prompt.options}


def _name(number: int, prompts: tuple[Prompt, ...]) -> str:
    return f"question {number}" if len(prompts) > 1 else "this question"


def _listed(options: Sequence[str]) -> str:
    return f"{', '.join(options[:-1])} and {options[-1]}"


def _object(text: str, option: str) -> dict[str, Any]:
    try:
        fields = json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Misfit(f"{option} isn't valid JSON: {error}.") from None
    if not isinstance(fields, dict):
        raise Misfit(f"{option} must be a JSON object.")
    return fields


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A repeated key would silently lose its first value."""
    for name, _ in pairs:
        if [each for each, _ in pairs].count(name) > 1:
            raise ValueError(f"{name!r} appears twice")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} isn't JSON")
