"""What a notification says. Pure. Without `with_content`, nothing that Claude or an agent wrote is in it."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from urllib.parse import quote

from msgspec import Struct

from handraise.model.asks import Ask
from handraise.model.names import reveal
from handraise.present.cards import card_of
from handraise.present.glances import clip, glance, quick_answers, seen_below
from handraise.present.headlines import headline, without_marks
from handraise.present.outcomes import outcome
from handraise.reach.model import Reason
from handraise.texts import t

_TITLE = 160
_LONGEST_CARD = 100_000


class Wording(Struct, frozen=True):
    """A title and a text. `whole`: everything to decide about is in it."""

    title: str
    text: str
    whole: bool = False


class AskPlace(Struct, frozen=True):
    """Where an ask comes from: its project's name, which people chose, and its session."""

    project: str = ""
    title: str = ""
    directory: str | None = None


def announcement(asks: Sequence[Ask], place: AskPlace, *, with_content: bool, in_full: bool = False) -> Wording:
    """About one ask, or several of a session. `in_full`: there is room for the whole card."""
    if not with_content or len(asks) > 1:
        return _discreet(asks, place)
    (ask,) = asks
    title = without_marks(headline(ask, place.directory))
    if in_full:
        return Wording(clip(title, _TITLE), clip(_card(ask, place), _LONGEST_CARD))
    seen = seen_below(title, glance(ask))
    lines = [seen.text, clip(reveal(place.title), _TITLE)]
    return Wording(clip(title, _TITLE), "\n".join(each for each in lines if each), seen.whole)


def settled_words(asks: Sequence[Ask], place: AskPlace, *, with_content: bool) -> Wording:
    """Takes the place of an announcement, where a channel can replace it."""
    title = _discreet(asks, place).title
    if not with_content or len(asks) > 1:
        return Wording(title, t("reach.settled"))
    ended = outcome(asks[0], place.directory)
    text = without_marks(ended.text) if ended is not None else t("reach.settled")
    return Wording(clip(without_marks(headline(asks[0], place.directory)), _TITLE), text)


def test_words() -> Wording:
    """What a person sees who tests a channel."""
    return Wording(t("reach.test.title"), t("reach.test.text"))


def link_to(base: str, asks: Sequence[Ask]) -> str:
    """The very card. Someone who isn't signed in gets there afterwards."""
    ask = asks[0]
    path = f"/sessions/{quote(ask.session)}" if ask.session else "/"
    return f"{base}{path}#card-{quote(ask.id)}"


def quick_buttons(ask: Ask, wording: Wording) -> list[tuple[str, str, dict[str, object]]]:
    """Name, label and answer of each button: as in Web Push, allowing needs everything to be shown."""
    return [(each.name, each.label, dict(each.answer)) for each in quick_answers(ask, whole=wording.whole)]


def reason_in_words(reason: Reason | None, until: datetime | None = None, zone: tzinfo | None = None) -> str:
    """Why something wasn't sent, such as "Quiet hours until 07:00"."""
    if reason is None:
        return ""
    if reason in ("quiet", "muted") and until is not None:
        return t(f"reach.until.{reason}", time=f"{until.astimezone(zone):%H:%M}")
    return t(f"reach.reason.{reason}")


def _discreet(asks: Sequence[Ask], place: AskPlace) -> Wording:
    who = "agent" if asks[0].asker == "agent" else "claude"
    what = t("reach.requests", count=len(asks)) if len(asks) > 1 else t(f"reach.kind.{asks[0].kind}")
    if place.project:
        return Wording(t(f"reach.needs_you_in.{who}", project=reveal(place.project), what=what), "")
    return Wording(t(f"reach.needs_you.{who}", what=what), "")


def _card(ask: Ask, place: AskPlace) -> str:
    """The whole card as text."""
    card = card_of(ask, place.directory)
    lines = [without_marks(card.headline), ""]
    if place.title:
        lines += [reveal(place.title), ""]
    for each in card.evidence:
        lines += [*([f"{without_marks(each.label)}:"] if each.label else []), without_marks(each.text), ""]
    for choice in card.choices:
        lines.append(f"- {without_marks(choice.label)}")
    if card.why:
        lines += ["", without_marks(card.why)]
    return "\n".join(lines).strip()
