"""What can become of an answer that did not count. The ask is as it was."""

from handraise.model.actors import ByRule, Person, TheHub
from handraise.model.asks import Answered, Ask, Expired, Withdrawn


class InboxError(Exception):
    """The answer did not count. The text is a sentence for the person."""


class NoSuchAsk(InboxError):
    """There is no ask with this id, or it was forgotten long ago."""

    def __init__(self, ask: str) -> None:
        super().__init__(f"There is no ask {ask}.")
        self.id = ask


class AlreadySettled(InboxError):
    """Somebody was first, with something else."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(_who_was_first(ask))
        self.ask = ask


class AlreadyWithdrawn(InboxError):
    """The asker went away."""

    def __init__(self, ask: Ask) -> None:
        reason = ask.settlement.reason if isinstance(ask.settlement, Withdrawn) else ""
        super().__init__(f"This is no longer needed: {reason}.")
        self.ask = ask


class NotWhatWasShown(InboxError):
    """The answer was given to something else than what waits."""

    def __init__(self, ask: Ask) -> None:
        super().__init__("What was shown is not what waits here; look at it again before you answer.")
        self.ask = ask


def _who_was_first(ask: Ask) -> str:
    match ask.settlement:
        case Answered(by=by, source=source) | Expired(late=Answered(by=by, source=source)):
            return f"This was answered before, by {_named(by)}, from {source}."
        case _:
            return "This was settled before."


def _named(actor: Person | ByRule | TheHub) -> str:
    return f"rule {actor.rule}" if isinstance(actor, ByRule) else actor.name
