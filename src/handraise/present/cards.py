"""The card: an ask in the words of every surface. Pure; its look is up to the surface."""

from typing import Any

from msgspec import Struct, to_builtins

from handraise.model.asks import Ask, Expired
from handraise.model.names import reveal
from handraise.present.choices import CardChoice, choices
from handraise.present.evidence import Evidence, evidence, hides
from handraise.present.headlines import headline
from handraise.present.outcomes import CardOutcome, outcome
from handraise.present.risks import Risk, risk


class Card(Struct, frozen=True):
    """What people read about an ask, in the hub's language; hidden characters are marked."""

    headline: str
    evidence: tuple[Evidence, ...]
    choices: tuple[CardChoice, ...]
    why: str
    """Why it reached a person, or which rule decided."""
    outcome: CardOutcome | None
    risk: Risk


def card_of(ask: Ask, directory: str | None) -> Card:
    """The card of an ask; paths are relative to this directory."""
    hidden = hides(ask.body)
    return Card(
        headline(ask, directory),
        evidence(ask, hidden=hidden),
        choices(ask) if _can_be_answered(ask) else (),
        reveal(ask.why),
        outcome(ask, directory),
        risk(ask, hidden=hidden),
    )


def card_as_json(card: Card) -> dict[str, Any]:
    """A card as the API shows it."""
    built: dict[str, Any] = to_builtins(card)
    return built


def _can_be_answered(ask: Ask) -> bool:
    """Open, or expired without a late answer."""
    match ask.settlement:
        case None | Expired(late=None):
            return True
        case _:
            return False
