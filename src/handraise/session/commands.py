"""What a session machine wants done. The runner performs it."""

from dataclasses import dataclass

from handraise.model.asks import Ask
from handraise.model.items import Content
from handraise.session.facts import Timer


@dataclass(frozen=True, slots=True)
class Write:
    """A line for Claude. It goes out before the batch is stored, and again after a crash, which does no harm."""

    line: bytes


@dataclass(frozen=True, slots=True)
class Raise:
    """Put this to people, unless a rule answers it; `mode` held when Claude asked."""

    ask: Ask
    mode: str


@dataclass(frozen=True, slots=True)
class Consult:
    """Give the fact `Ruled` at once: Claude is about to make this call; `mode` holds."""

    ask: Ask
    mode: str


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Claude no longer waits for this ask."""

    ask: str
    reason: str


@dataclass(frozen=True, slots=True)
class Deliver:
    """Claude took the answer."""

    ask: str


@dataclass(frozen=True, slots=True)
class Take:
    """Claude took up what was said."""

    say: str


@dataclass(frozen=True, slots=True)
class Return:
    """Claude took this up and may have lost it: it waits again."""

    say: str


@dataclass(frozen=True, slots=True)
class Publish:
    """An entry for the feed."""

    content: Content


@dataclass(frozen=True, slots=True)
class Changed:
    """The session's own record is another one now."""


@dataclass(frozen=True, slots=True)
class WakeMe:
    """Give the fact `Woke` after so many seconds; None takes the timer back."""

    timer: Timer
    seconds: float | None


@dataclass(frozen=True, slots=True)
class AnswerAgain:
    """Give the fact `Settled` again for each answer that Claude has not shown to have taken."""


@dataclass(frozen=True, slots=True)
class Terminate:
    """End Claude; the line asks it to."""

    farewell: bytes


@dataclass(frozen=True, slots=True)
class Alarm:
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
