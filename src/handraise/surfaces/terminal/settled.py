"""The line that a card folds to: who did what, from where and when. Pure."""

from typing import assert_never

from handraise.model.actors import Person, is_me
from handraise.model.asks import Answered, Ask, Expired, Permission, Settlement, Withdrawn
from handraise.present.headlines import clipped, headline
from handraise.present.outcomes import of_settlement
from handraise.surfaces.terminal.harmless import one_line
from handraise.texts import clock, t

_GLANCE = 60


def settled_line(ask: Ask, settlement: Settlement, me: Person, directory: str | None = None) -> str:
    """The truth about how an ask ended, on one line; "You" for what was done from this very terminal."""
    outcome = of_settlement(ask, settlement, directory)
    match settlement:
        case Answered(by=by, source=source, at=at) | Expired(late=Answered(by=by, source=source, at=at)):
            text = _about(ask, outcome.yours if is_me(by, me) else outcome.text, directory)
            time = clock(at.astimezone())
            line = t("terminal.feed.settled", outcome=text, source=one_line(source), time=time)
            return line if isinstance(settlement, Answered) else t("terminal.feed.guidance", outcome=line)
        case Expired(at=at) | Withdrawn(at=at):
            text = t("terminal.feed.about", outcome=one_line(outcome.text), about=_glance(ask, directory))
            return t("terminal.feed.ended", outcome=text, time=clock(at.astimezone()))
        case _:
            assert_never(settlement)


def _about(ask: Ask, outcome: str, directory: str | None) -> str:
    """An outcome that does not say what it is about says so here."""
    text = one_line(outcome)
    if isinstance(ask.body, Permission):
        return text
    return t("terminal.feed.about", outcome=text, about=_glance(ask, directory))


def _glance(ask: Ask, directory: str | None) -> str:
    return clipped(one_line(headline(ask, directory)), _GLANCE)
