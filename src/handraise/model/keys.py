"""The keys: what each letter and digit means, on every card and every surface. One table; pure.

A letter means the same wherever it is offered. A digit has the same place on every card: what is not offered leaves a
gap, so that *Deny* is never where *Allow* was. The options of a question are numbered as they stand; 0 is free text.

The page has the keys that every card knows in `web/src/cards/table.ts`; those of choices come with the card.
Both are compared with `tests/model/keys.json`.
"""

from typing import Literal

from msgspec import Struct

from handraise.model.intent import Weight

On = Literal["permission", "plan", "form", "question", "trust", "any"]
"""The kind of card that a key belongs to."""


class Key(Struct, frozen=True):
    """What can be done on a card, with its letter and digit; empty or None if it has none."""

    on: On
    act: str
    letter: str
    digit: int | None
    weight: Weight


TABLE = (
    Key("permission", "once", "a", 1, "grant"),
    Key("permission", "session", "s", 2, "grant"),
    Key("permission", "always", "w", 3, "grant"),
    Key("permission", "edit", "e", 4, "refuse"),
    Key("permission", "deny", "d", 5, "refuse"),
    Key("permission", "stop", "x", 6, "refuse"),
    Key("permission", "suggestion", "", 7, "grant"),
    Key("plan", "approve", "a", 1, "grant"),
    Key("plan", "free", "y", 2, "grant"),
    Key("plan", "edit", "e", 4, "refuse"),
    Key("plan", "revise", "d", 5, "refuse"),
    Key("plan", "outline", "p", 6, "refuse"),
    Key("form", "done", "", 1, "grant"),
    Key("form", "fill", "e", 4, "refuse"),
    Key("form", "decline", "d", 5, "refuse"),
    Key("form", "cancel", "", 6, "refuse"),
    Key("question", "free text", "o", 0, "refuse"),
    Key("trust", "exactly", "", 1, "grant"),
    Key("trust", "without", "d", 5, "refuse"),
    Key("trust", "never", "", 6, "refuse"),
    Key("any", "next", "j", None, "refuse"),
    Key("any", "previous", "k", None, "refuse"),
    Key("any", "read", "v", None, "refuse"),
    Key("any", "go on unread", "g", None, "refuse"),
)
"""Opening a text or an editor, turning to another card or reading on sends nothing: it weighs as little as a no.
The first of several suggestions has the digit 7, the next ones 8 and 9."""

_FOUND = {(each.on, each.act): each for each in TABLE}


def key_of(on: On, act: str) -> Key:
    """The key of an act. Raises KeyError if it isn't in the table."""
    return _FOUND[on, act]
