"""The answer: what was decided. Reads and writes answers as JSON; whether one fits is `model.fit`."""

from typing import Any, Literal, assert_never

import msgspec
from msgspec import Struct, field

from handraise.model.trust import TrustLevel

Scope = Literal["once", "session", "always"]


class Misfit(Exception):
    """An answer that does not fit its ask; the ask stays open. The text is a sentence for the person."""


class Choice(Struct, frozen=True, forbid_unknown_fields=True):
    """What was said to one prompt: labels, free text, or both."""

    labels: tuple[str, ...] = ()
    text: str | None = None


class Choices(Struct, frozen=True, forbid_unknown_fields=True):
    """To a question: one choice for each prompt, in order."""

    answers: tuple[Choice, ...]


class Allow(Struct, frozen=True, forbid_unknown_fields=True):
    """To a permission: yes, perhaps with another input, perhaps for longer than this once."""

    scope: Scope = field(default="once", name="for")
    input: dict[str, Any] | None = None
    suggestions: tuple[int, ...] = ()
    """Which of Claude's own suggestions to grant along with it, by their place in the ask."""


class Deny(Struct, frozen=True, forbid_unknown_fields=True):
    """To a permission: no, and why."""

    message: str = ""
    interrupt: bool = False


class Approve(Struct, frozen=True, forbid_unknown_fields=True):
    """To a plan: go ahead, in this mode, perhaps with an edited plan."""

    mode: Literal["default", "acceptEdits"] = "default"
    plan: str | None = None


class Revise(Struct, frozen=True, forbid_unknown_fields=True):
    """To a plan: not like this, and why."""

    message: str = ""


class Outline(Struct, frozen=True, forbid_unknown_fields=True):
    """To a plan: pause, and write the steps down first."""

    outline: Literal[True] = True


class Filled(Struct, frozen=True, forbid_unknown_fields=True):
    """To a form: filled in, declined or cancelled."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


class Trusting(Struct, frozen=True, forbid_unknown_fields=True):
    """To what a directory brings: run without it, use it exactly as it was shown, or never."""

    trust: TrustLevel


Answer = Choices | Allow | Deny | Approve | Revise | Outline | Filled | Trusting


def read_answer(kind: str, said: object) -> Answer:
    """Reads what a surface sent for an ask of this kind; raises Misfit with a sentence."""
    if not isinstance(said, dict):
        raise Misfit("An answer is a JSON object.")
    try:
        match kind:
            case "question":
                return msgspec.convert(said, Choices)
            case "permission":
                return _read_switch(said, "allow", Allow, Deny)
            case "plan":
                if "outline" in said:
                    return msgspec.convert(said, Outline)
                return _read_switch(said, "approve", Approve, Revise)
            case "form":
                return msgspec.convert(said, Filled)
            case "trust":
                return msgspec.convert(said, Trusting)
    except msgspec.ValidationError as error:
        raise Misfit(f"This does not answer a {kind}: {error}.") from error
    raise Misfit(f"There is no kind of ask called {kind!r}.")


def answer_as_json(answer: Answer) -> dict[str, Any]:
    """An answer as the API says it; `read_answer` reads it back."""
    match answer:
        case Allow():
            return {**_without_none(answer), "allow": True}
        case Deny():
            return {**_without_none(answer), "allow": False}
        case Approve():
            return {**_without_none(answer), "approve": True}
        case Revise():
            return {**_without_none(answer), "approve": False}
        case Choices() | Outline() | Filled() | Trusting():
            return _without_none(answer)
        case _:
            assert_never(answer)


def _read_switch(said: dict[str, Any], switch: str, yes: type[Answer], no: type[Answer]) -> Answer:
    if switch not in said:
        raise Misfit(f"The answer must say {switch!r}: true or false.")
    # Only the word itself is consent: 1, "yes" or a missing value are not.
    rest = {key: value for key, value in said.items() if key != switch}
    if said[switch] is True:
        answer: Answer = msgspec.convert(rest, yes)
        return answer
    if said[switch] is False:
        refusal: Answer = msgspec.convert(rest, no)
        return refusal
    raise Misfit(f"{switch!r} must be true or false.")


def _without_none(answer: Struct) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.to_builtins(answer)
    return {key: value for key, value in built.items() if value is not None}
