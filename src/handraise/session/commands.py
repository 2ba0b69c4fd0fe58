"""What a session machine wants done. The runner performs it."""

from msgspec import Struct

from handraise.model.asks import Ask
from handraise.model.items import Content
from handraise.session.facts import Timer


class Write(Struct, frozen=True):
    """A line for Claude. It goes out before the batch is stored, and again after a crash, which does no harm."""

    line: bytes


class Raise(Struct, frozen=True):
    """Open this ask, unless a rule answers it; `mode` was in force when Claude asked."""

    ask: Ask
    mode: str


class Consult(Struct, frozen=True):
    """Consult the rules and report `RulesConsulted` at once: Claude is about to make this call in `mode`."""

    ask: Ask
    mode: str


class Withdraw(Struct, frozen=True):
    """Claude no longer waits for this ask."""

    ask: str
    reason: str


class Deliver(Struct, frozen=True):
    """Claude received the answer."""

    ask: str


class Take(Struct, frozen=True):
    """Claude received the message."""

    say: str


class Return(Struct, frozen=True):
    """Claude received this message and may have lost it: it is queued again."""

    say: str


class Publish(Struct, frozen=True):
    """An entry for the feed."""

    content: Content


class Changed(Struct, frozen=True):
    """The session's own record has changed."""


class WakeMe(Struct, frozen=True):
    """Report `TimerFired` after so many seconds; None cancels the timer."""

    timer: Timer
    seconds: float | None


class AnswerAgain(Struct, frozen=True):
    """Report `AskWasSettled` again for each answer that Claude has not confirmed."""


class Terminate(Struct, frozen=True):
    """End Claude; the line asks it to."""

    farewell: bytes


class Alarm(Struct, frozen=True):
    """Something went around us: end Claude and all that it started, at once, and put it into the audit."""

    reason: str


Command = (
    Write
    | Raise
    | Consult
    | Withdraw
    | Deliver
    | Take
    | Return
    | Publish
    | Changed
    | WakeMe
    | AnswerAgain
    | Terminate
    | Alarm
)
