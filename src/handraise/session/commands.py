"""What a session machine receives (facts and wishes) and what it wants done (commands). The runner performs these."""

from datetime import datetime
from typing import Literal

from msgspec import Struct, field

from handraise.inbox.considering import Objection
from handraise.model.abilities import Abilities
from handraise.model.actors import Person
from handraise.model.asks import Ask
from handraise.model.audit import Entry
from handraise.model.dangers import Danger
from handraise.model.items import Content
from handraise.model.sessions import Say
from handraise.session.memory import RetryApproval
from handraise.texts import t
from handraise.wire.frames import Frame

Timer = Literal["move", "idle", "denied", "unknown wait"]


class ProcessStarted(Struct, frozen=True):
    """A Claude process exists: just started, or adopted."""


class FrameReceived(Struct, frozen=True):
    """A frame from the journal."""

    frame: Frame


class AskWasSettled(Struct, frozen=True):
    """An ask of this session was settled, and that is stored. It may come more than once."""

    ask: Ask


class RulesConsulted(Struct, frozen=True):
    """The rules' objection to a tool call, if any."""

    ask: Ask
    objection: Objection | None


class DangersFound(Struct, frozen=True):
    """The dangers of a tool call that was checked. They come after our answer: Claude waits for that."""

    tool_use: str
    dangers: tuple[Danger, ...]


class TimerFired(Struct, frozen=True):
    """A timer set by the machine fired."""

    timer: Timer


class ProcessEnded(Struct, frozen=True):
    """The process has exited, and its journal was read to the end."""

    exit_code: int | None
    errors: str
    fault: str = ""
    """Why we had to end it, if we did: it could no longer be followed."""


Fact = ProcessStarted | FrameReceived | AskWasSettled | RulesConsulted | DangersFound | TimerFired | ProcessEnded


class Speak(Struct, frozen=True):
    """A person's message, already stored."""

    say: Say


class Interrupt(Struct, frozen=True):
    """End the turn."""


class ChangeMode(Struct, frozen=True):
    """Another permission mode, by Claude's own name."""

    mode: str


class ChangeModel(Struct, frozen=True):
    """Another model."""

    model: str


class Rename(Struct, frozen=True):
    """Another title; accepted in every phase."""

    title: str


class AllowDenied(Struct, frozen=True):
    """Claude may retry a call that was denied: exactly this one, once. Repeated, it changes nothing."""

    action: str
    by: Person
    source: str
    at: datetime


class Stop(Struct, frozen=True):
    """End Claude; the session can be resumed."""

    reason: str = field(default_factory=lambda: t("sessions.withdrawn.stopped"))
    by: str | None = None
    """The name of the person who asked for it."""


class Park(Struct, frozen=True):
    """Another session needs the slot of this idle one. The next message brings it back."""


Wish = Speak | Interrupt | ChangeMode | ChangeModel | Rename | AllowDenied | Stop | Park


class Write(Struct, frozen=True):
    """A line for Claude. Written before the batch is stored, and again after a crash, which is harmless."""

    line: bytes


class Raise(Struct, frozen=True):
    """Open this ask, unless a rule answers it; `mode` is the one in which Claude asked."""

    ask: Ask
    mode: str
    approval: RetryApproval | None = None
    """A person allowed this very call before: it settles what no rule has decided."""


class Consult(Struct, frozen=True):
    """Consult the rules and report `RulesConsulted` immediately: Claude is about to make this call in `mode`."""

    ask: Ask
    mode: str


class Withdraw(Struct, frozen=True):
    """Claude no longer waits for this ask."""

    ask: str
    reason: str


class Complete(Struct, frozen=True):
    """The website of a link reported that it is done: settles the ask, unless someone was first."""

    ask: str


class Deliver(Struct, frozen=True):
    """Claude received the answer."""

    ask: str


class AllowRetry(Struct, frozen=True):
    """A person allowed a denied call: store that, and their message to Claude."""

    say: Say
    entry: Entry


class Take(Struct, frozen=True):
    """Claude received the message."""

    say: str


class Return(Struct, frozen=True):
    """Claude received this message but may have lost it: it is queued again."""

    say: str


class Publish(Struct, frozen=True):
    """An entry for the feed."""

    content: Content


class Changed(Struct, frozen=True):
    """The session's own record has changed."""


class WakeMe(Struct, frozen=True):
    """Report `TimerFired` after this many seconds; None cancels the timer."""

    timer: Timer
    seconds: float | None


class AnswerAgain(Struct, frozen=True):
    """Report `AskWasSettled` again for each answer that Claude has not confirmed."""


class Terminate(Struct, frozen=True):
    """End Claude; the line asks it to exit."""

    farewell: bytes


class Learn(Struct, frozen=True):
    """Store what Claude offers in this directory."""

    abilities: Abilities


class Alarm(Struct, frozen=True):
    """Something bypassed us: kill Claude and everything it started immediately, and record it in the audit log."""

    reason: str


Command = (
    Write
    | Raise
    | Consult
    | Withdraw
    | Complete
    | Deliver
    | AllowRetry
    | Take
    | Return
    | Publish
    | Changed
    | WakeMe
    | AnswerAgain
    | Terminate
    | Learn
    | Alarm
)
