"""The shapes of sessions, and of what is said to them, over HTTP."""

from base64 import b64decode
from binascii import Error
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from msgspec import Struct

from handraise.model.actors import Actor
from handraise.model.sessions import Ended, Phase
from handraise.surfaces.web.shapes import Name


class ImageSchema(Struct, frozen=True, forbid_unknown_fields=True):
    """A picture to go along with what is said."""

    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str
    """Base64."""

    def __post_init__(self) -> None:
        _check(self.data)


class TextBlockSchema(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="text"):
    """A piece of text."""

    text: str


class SourceSchema(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="base64"):
    """What a block carries, as Base64."""

    media_type: str
    data: str

    def __post_init__(self) -> None:
        _check(self.data)


class ImageBlockSchema(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="image"):
    """A picture."""

    source: SourceSchema


class DocumentBlockSchema(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="document"):
    """A document, such as a PDF."""

    source: SourceSchema


Blocks = tuple[TextBlockSchema | ImageBlockSchema | DocumentBlockSchema, ...]


class NewSession(Struct, frozen=True, forbid_unknown_fields=True):
    """What a new session is to be; with `resume` or `fork`, what it goes on from."""

    say: str | Blocks
    project: str | None = None
    mode: Name | None = None
    model: Name | None = None
    title: str | None = None
    resume: str | None = None
    fork: str | None = None
    images: tuple[ImageSchema, ...] = ()


class SessionSchema(Struct, frozen=True):
    """A session; `state` is what a person would say of it."""

    id: str
    project: str | None
    directory: str
    claude_id: str
    title: str
    state: str
    phase: Phase
    mode: str
    model: str | None
    cost_usd: float
    open_asks: int
    run: int
    created_at: datetime
    changed_at: datetime
    ended: Ended | None
    stuck_since: datetime | None
    forked_from: str | None
    last_line: str
    """What Claude said or did last; empty, if it has not done anything."""


class Sessions(Struct, frozen=True):
    """A page. `cursor` is the place in the feed that it was read at."""

    sessions: list[SessionSchema]
    next: str | None
    cursor: int


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    """Something to say: text, pictures, or blocks as the Messages API takes them. `id` makes it idempotent."""

    text: str | None = None
    content: Blocks | None = None
    images: tuple[ImageSchema, ...] = ()
    id: UUID | None = None


class MaybeWords(Struct, frozen=True, forbid_unknown_fields=True):
    """Perhaps something to say."""

    say: str | Blocks | None = None
    images: tuple[ImageSchema, ...] = ()


class SaidSchema(Struct, frozen=True):
    """It is stored, and on its way."""

    say: str
    session: str
    by: Actor
    source: str
    at: datetime


class Mode(Struct, frozen=True, forbid_unknown_fields=True):
    """A permission mode, by Claude's own name for it."""

    mode: Name


class Model(Struct, frozen=True, forbid_unknown_fields=True):
    """A model, by Claude's own name for it."""

    model: Name


class Title(Struct, frozen=True, forbid_unknown_fields=True):
    """What a session is called."""

    title: str


class Items(Struct, frozen=True):
    """Entries of a timeline, each with `cursor`, `session`, `at`, `type` and what belongs to the type."""

    items: list[dict[str, Any]]
    next: int | None
    cursor: int


def _check(data: str) -> None:
    """What cannot be read would stand in the conversation for good, and every turn of it would fail."""
    try:
        if b64decode(data, validate=True):
            return
    except (Error, ValueError):
        pass
    raise ValueError("What is sent along must be Base64, and not empty")
