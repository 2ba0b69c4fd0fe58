"""Formatted text as Telegram wants it: plain text, and entities by UTF-16 offsets. Pure."""

from msgspec import Struct


class Entity(Struct, frozen=True, omit_defaults=True):
    """How a stretch of text looks. Offsets and lengths count UTF-16 units."""

    type: str
    offset: int
    length: int
    url: str = ""
    language: str = ""


class Formatted(Struct, frozen=True):
    """A text and its entities, in order."""

    text: str
    entities: tuple[Entity, ...] = ()
