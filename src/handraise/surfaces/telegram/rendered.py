"""A card as all of its messages, and what identifies them. Pure."""

from urllib.parse import urlsplit

from msgspec import Struct

from handraise.model.asks import Ask
from handraise.surfaces.telegram.cards import CardKeyboard, closed, render, render_shortened
from handraise.surfaces.telegram.conversation import CardState
from handraise.surfaces.telegram.deliveries import CardLook, fingerprint
from handraise.surfaces.telegram.formatted import Formatted
from handraise.surfaces.telegram.layout import CardFile
from handraise.texts import t


class AskOrigin(Struct, frozen=True):
    """The session that asks, as a card shows it."""

    directory: str | None = None
    title: str = ""


class RenderedCard(Struct, frozen=True):
    """Every message of a card. The last content has the keyboard, whose buttons belong to this revision."""

    before: tuple[Formatted | CardFile, ...]
    content: Formatted
    keyboard: CardKeyboard
    look: CardLook
    revision: int = 0


def open_card(
    ask: Ask, origin: AskOrigin, state: CardState, link: str, *, with_buttons: bool, lacks_files: bool = False
) -> RenderedCard:
    """The card of an open ask; with `lacks_files`, for a place that files can't be sent to."""
    rendering = render_shortened if lacks_files else render
    messages = rendering(ask, origin.directory, state, title=origin.title, link=link)
    keyboard = messages.keyboard if with_buttons else ()
    before: tuple[Formatted | CardFile, ...] = (*messages.parts[:-1], *messages.files)
    shown = fingerprint(messages.parts[-1], keyboard, state.revision)
    return RenderedCard(
        before, messages.parts[-1], keyboard, CardLook(len(before), shown, is_open=True), state.revision
    )


def card_link(page: str, ask: str) -> str:
    """Where the page shows it; empty if the page can't be reached from a phone."""
    host = urlsplit(page).hostname or ""
    is_local = host == "localhost" or host.startswith("127.") or host == "::1"
    return "" if is_local or not host else f"{page}/#card-{ask}"


def settled_card(ask: Ask, origin: AskOrigin) -> RenderedCard:
    """What remains of the card of a settled ask."""
    return _remainder("settled", closed(ask, origin.directory, title=origin.title))


def retired_card() -> RenderedCard:
    """What remains in a place that no longer gets this ask, or if it no longer exists."""
    return _remainder("retired", Formatted(t("telegram.card.retired")))


def _remainder(kind: str, content: Formatted) -> RenderedCard:
    return RenderedCard((), content, (), CardLook(0, fingerprint(kind, content), is_open=False))
