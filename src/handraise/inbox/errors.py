"""What can become of an answer that did not count. The ask is as it was."""

from typing import assert_never

from handraise.model.actors import ByRule, Person, TheHub
from handraise.model.answers import Allow, Answer, Approve, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import Answered, Ask, Expired, Withdrawn
from handraise.model.rules import Rule


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


class RuleUnreadable(InboxError):
    """A rule that nobody could go by. It was not kept."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(f"The command of a rule cannot be read, a quote is not closed: {rule.command}")
        self.rule = rule


def _who_was_first(ask: Ask) -> str:
    match ask.settlement:
        case (
            Answered(answer=answer, by=by, source=source) | Expired(late=Answered(answer=answer, by=by, source=source))
        ):
            return f"This was answered before, by {_named(by)}, from {source}: {in_brief(answer)}."
        case _:
            return "This was settled before."


def _named(actor: Person | ByRule | TheHub) -> str:
    return f"rule {actor.rule}" if isinstance(actor, ByRule) else actor.name


def in_brief(answer: Answer) -> str:
    """What was decided, in a few words."""
    match answer:
        case Choices(answers):
            return "; ".join(", ".join([*each.labels, *([each.text] if each.text else [])]) for each in answers)
        case Allow(scope=scope, input=changed):
            return f"allowed ({scope})" + (", with another input" if changed else "")
        case Deny(message) | Revise(message):
            verb = "denied" if isinstance(answer, Deny) else "sent back"
            return f"{verb}: {message.strip()}" if message.strip() else verb
        case Approve(mode):
            return f"approved (mode {mode})"
        case Outline():
            return "an outline first"
        case Filled(action):
            return {"accept": "filled in", "decline": "declined", "cancel": "cancelled"}[action]
        case Trusting(level):
            return {"without": "run without them", "exactly": "trusted", "never": "never"}[level]
        case _:
            assert_never(answer)
