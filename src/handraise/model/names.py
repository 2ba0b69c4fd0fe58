"""Hidden characters: made visible where a text is shown, and refused in the names that people choose. Pure.

Some hidden characters belong to a script: they shape Persian and Indic letters, join emoji, and choose the form of a
sign. In words they stay as they are; in a command, a path or an address they are marked like all others. The page does
the same (`web/src/text/reveal.ts`); both are tested with `tests/model/hidden.json`.
"""

import re
import unicodedata
from collections.abc import Callable
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
# Signs that are letters or dashes by category.
_STYLED_SIGNS = "\u2139\u3030"
_JOINING = (
    *(("\u0620", "\u065f"), ("\u066e", "\u06d3"), ("\u06d5", "\u06dc"), ("\u06df", "\u06ef"), ("\u06fa", "\u06ff")),
    *(("\u0710", "\u074a"), ("\u074d", "\u077f"), ("\u08a0", "\u08e1"), ("\u08e3", "\u08ff")),
)
"""Letters and marks of Arabic and Syriac, with the additions for Persian, Urdu and others."""
_INDIC = (("\u0900", "\u0963"), ("\u0970", "\u0dff"))
"""Letters and marks of the Indic scripts, from Devanagari to Sinhala, and their digits."""
_EMOJI = (
    *(("\u2190", "\u21ff"), ("\u2300", "\u23ff"), ("\u2600", "\u27bf"), ("\u2b00", "\u2bff")),
    ("\U0001f000", "\U0001faff"),
)
_IDEOGRAPH = (("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"))
_FORMS = (("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))
"""They select the form of the character before them."""
LONGEST = 200
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"


def reveal(text: str) -> str:
    """Words with `⟨U+202E⟩` for each hidden character that isn't part of their script.

    Long padding becomes `⟨80 blanks⟩`.
    """
    return _revealed(text, _mark_in_words)


def reveal_exactly(text: str) -> str:
    """A command, a path or an address: every hidden character is marked, because another one could look the same."""
    return _revealed(text, _mark)


def has_hidden(text: str) -> bool:
    """Whether something in these words is hidden."""
    return reveal(text) != text


def has_hidden_exactly(text: str) -> bool:
    """Whether a command, a path or an address has hidden characters."""
    return reveal_exactly(text) != text


def belongs(letter: str, before: str, after: str) -> bool:
    """Whether a hidden character is part of the script or the emoji around it. `before`: up to two characters."""
    if letter in _JOINERS:
        last = before.rstrip(_EMOJI_STYLE)[-1:]
        pairs = [(_JOINING, before[-1:]), (_INDIC, before[-1:]), *([(_EMOJI, last)] if letter == "\u200d" else [])]
        return any(_is_among(near, script) and _is_among(after[:1], script) for script, near in pairs)
    return _is_among(letter, _FORMS) and _is_among(before[-1:], _IDEOGRAPH)


def _is_among(letter: str, ranges: tuple[tuple[str, str], ...]) -> bool:
    """Whether a character is in one of the ranges. Not a pattern: to compile one of these takes a hub's start 4 ms."""
    return any(first <= letter <= last for first, last in ranges)


def _revealed(text: str, mark: Callable[[re.Match[str]], str]) -> str:
    if text.isascii() and text.isprintable() and _PADDING not in text:
        return text
    marked = _UNUSUAL.sub(mark, text)
    marked = _EMPTY_LINES.sub(_mark_lines, marked)
    return _LONG_BLANK.sub(lambda run: f" ⟨{len(run[0])} blanks⟩ ", marked)


def _is_hidden(letter: str, before: str) -> bool:
    category = unicodedata.category(letter)
    if category in _HIDDEN_CATEGORIES or category == "Zs" or letter in _BLANK_LETTERS:
        return True
    if letter in _EMOJI_STYLE:
        # After a sign, one selects how the sign looks; anywhere else it could carry hidden data.
        return before not in _STYLED_SIGNS and unicodedata.category(before) not in ("So", "Sm", "Po", "Nd")
    return "\ufe00" <= letter <= "\ufe0d" or "\U000e0100" <= letter <= "\U000e01ef"


def _mark(found: re.Match[str]) -> str:
    letter, before = found[0], found.string[found.start() - 1] if found.start() else " "
    return f"⟨U+{ord(letter):04X}⟩" if _is_hidden(letter, before) else letter


def _mark_in_words(found: re.Match[str]) -> str:
    shown, text, at = _mark(found), found.string, found.start()
    if shown == found[0] or belongs(found[0], text[max(0, at - 2) : at], text[at + 1 : at + 2]):
        return found[0]
    return shown


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
        if unicodedata.category(letter) in _INVISIBLE and not belongs(
            letter, trimmed[max(0, at - 2) : at], trimmed[at + 1 : at + 2]
        ):
            raise BadName(t(f"error.naming.{of}.hidden", name=reveal_exactly(trimmed)))
    return trimmed
