"""What a session machine wants done. The runner performs it."""

from msgspec import Struct

from handraise.model.asks import Ask
from handraise.model.items import Content
from handraise.session.facts import Timer


class Write(Struct, frozen=True):
    """A line for Claude. It goes out before the batch is stored, and again after a crash, which does no harm."""

    line: bytes


class Raise(Struct, frozen=True):
    """Put this to people, unless a rule answers it; `mode` held when Claude asked."""

    ask: Ask
    mode: str


class Consult(Struct, frozen=True):
    """Give the fact `Ruled` at once: Claude is about to make this call; `mode` holds."""

    ask: Ask
    mode: str


class Withdraw(Struct, frozen=True):
    """Claude no longer waits for this ask."""

    ask: str
    reason: str


class Deliver(Struct, frozen=True):
    """Claude took the answer."""

    ask: str


class Take(Struct, frozen=True):
    """Claude took up what was said."""

    say: str


class Return(Struct, frozen=True):
    """Claude took this up and may have lost it: it waits again."""

    say: str


class Publish(Struct, frozen=True):
    """An entry for the feed."""

    content: Content


class Changed(Struct, frozen=True):
    """The session's own record is another one now."""


class WakeMe(Struct, frozen=True):
    """Give the fact `Woke` after so many seconds; None takes the timer back."""

    timer: Timer
    seconds: float | None


class AnswerAgain(Struct, frozen=True):
    """Give the fact `Settled` again for each answer that Claude has not shown to have taken."""


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
