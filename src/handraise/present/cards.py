"""The card: an ask in the words of every surface, and how carefully to look at it. Pure; decides no layout."""

from typing import Any, Literal

from msgspec import UNSET, Struct, to_builtins

from handraise.model.asks import Ask, Expired, Form, Permission, Question, dangers_of, is_dialog, terms_of
from handraise.model.names import reveal
from handraise.model.tools import names_of, tool_named
from handraise.model.trust import Trust
from handraise.present.actions import ToolTraits, size_of_change, traits_of
from handraise.present.choices import CardChoice, choices
from handraise.present.dangers import dangers_in_words
from handraise.present.evidence import Evidence, evidence, hides
from handraise.present.headlines import headline
from handraise.present.links import CardLink, link_of
from handraise.present.outcomes import CardOutcome, outcome
from handraise.texts import t

_READING = names_of("read", "find")


class Risk(Struct, frozen=True):
    """How risky, and why if it is high."""

    level: Literal["low", "medium", "high"]
    reason: str = ""


class Card(Struct, frozen=True):
    """What people read about an ask, in the hub's language; hidden characters are marked."""

    headline: str
    evidence: tuple[Evidence, ...]
    choices: tuple[CardChoice, ...]
    why: str
    """Why it reached a person, or which rule decided."""
    outcome: CardOutcome | None
    risk: Risk
    traits: ToolTraits | None = None
    """Of the tool that a permission is about."""
    only_once: bool = False
    """It can be allowed this once only, whatever rules there are or will be."""
    link: CardLink | None = None
    """What a person is asked to visit. It is never opened for them."""
    size: str = ""
    """How large a change to a file is, such as "+5 −1"."""
    dangers: tuple[str, ...] = ()
    """What to look at twice, in sentences, the worst first; they are in the evidence as well."""


def card_of(ask: Ask, directory: str | None) -> Card:
    """The card of an ask; paths are shown relative to this directory."""
    hidden = hides(ask.body)
    return Card(
        headline(ask, directory),
        evidence(ask, hidden=hidden),
        choices(ask) if _can_be_answered(ask) else (),
        reveal(ask.why),
        outcome(ask, directory),
        risk(ask, hidden=hidden),
        traits_of(ask.body.tool) if isinstance(ask.body, Permission) else None,
        isinstance(ask.body, Permission) and terms_of(ask.body).is_strict,
        link_of(ask.body.url) if isinstance(ask.body, Form) and ask.body.url is not UNSET else None,
        size_of_change(ask.body.tool, ask.body.input, ask.body.diff) if isinstance(ask.body, Permission) else "",
        dangers_in_words(ask.body),
    )


def risk(ask: Ask, *, hidden: bool) -> Risk:
    """High: hides something, is dangerous, reaches out or can only be allowed once. Low: only reads or asks."""
    if hidden:
        return Risk("high", t("card.risk.hidden"))
    if dangers_of(ask.body):
        return Risk("high", t("card.risk.danger"))
    match ask.body:
        case Trust():
            return Risk("high", t("card.risk.trust"))
        case Permission(blocked_path=str() as path) if path:
            return Risk("high", t("card.risk.outside"))
        case Permission() if terms_of(ask.body).is_strict:
            return Risk("high", t("card.risk.once"))
        case Permission(tool=tool, offers=()) if tool_named(tool).kind == "shell" and (ask.session or ask.project):
            return Risk("high", t("card.risk.once"))
        case Permission(tool=tool) if tool in _READING:
            return Risk("low")
        case Form(url=str() as url):
            cautions = link_of(url).cautions
            return Risk("high", cautions[0]) if cautions else Risk("medium")
        case Question() | Form():
            return Risk("low")
        case _:
            return Risk("medium")


def card_as_json(card: Card) -> dict[str, Any]:
    """A card as the API shows it."""
    built: dict[str, Any] = to_builtins(card)
    return built


def _can_be_answered(ask: Ask) -> bool:
    """Open, or expired without a late answer. An expired dialog is gone: Claude knows nothing of it."""
    match ask.settlement:
        case None:
            return True
        case Expired(late=None):
            return not is_dialog(ask.body)
        case _:
            return False
