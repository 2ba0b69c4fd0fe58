"""The pseudo-locale: longer, accented English, to find texts outside the catalogue and boxes that are too small. Pure.

Placeholders and text in backquotes stay as they are.
"""

import re
from collections.abc import Mapping
from typing import Any

LANGUAGE = "en-XA"

_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ACCENTED = "áƀçđéƒǧĥíĵķłɱñóþɋŕšťúṽŵẋýžÅƁÇĐÉƑǦĤÎĴĶĻṀÑÖÞɊŔŠŢÛṼŴẊÝŽ"
_LETTERS = str.maketrans(_PLAIN, _ACCENTED)
_KEPT = re.compile(r"(\{\w+\}|`[^`]*`)")
_LONGER = 3
"""A text grows by one part in this many."""


def message(text: str) -> str:
    """A message in the pseudo-locale: `⟦Ŕúñ {command}?~~~~⟧`."""
    if not text:
        return ""
    pieces = _KEPT.split(text)
    changed = "".join(piece if place % 2 else accented(piece) for place, piece in enumerate(pieces))
    return f"⟦{changed}{'~' * -(-len(text) // _LONGER)}⟧"


def accented(text: str) -> str:
    """Every plain letter with an accent."""
    return text.translate(_LETTERS)


def area(english: Mapping[str, Any]) -> dict[str, Any]:
    """A whole area, or the plural forms of one message."""
    return {name: message(value) if isinstance(value, str) else area(value) for name, value in english.items()}
