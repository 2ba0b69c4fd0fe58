"""What a script may put into a reply. Frozen values, and short functions that make them; no I/O.

A script is a generator: it gets Claude's first message, each `yield` is one reply, and returns what Claude sends next.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from handraise.demo.request import Conversation


class SayPiece(Struct, frozen=True):
    """Text, with `pace` seconds between its words."""

    text: str
    pace: float = 0


class Think(Struct, frozen=True):
    """A thinking block."""

    text: str


class Use(Struct, frozen=True):
    """A tool call. The running script sets its ID."""

    tool: str
    input: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    flag: str | None = None
    """Why the check of auto mode finds it unsafe; empty if it doesn't. None: there is no such check."""


class AgentPiece(Struct, frozen=True):
    """A sub-agent with its own script."""

    description: str
    prompt: str
    script: "Scripted"
    background: bool


class WaitPiece(Struct, frozen=True):
    """A pause in a reply."""

    seconds: float


class Hold(Struct, frozen=True):
    """A pause until the name is released."""

    name: str


class Fail(Struct, frozen=True):
    """The request fails with an HTTP status; only pauses may come before it."""

    status: int
    kind: str
    message: str
    retry_after: float | None


class Cut(Struct, frozen=True):
    """The connection breaks."""


class Error(Struct, frozen=True):
    """An `error` event ends the stream."""

    kind: str
    message: str


class Spend(Struct, frozen=True):
    """The tokens that the reply claims, instead of an estimate."""

    input_tokens: int
    output_tokens: int


class Refuse(Struct, frozen=True):
    """The model's safeguards end the reply here."""

    category: str


Spoken: TypeAlias = SayPiece | Think | Use | WaitPiece | Hold | Cut | Error | Spend | Refuse
Piece: TypeAlias = Spoken | AgentPiece | Fail
Script: TypeAlias = Generator[Sequence[Piece], Conversation, None]
Scripted: TypeAlias = Callable[[Conversation], Script]


def say(text: str, pace: float = 0) -> SayPiece:
    return SayPiece(text, pace)


def think(text: str) -> Think:
    return Think(text)


def use(tool: str, /, **input: Any) -> Use:  # noqa: A002, ANN401 - each tool has its own input
    return Use(tool, input)


def checked(call: Use, why: str = "") -> Use:
    """The call with a verdict of the check of auto mode, where Claude asks for one: why it is unsafe, or that it isn't.

    Without one, Claude Code denies what it would have checked.
    """
    return replace(call, flag=why)


def agent(description: str, prompt: str, script: Scripted, *, background: bool = False) -> AgentPiece:
    """A sub-agent. In the foreground its report is the tool's result; in the background it comes later, as an aside."""
    return AgentPiece(description, prompt, script, background)


def wait(seconds: float) -> WaitPiece:
    return WaitPiece(seconds)


def hold(name: str) -> Hold:
    return Hold(name)


def fail(status: int, kind: str, message: str = "as scripted", *, retry_after: float | None = None) -> Fail:
    """For example `fail(529, "overloaded_error")`. Claude retries, and the next yield answers."""
    return Fail(status, kind, message, retry_after)


def cut() -> Cut:
    """Claude retries, and the next yield answers."""
    return Cut()


def error(kind: str = "overloaded_error", message: str = "as scripted") -> Error:
    """Claude retries, and the next yield answers."""
    return Error(kind, message)


def refuse(category: str = "cyber") -> Refuse:
    """The reply ends with `stop_reason` `refusal`. Claude Code may ask whether another model should try."""
    return Refuse(category)


def spend(input_tokens: int, output_tokens: int) -> Spend:
    return Spend(input_tokens, output_tokens)
