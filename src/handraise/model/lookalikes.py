"""Look-alike letters: letters of other scripts that are drawn like Latin ones, in names and in code. Pure.

A word in its own script is none of our business; a Latin word with one foreign letter in it is. Also characters that
turn the direction of what follows: code reads differently than it runs.
"""

import re
import unicodedata
from collections.abc import Iterator

_DRAWN = {
    "a": "аɑα", "b": "Ьᖯ", "c": "сϲᴄ", "d": "ԁ", "e": "еҽ", "f": "ẝ", "g": "ɡց", "h": "һհ", "i": "іıɩι", "j": "јϳ",
    "k": "κкᴋ", "l": "ӏǀ", "m": "ᴍ", "n": "ոп", "o": "оοօᴏ", "p": "рρ", "q": "ԛզ", "r": "гᴦ", "s": "ѕꜱ", "t": "тᴛ",
    "u": "υսᴜ", "v": "ѵνᴠ", "w": "ԝѡᴡ", "x": "хχ", "y": "уүγ", "z": "ᴢ",
    "A": "АΑᎪ", "B": "ВΒᏴ", "C": "СϹᏟ", "D": "Ꭰ", "E": "ЕΕᎬ", "F": "Ϝ", "G": "ԌᏀ", "H": "НΗᎻ", "I": "ІΙӀ", "J": "ЈᎫ",
    "K": "КΚᏦ", "L": "Ꮮ", "M": "МΜᎷ", "N": "Ν", "O": "ОΟՕ", "P": "РΡᏢ", "Q": "Ԛ", "R": "Ꭱ", "S": "ЅՏᏚ", "T": "ТΤᎢ",
    "U": "Սሀ", "V": "ѴᏙ", "W": "ԜᎳ", "X": "ХΧ", "Y": "ҮΥ", "Z": "ΖᏃ", "/": "⁄∕╱⧸", ".": "․", ":": "ː˸ꓽ", "-": "‐‑‒–—−",
}  # fmt: skip
_LIKE = {letter: plain for plain, letters in _DRAWN.items() for letter in letters}
_SIGNS = frozenset("/.:-")
_BLANK = re.compile(r"\s")
_NAME = re.compile(r"[^\W_]+")
_DASH = re.compile(r"(?:^|(?<=\s))[‐‑‒–—−]+\w")
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_CODE_BEFORE, _CODE_AFTER = re.compile(r"[_$@\w.]$"), re.compile(r"[_(\[=]|\.\w")
_BETWEEN = re.compile(r"(?<=\w)[⁄∕╱⧸․ː˸ꓽ](?=\w)")


def lookalikes(word: str) -> tuple[tuple[str, str], ...]:
    """Each letter that could be taken for another, once, with that other one; nothing for a word in one script."""
    if word.isascii():
        return ()
    return tuple(dict.fromkeys(_found(word)))


def lookalikes_in_code(line: str) -> tuple[str, ...]:
    """The names in a line that have such letters. Sentences in other scripts have none, and neither do dashes."""
    if line.isascii():
        return ()
    return tuple(dict.fromkeys(name[0] for name in _NAME.finditer(line) if _deceives(name)))


def first_turn(text: str) -> int | None:
    """Where something turns the direction in which the rest is shown; None if nothing does."""
    found = None if text.isascii() else _TURNS.search(text)
    return found.start() if found else None


def _deceives(name: re.Match[str]) -> bool:
    letters = [each for each in name[0] if each.isalpha()]
    alike = sum(bool(_like(each)) for each in letters)
    if not alike:
        return False
    if any(each.isascii() for each in letters):
        return True
    # Foreign from end to end, and reads like Latin: a name if it stands where code has one.
    before, after = name.string[: name.start()], name.string[name.end() :]
    return alike == len(letters) > 1 and bool(_CODE_BEFORE.search(before[-1:]) or _CODE_AFTER.match(after))


def _found(word: str) -> Iterator[tuple[str, str]]:
    for name in _NAME.finditer(word):
        letters = [each for each in name[0] if each.isalpha()]
        alike = [(each, plain) for each in letters if (plain := _like(each))]
        # "сору" is Cyrillic from end to end, and reads like "copy"; in a sentence it is more likely just Russian.
        is_whole = len(alike) == len(letters) > 1 and not _BLANK.search(word)
        if alike and (is_whole or any(each.isascii() for each in letters)):
            yield from alike
    for found in (*_DASH.finditer(word), *_BETWEEN.finditer(word)):
        yield found[0][0], _LIKE[found[0][0]]


def _like(letter: str) -> str:
    """The ASCII letter that it looks like; full-width and mathematical letters are such letters in disguise."""
    if letter.isascii():
        return ""
    plain = _LIKE.get(letter, "") or unicodedata.normalize("NFKC", letter)
    is_styled = letter in _LIKE or unicodedata.name(letter, "").startswith(("FULLWIDTH", "MATHEMATICAL"))
    return plain if is_styled and plain.isascii() and plain not in _SIGNS else ""
