"""What the feed says of a change, the same for every store. Never decides whether the change took effect."""

from msgspec import json

from handraise.model.asks import Ask, Settlement, ask_as_json, settlement_as_json
from handraise.model.items import AskOpened, AskSettled, Content, Said
from handraise.model.says import Say


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
