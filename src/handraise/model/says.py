"""The say: a person's message to Claude. It is stored before it is sent, and received when Claude echoes it."""

from datetime import datetime
from typing import Any

from msgspec import Struct

from handraise.model.actors import Actor


class Say(Struct, frozen=True):
    """Text, or blocks of the Messages API. The ID is sent along, so that it is received only once."""

    id: str
    session: str
    content: str | tuple[dict[str, Any], ...]
    by: Actor
    source: str
    at: datetime
    taken_at: datetime | None = None
