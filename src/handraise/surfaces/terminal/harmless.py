"""The harmless text: foreign text in which nothing is hidden, and nothing can reach the terminal as a command. Pure."""

import re

from handraise.model.hidden import reveal

TAB = 4
# Joins emoji, and shapes letters in some scripts: unseen in prose, where nothing is approved.
_JOINERS = re.compile("[\u200c\u200d\ufe00-\ufe0f]")
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


def evidence(text: str) -> str:
    """What a person decides about: every hidden character is marked, tabs are blanks."""
    return "\n".join(seal(row) for row in reveal(text).expandtabs(TAB).split("\n"))


def prose(text: str) -> str:
    """What a person only reads: like evidence, but joiners are left out and every blank is a blank."""
    return evidence(_SPACES.sub(" ", _JOINERS.sub("", text)))


def one_line(text: str) -> str:
    """Evidence on one line."""
    return " ".join(evidence(text).split())


def seal(text: str) -> str:
    """The last look before the terminal: whatever is no printable character is marked, line ends included."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else f"⟨U+{ord(letter):04X}⟩" for letter in text)
