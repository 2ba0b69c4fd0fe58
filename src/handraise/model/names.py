"""Hidden characters: made visible where a text is shown, and refused in the names that people choose. Pure."""

import re
import unicodedata
from typing import Literal

from handraise.texts import t

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
# Letters and marks by category, but blank on a screen.
_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_UNUSUAL = re.compile(r"[^\n\t -~]")
_PADDING = " " * 40
_LONG_BLANK = re.compile(r"[ \t]{40,}")
_EMPTY_LINES = re.compile(r"(?:[ \t]*\n){12,}")
_EMOJI_STYLE = "\ufe0e\ufe0f"
LONGEST = 200
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""They shape letters in Persian and Indic scripts, and join emoji; between two such characters they are harmless."""


def reveal(text: str) -> str:
    """The text with `⟨U+202E⟩` for each hidden character and `⟨80 blanks⟩` for long padding."""
    if text.isascii() and text.isprintable() and _PADDING not in text:
        return text
    marked = _UNUSUAL.sub(_mark_letter, text)
    marked = _EMPTY_LINES.sub(_mark_lines, marked)
    return _LONG_BLANK.sub(lambda run: f" ⟨{len(run[0])} blanks⟩ ", marked)


def has_hidden(text: str) -> bool:
    """Whether `reveal` would change it."""
    return reveal(text) != text


def _is_hidden(letter: str, before: str) -> bool:
    category = unicodedata.category(letter)
    if category in _HIDDEN_CATEGORIES or category == "Zs" or letter in _BLANK_LETTERS:
        return True
    if letter in _EMOJI_STYLE:
        # After a sign, one selects how the sign looks; anywhere else it could carry hidden data.
        return unicodedata.category(before) not in ("So", "Sm", "Po", "Nd")
    return "\ufe00" <= letter <= "\ufe0d" or "\U000e0100" <= letter <= "\U000e01ef"


def _mark_letter(found: re.Match[str]) -> str:
    letter, before = found[0], found.string[found.start() - 1] if found.start() else " "
    return f"⟨U+{ord(letter):04X}⟩" if _is_hidden(letter, before) else letter


def _mark_lines(run: re.Match[str]) -> str:
    return f"\n⟨{run[0].count(chr(10))} empty lines⟩\n"


NameKind = Literal["name", "title"]


class BadName(ValueError):
    """The text says what is wrong with it."""


def check_name(name: str, of: NameKind = "name") -> str:
    """The name without surrounding spaces; raises BadName."""
    trimmed = name.strip(" \t")
    if not trimmed:
        raise BadName(t(f"error.naming.{of}.empty"))
    if len(trimmed) > LONGEST:
        raise BadName(t(f"error.naming.{of}.long", most=LONGEST))
    for at, letter in enumerate(trimmed):
        if unicodedata.category(letter) in _INVISIBLE and not _joins(trimmed, at):
            raise BadName(t(f"error.naming.{of}.hidden", name=reveal(trimmed)))
    return trimmed


def _joins(name: str, at: int) -> bool:
    if name[at] not in _JOINERS or not 0 < at < len(name) - 1:
        return False
    # An emoji may have a skin tone before the joiner.
    around = [unicodedata.category(each) for each in (name[at - 1], name[at + 1])]
    return all(each in ("Lo", "Mn", "Mc", "So", "Sk") for each in around)
