"""The say: what a person sends Claude. It is stored before it is written, and taken when Claude echoes it."""

from datetime import datetime
from typing import Any

from msgspec import Struct

from handraise.model.actors import Actor


class Say(Struct, frozen=True):
    """Text, or blocks as the Messages API takes them. The id travels with the line, so that it is taken once."""

    id: str
    session: str
    content: str | tuple[dict[str, Any], ...]
    by: Actor
    source: str
    at: datetime
    taken_at: datetime | None = None
