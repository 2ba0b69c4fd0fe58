"""Input of a session machine: facts, which are absorbed in every phase, and wishes, which may be refused."""

from typing import Literal

from msgspec import Struct

from handraise.inbox.considering import Objection
from handraise.model.asks import Ask
from handraise.model.says import Say
from handraise.wire.frames import Frame

Timer = Literal["move", "idle"]


class ProcessStarted(Struct, frozen=True):
    """A process of Claude is there: just started, or adopted."""


class FrameReceived(Struct, frozen=True):
    """A frame from the journal."""

    frame: Frame


class AskWasSettled(Struct, frozen=True):
    """An ask of this session was settled, and that is stored. It may come more than once."""

    ask: Ask


class RulesConsulted(Struct, frozen=True):
    """What the rules have against a tool call, if anything."""

    ask: Ask
    objection: Objection | None


class TimerFired(Struct, frozen=True):
    """A timer that the machine had set."""

    timer: Timer


class ProcessEnded(Struct, frozen=True):
    """The process has ended, and its journal was heard to the end."""

    exit_code: int | None
    errors: str
    fault: str = ""
    """Why we had to end it, if we had to: it could not be followed any more."""


Fact = ProcessStarted | FrameReceived | AskWasSettled | RulesConsulted | TimerFired | ProcessEnded


class Speak(Struct, frozen=True):
    """A person says something; it is stored already."""

    say: Say


class Interrupt(Struct, frozen=True):
    """The turn is to end."""


class ChangeMode(Struct, frozen=True):
    """Another permission mode, by Claude's own name for it."""

    mode: str


class ChangeModel(Struct, frozen=True):
    """Another model."""

    model: str


class Rename(Struct, frozen=True):
    """Another title; granted in every phase."""

    title: str


class Stop(Struct, frozen=True):
    """Claude is to end; the session can be resumed."""

    reason: str = "the session was stopped"
    by: str | None = None
    """The name of the person who wants it."""


class Park(Struct, frozen=True):
    """Another session needs the slot of this one, which is idle. The next message brings it back."""


Wish = Speak | Interrupt | ChangeMode | ChangeModel | Rename | Stop | Park
