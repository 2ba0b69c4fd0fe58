"""Foreign text made harmless: nothing in it is hidden, and nothing in it is a command to a screen. Pure."""

import re

from handraise.model.names import reveal

TAB = 4
# Joins emoji, and shapes letters in some scripts: left out of prose, where nothing is approved.
_JOINERS = re.compile("[\u200c\u200d\ufe00-\ufe0f]")
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


def evidence(text: str) -> str:
    """Text that a person decides about: every hidden character is marked, tabs become spaces."""
    return sealed_lines(reveal(text))


def sealed_lines(text: str) -> str:
    """Evidence whose hidden characters are marked already, as a card's is."""
    return "\n".join(seal(row) for row in text.expandtabs(TAB).split("\n"))


def prose(text: str) -> str:
    """Text that a person only reads: like evidence, but joiners are left out and every blank is a space."""
    return evidence(_SPACES.sub(" ", _JOINERS.sub("", text)))


def one_line(text: str) -> str:
    """Evidence on one line."""
    return " ".join(evidence(text).split())


def seal(text: str) -> str:
    """The last check before a text is shown: every unprintable character is marked, line ends included."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else f"⟨U+{ord(letter):04X}⟩" for letter in text)
