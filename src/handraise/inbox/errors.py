"""Why an answer did not count. The ask is unchanged."""

from typing import assert_never

from handraise.model.actors import ByRule, Person, TheHub
from handraise.model.answers import Allow, Answer, Approve, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import Answered, Ask, Expired, Withdrawn, is_link, was_completed
from handraise.model.rules import Rule
from handraise.texts import t


class InboxError(Exception):
    """The answer did not count. The text is a sentence for the person."""


class NoSuchAsk(InboxError):
    """There is no ask with this id, or it was pruned."""

    def __init__(self, ask: str) -> None:
        super().__init__(t("error.no_ask", ask=ask))
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
        super().__init__(t("error.withdrawn", reason=reason))
        self.ask = ask


class NotWhatWasShown(InboxError):
    """The answer was given to a different version of the ask."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(t("error.changed"))
        self.ask = ask


class RuleUnreadable(InboxError):
    """The rule's command cannot be parsed. It was not saved."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(t("error.rule_command", command=rule.command))
        self.rule = rule


def _first_answer(ask: Ask) -> str:
    match ask.settlement:
        case Answered() as answered if was_completed(ask, answered):
            return t("error.completed")
        case (
            Answered(answer=answer, by=by, source=source) | Expired(late=Answered(answer=answer, by=by, source=source))
        ):
            return t("error.answered", who=_named(by), source=source, what=in_brief(answer, link=is_link(ask.body)))
        case _:
            return t("error.closed")


def _named(actor: Person | ByRule | TheHub) -> str:
    return t("error.by_rule", rule=actor.rule) if isinstance(actor, ByRule) else actor.name


def in_brief(answer: Answer, *, link: bool = False) -> str:
    """What was decided, in a few words; `link`: about a link."""
    match answer:
        case Choices(answers):
            return "; ".join(", ".join([*each.labels, *([each.text] if each.text else [])]) for each in answers)
        case Allow(scope=scope, input=changed):
            return t(f"error.brief.allowed_edited.{scope}" if changed else f"error.brief.allowed.{scope}")
        case Deny(message) | Revise(message):
            verb = "denied" if isinstance(answer, Deny) else "sent_back"
            why = message.strip()
            return t(f"error.brief.because.{verb}", why=why) if why else t(f"error.brief.bare.{verb}")
        case Approve(mode):
            return t("error.brief.approved", mode=mode)
        case Outline():
            return t("error.brief.outline")
        case Filled(action):
            return t("error.brief.link" if link and action == "accept" else f"error.brief.form.{action}")
        case Trusting(level):
            return t(f"error.brief.trust.{level}")
        case _:
            assert_never(answer)
