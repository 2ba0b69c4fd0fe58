"""What a session machine is told: facts, which are absorbed in every phase, and wishes, which may be refused."""

from dataclasses import dataclass
from typing import Literal

from handraise.inbox.considering import Objection
from handraise.model.asks import Ask
from handraise.model.says import Say
from handraise.wire.frames import Frame

Timer = Literal["move", "idle"]


@dataclass(frozen=True, slots=True)
class Began:
    """A process of Claude is there: just started, or adopted."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A frame from the journal."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class Settled:
    """An ask of this session was settled, and that is stored. It may come more than once."""

    ask: Ask


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the rules have against a tool call, if anything."""

    ask: Ask
    objection: Objection | None


@dataclass(frozen=True, slots=True)
class Woke:
    """A timer that the machine had wished for."""

    timer: Timer


@dataclass(frozen=True, slots=True)
class Gone:
    """The process has ended, and its journal was heard to the end."""

    exit_code: int | None
    errors: str
    fault: str = ""
    """Why we had to end it, if we had to: it could not be followed any more."""


Fact = Began | Heard | Settled | Ruled | Woke | Gone


@dataclass(frozen=True, slots=True)
class Speak:
    """A person says something; it is stored already."""

    say: Say


@dataclass(frozen=True, slots=True)
class Interrupt:
    """The turn is to end."""


@dataclass(frozen=True, slots=True)
class ChangeMode:
    """Another permission mode, by Claude's own name for it."""

    mode: str


@dataclass(frozen=True, slots=True)
class ChangeModel:
    """Another model."""

    model: str


@dataclass(frozen=True, slots=True)
class Rename:
    """Another title; granted in every phase."""

    title: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Claude is to end; the session can be resumed."""

    reason: str = "the session was stopped"
    by: str | None = None
    """The name of the person who wants it."""


@dataclass(frozen=True, slots=True)
class Park:
    """Another session needs the place of this one, which is idle. It is brought back by what is said to it next."""


Wish = Speak | Interrupt | ChangeMode | ChangeModel | Rename | Stop | Park
