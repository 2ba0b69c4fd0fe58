"""What the feed says of a change, the same for every store. Never decides whether the change took effect."""

from msgspec import json

from handraise.model.asks import Ask, Settlement, ask_as_json, settlement_as_json
from handraise.model.items import ActionStarted, AskOpened, AskSettled, Content, Said, Text
from handraise.model.sessions import Say

_LONGEST_LINE = 160


def encode(content: Content) -> bytes:
    """The bytes that every follower shares."""
    return json.encode(content)


def opened(ask: Ask) -> AskOpened:
    """The whole ask."""
    return AskOpened(ask_as_json(ask))


def settled(ask: str, settlement: Settlement) -> AskSettled:
    """How the ask ended."""
    return AskSettled(ask, settlement_as_json(settlement))


def said(say: Say) -> Said:
    """What a person sent: the text of its blocks, and how many images came with it."""
    if isinstance(say.content, str):
        return Said(say.id, say.content, 0, say.by, say.source)
    texts = [str(block.get("text", "")) for block in say.content if block.get("type") == "text"]
    images = sum(block.get("type") == "image" for block in say.content)
    return Said(say.id, "\n".join(texts), images, say.by, say.source)


def line_of(content: Content) -> str | None:
    """What a session did, in one line, where this tells it: Claude's own words or actions, not those of sub-agents."""
    match content:
        case Text(text=text, parent=None) | ActionStarted(title=text, parent=None):
            first = next((line for line in text.splitlines() if line.strip()), "")
            return first.strip()[:_LONGEST_LINE] or None
        case _:
            return None
