"""The answer: what was decided. Reads and writes answers as JSON; `model.fit` checks whether one fits."""

from typing import Any, Literal, assert_never

import msgspec
from msgspec import Struct, field

from handraise.model.trust import TrustLevel

Scope = Literal["once", "session", "always"]


class Misfit(Exception):
    """The answer doesn't fit its ask, which stays open. The text is a sentence for the person."""


class Choice(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to one prompt: labels, free text, or both."""

    labels: tuple[str, ...] = ()
    text: str | None = None


class Choices(Struct, frozen=True, forbid_unknown_fields=True):
    """To a question: one choice for each prompt, in order."""

    answers: tuple[Choice, ...]


class Allow(Struct, frozen=True, forbid_unknown_fields=True):
    """To a permission: yes, possibly with an edited input, possibly for longer than once."""

    scope: Scope = field(default="once", name="for")
    input: dict[str, Any] | None = None
    suggestions: tuple[int, ...] = ()
    """Which of Claude's own suggestions to accept too, by their position in the ask."""


class Deny(Struct, frozen=True, forbid_unknown_fields=True):
    """To a permission: no, and why."""

    message: str = ""
    interrupt: bool = False


class Approve(Struct, frozen=True, forbid_unknown_fields=True):
    """To a plan: go ahead in this mode, possibly with an edited plan."""

    mode: Literal["default", "acceptEdits"] = "default"
    plan: str | None = None


class Revise(Struct, frozen=True, forbid_unknown_fields=True):
    """To a plan: revise it, and why."""

    message: str = ""


class Outline(Struct, frozen=True, forbid_unknown_fields=True):
    """To a plan: write a step-by-step outline first."""

    outline: Literal[True] = True


class Filled(Struct, frozen=True, forbid_unknown_fields=True):
    """To a form: filled in, declined or cancelled. To a link: done (without content), declined or cancelled."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


class Trusting(Struct, frozen=True, forbid_unknown_fields=True):
    """To a directory's own files: run without them, use them exactly as shown, or never use them."""

    trust: TrustLevel


Answer = Choices | Allow | Deny | Approve | Revise | Outline | Filled | Trusting


def read_answer(kind: str, content: object) -> Answer:
    """Reads the answer that a surface sent for this kind of ask; raises Misfit with a sentence."""
    if not isinstance(content, dict):
        raise Misfit("An answer must be a JSON object.")
    try:
        match kind:
            case "question":
                return msgspec.convert(content, Choices)
            case "permission":
                return _read_switch(content, "allow", Allow, Deny)
            case "plan":
                if "outline" in content:
                    return msgspec.convert(content, Outline)
                return _read_switch(content, "approve", Approve, Revise)
            case "form":
                return msgspec.convert(content, Filled)
            case "trust":
                return msgspec.convert(content, Trusting)
    except msgspec.ValidationError as error:
        raise Misfit(f"This doesn't answer a {kind}: {error}.") from error
    raise Misfit(f"There is no kind of request called {kind!r}.")


def answer_as_json(answer: Answer) -> dict[str, Any]:
    """An answer as the API sends it; `read_answer` reads it back."""
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


def _read_switch(content: dict[str, Any], switch: str, yes: type[Answer], no: type[Answer]) -> Answer:
    if switch not in content:
        raise Misfit(f"The answer must contain {switch!r}: true or false.")
    # Only `true` itself is consent: 1, "yes" or a missing value are not.
    rest = {key: value for key, value in content.items() if key != switch}
    if content[switch] is True:
        answer: Answer = msgspec.convert(rest, yes)
        return answer
    if content[switch] is False:
        refusal: Answer = msgspec.convert(rest, no)
        return refusal
    raise Misfit(f"{switch!r} must be true or false.")


def _without_none(answer: Struct) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.to_builtins(answer)
    return {key: value for key, value in built.items() if value is not None}
