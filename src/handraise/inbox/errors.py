"""Why an answer did not count. The ask is unchanged."""

from typing import assert_never

from handraise.model.actors import ByRule, Person, TheHub
from handraise.model.answers import Allow, Answer, Approve, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import Answered, Ask, Expired, Withdrawn
from handraise.model.rules import Rule


class InboxError(Exception):
    """The answer did not count. The text is a sentence for the person."""


class NoSuchAsk(InboxError):
    """There is no ask with this id, or it was pruned."""

    def __init__(self, ask: str) -> None:
        super().__init__(f"There is no ask {ask}.")
        self.id = ask


class AlreadySettled(InboxError):
    """Someone else answered first, differently."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(_first_answer(ask))
        self.ask = ask


class AlreadyWithdrawn(InboxError):
    """The asker went away."""

    def __init__(self, ask: Ask) -> None:
        reason = ask.settlement.reason if isinstance(ask.settlement, Withdrawn) else ""
        super().__init__(f"This is no longer needed: {reason}.")
        self.ask = ask


class NotWhatWasShown(InboxError):
    """The answer was given to a different version of the ask."""

    def __init__(self, ask: Ask) -> None:
        super().__init__("This request has changed. Review it again.")
        self.ask = ask


class RuleUnreadable(InboxError):
    """The rule's command cannot be parsed. It was not saved."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(f"Can't read the rule's command (unclosed quote): {rule.command}")
        self.rule = rule


def _first_answer(ask: Ask) -> str:
    match ask.settlement:
        case (
            Answered(answer=answer, by=by, source=source) | Expired(late=Answered(answer=answer, by=by, source=source))
        ):
            return f"Already answered by {_named(by)} ({source}): {in_brief(answer)}."
        case _:
            return "This request is already closed."


def _named(actor: Person | ByRule | TheHub) -> str:
    return f"rule {actor.rule}" if isinstance(actor, ByRule) else actor.name


def in_brief(answer: Answer) -> str:
    """What was decided, in a few words."""
    match answer:
        case Choices(answers):
            return "; ".join(", ".join([*each.labels, *([each.text] if each.text else [])]) for each in answers)
        case Allow(scope=scope, input=changed):
            return f"allowed ({scope})" + (", with edited input" if changed else "")
        case Deny(message) | Revise(message):
            verb = "denied" if isinstance(answer, Deny) else "sent back"
            return f"{verb}: {message.strip()}" if message.strip() else verb
        case Approve(mode):
            return f"approved (mode {mode})"
        case Outline():
            return "asked for an outline first"
        case Filled(action):
            return {"accept": "filled in", "decline": "declined", "cancel": "cancelled"}[action]
        case Trusting(level):
            return {"without": "run without them", "exactly": "trusted", "never": "never"}[level]
        case _:
            assert_never(answer)
