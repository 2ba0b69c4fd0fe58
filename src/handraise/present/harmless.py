"""Foreign text made harmless: nothing in it is hidden, and nothing in it is a command to a screen. Pure."""

import re

from handraise.model.names import belongs, reveal, reveal_exactly

TAB = 4
_JOINED = re.compile("(?<=[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d")
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


def evidence(text: str) -> str:
    """Words that a person decides about: what hides in them is marked, tabs become spaces."""
    return sealed_lines(reveal(text))


def sealed_lines(text: str) -> str:
    """Evidence whose hidden characters are marked already, as a card's is."""
    return "\n".join(seal(row) for row in text.expandtabs(TAB).split("\n"))


def prose(text: str) -> str:
    """Text that a person only reads: like evidence, but every blank is a space."""
    return evidence(_SPACES.sub(" ", text))


def one_line(text: str) -> str:
    """Evidence on one line."""
    return " ".join(evidence(text).split())


def exactly(text: str) -> str:
    """A command, a path or a name of a tool on one line: every hidden character is marked."""
    return " ".join(sealed_lines(reveal_exactly(text)).split())


def apart(text: str) -> str:
    """Joined emoji side by side. Terminals disagree about how wide they are, so nothing can be aligned after them."""
    return _JOINED.sub("", text)


def seal(text: str) -> str:
    """The last check before a text is shown: every unprintable character is marked, line ends included.

    It sees one row at a time, which may end in the middle of a word. So what shapes the letter before it stays.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or _shaped(text, at) else f"⟨U+{ord(letter):04X}⟩"
        for at, letter in enumerate(text)
    )


def _shaped(text: str, at: int) -> bool:
    """Whether the character there is part of the script around it, as far as the text shows."""
    before, after = text[max(0, at - 2) : at], text[at + 1 : at + 2]
    return belongs(text[at], before, after) or (not after and belongs(text[at], before, before[-1:]))
