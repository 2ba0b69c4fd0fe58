"""The name of a project, a token, a device or a rule: one line without hidden characters. Pure."""

import unicodedata

from handraise.model.hidden import reveal

LONGEST = 200
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""They shape letters in Persian and Indic scripts, and join emoji; between two such characters they are harmless."""


class BadName(ValueError):
    """The text says what is wrong with it."""


def check_name(name: str, of: str = "The name") -> str:
    """The name without surrounding spaces; raises BadName."""
    trimmed = name.strip(" \t")
    if not trimmed:
        raise BadName(f"{of} is empty.")
    if len(trimmed) > LONGEST:
        raise BadName(f"{of} is longer than {LONGEST} characters.")
    for at, letter in enumerate(trimmed):
        if unicodedata.category(letter) in _INVISIBLE and not _joins(trimmed, at):
            raise BadName(f"{of} has hidden characters: {reveal(trimmed)}.")
    return trimmed


def _joins(name: str, at: int) -> bool:
    if name[at] not in _JOINERS or not 0 < at < len(name) - 1:
        return False
    # An emoji may have a skin tone before the joiner.
    around = [unicodedata.category(each) for each in (name[at - 1], name[at + 1])]
    return all(each in ("Lo", "Mn", "Mc", "So", "Sk") for each in around)
